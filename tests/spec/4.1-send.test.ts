// Section 4.1: POST /v1/send. Each validation rule, the order of the checks, idempotency, and what
// a success means.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  anEmail,
  request,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

let service: TestService;
let account: TestAccount;
beforeAll(async () => {
  service = await startTestService();
  account = await service.account({ identities: ['example.com', 'ada@single.example'] });
});
afterAll(() => service.stop());

const send = (changes: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  service.send(account.key, anEmail(changes), headers);

describe('validation rules', () => {
  it('1: no template and no subject → 400', async () => {
    expect((await send({ subject: undefined })).status).toBe(400);
  });
  it('2: no template, neither html nor text → 400', async () => {
    expect((await send({ html: undefined, text: undefined })).status).toBe(400);
  });
  it('3: to empty → 400', async () => expect((await send({ to: [] })).status).toBe(400));
  it('3: more than 50 in to, cc and bcc → 400', async () => {
    const list = (name: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${name}${index}@example.net`);
    expect((await send({ to: list('t', 20), cc: list('c', 20), bcc: list('b', 10) })).status).toBe(
      202,
    );
    expect((await send({ to: list('t', 20), cc: list('c', 20), bcc: list('b', 11) })).status).toBe(
      400,
    );
  });
  it.each(['from_email', 'to', 'cc', 'bcc', 'reply_to'])(
    '4: invalid address in %s → 400',
    async (field) => {
      const bad = 'ada@';
      const value = field === 'from_email' || field === 'reply_to' ? bad : [bad];
      expect((await send({ [field]: value })).status).toBe(400);
    },
  );
  it('5: from_email neither a verified address nor at a verified domain → 403', async () => {
    expect((await send({ from_email: 'x@other.example' })).status).toBe(403);
    expect((await send({ from_email: 'bo@single.example' })).status).toBe(403);
    expect((await send({ from_email: 'x@sub.example.com' })).status).toBe(403);
  });
  it('5: the exact address, in any case, and any address at a verified domain → 202', async () => {
    expect((await send({ from_email: 'Ada <ADA@single.example>' })).status).toBe(202);
    expect((await send({ from_email: 'any.thing@EXAMPLE.com' })).status).toBe(202);
  });
  it('6: unknown template → 404', async () => {
    expect((await send({ html: undefined, text: undefined, template: 'nope' })).status).toBe(404);
  });
  it('7: non-paying account → 402', async () => {
    const free = await service.account({ plan: 'free' });
    expect((await service.send(free.key, anEmail())).status).toBe(402);
  });
});

describe('the first check that fails answers', () => {
  it('401 before 400', async () => {
    expect((await service.send('sm_live_unknown', { nonsense: true })).status).toBe(401);
  });
  it('402 before 400', async () => {
    const free = await service.account({ plan: 'free' });
    expect((await service.send(free.key, { nonsense: true })).status).toBe(402);
  });
  it('402 before the missing scope', async () => {
    const free = await service.account({ plan: 'free', scopes: ['email:read'] });
    expect((await service.send(free.key, anEmail())).status).toBe(402);
  });
  it('403 for the scope before 400', async () => {
    const reader = await service.account({ scopes: ['email:read'] });
    const answer = await service.send(reader.key, { nonsense: true });
    expect(answer.status).toBe(403);
    expect(answer.body.detail).toContain('email:send');
  });
  it('400 before 403 for the sender', async () => {
    expect((await send({ from_email: 'x@other.example', to: [] })).status).toBe(400);
  });
  it('403 for the sender before 404', async () => {
    const answer = await send({
      from_email: 'x@other.example',
      html: undefined,
      text: undefined,
      template: 'nope',
    });
    expect(answer.status).toBe(403);
  });
  it('404 before 429', async () => {
    const broke = await service.account({ dailyQuota: 0 });
    const template = anEmail({ html: undefined, text: undefined, template: 'nope' });
    expect((await service.send(broke.key, template)).status).toBe(404);
    expect((await service.send(broke.key, anEmail())).status).toBe(429);
  });
});

describe('the body', () => {
  const post = (body: string, type = 'application/json') =>
    request(`${service.url}/v1/send`, {
      method: 'POST',
      headers: { 'x-api-key': account.key, 'content-type': type },
      body,
    });
  it.each(['', '{', '[]', 'null', '"text"', '{"to":}'])('%j → 400', async (body) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toMatch(/JSON/);
  });
  it.each(['/', '?from=cron', '/?a=1'])('%j behind the path changes nothing', async (more) => {
    const answer = await request(`${service.url}/v1/send${more}`, {
      method: 'POST',
      headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
      body: JSON.stringify(anEmail()),
    });
    expect(answer.status).toBe(202);
  });
  it('another Content-Type → 400', async () => {
    const answer = await post(JSON.stringify(anEmail()), 'text/plain');
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toContain('application/json');
  });
  it('Content-Type with a charset is fine', async () => {
    expect((await post(JSON.stringify(anEmail()), 'application/json; charset=utf-8')).status).toBe(
      202,
    );
  });
});

describe('Idempotency-Key', () => {
  const key = () => `key-${Math.random()}`;
  it('same key and body: the first answer again, one email', async () => {
    const headers = { 'idempotency-key': key() };
    const first = await send({ subject: 'once' }, headers);
    const again = await send({ subject: 'once' }, headers);
    expect(again).toMatchObject({ status: 202, body: first.body });
    const [row] = await service.database.query<{ count: number }>(
      `SELECT count(*) FROM messages WHERE subject = 'once'`,
    );
    expect(row?.count).toBe(1);
  });
  it('at the same time: one email, one answer', async () => {
    const headers = { 'idempotency-key': key() };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => send({ subject: 'together' }, headers)),
    );
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
    expect(answers.every((answer) => answer.status === 202)).toBe(true);
  });
  it('same key, other body → 400', async () => {
    const headers = { 'idempotency-key': key() };
    await send({ subject: 'a' }, headers);
    const other = await send({ subject: 'b' }, headers);
    expect(other.status).toBe(400);
    expect(other.body.detail).toContain('Idempotency-Key');
  });
  it('another account may use the same key', async () => {
    const headers = { 'idempotency-key': key() };
    const other = await service.account();
    const first = await send({}, headers);
    const second = await service.send(other.key, anEmail(), headers);
    expect(second.status).toBe(202);
    expect(second.body.id).not.toBe(first.body.id);
  });
  it('a repeat costs no quota', async () => {
    const poor = await service.account({ dailyQuota: 1 });
    const headers = { 'idempotency-key': key() };
    const first = await service.send(poor.key, anEmail(), headers);
    expect((await service.send(poor.key, anEmail(), headers)).body).toEqual(first.body);
    expect((await service.send(poor.key, anEmail())).status).toBe(429);
  });
  it('a refused send does not use it up', async () => {
    const poor = await service.account({ dailyQuota: 0 });
    const headers = { 'idempotency-key': key() };
    expect((await service.send(poor.key, anEmail(), headers)).status).toBe(429);
    await service.database.query('UPDATE accounts SET daily_quota = 5 WHERE id = $1', [poor.id]);
    expect((await service.send(poor.key, anEmail(), headers)).status).toBe(202);
  });
  it('has 1 to 255 characters', async () => {
    expect((await send({}, { 'idempotency-key': 'k'.repeat(255) })).status).toBe(202);
    expect((await send({}, { 'idempotency-key': 'k'.repeat(256) })).status).toBe(400);
  });
  it('is forgotten after 24 hours', async () => {
    const headers = { 'idempotency-key': key() };
    const first = await send({ subject: 'old' }, headers);
    await service.database.query(
      `UPDATE idempotency_keys SET created_at = now() - interval '25 hours' WHERE key = $1`,
      [headers['idempotency-key']],
    );
    const later = await send({ subject: 'new' }, headers);
    expect(later.status).toBe(202);
    expect(later.body.id).not.toBe(first.body.id);
  });
});

it('a bad send never fails its neighbours', async () => {
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      index % 3 === 0 ? send({ to: ['broken'] }) : send({ subject: `n${index}` }),
    ),
  );
  expect(answers.filter((answer) => answer.status === 202)).toHaveLength(40);
  expect(answers.filter((answer) => answer.status === 400)).toHaveLength(20);
});
