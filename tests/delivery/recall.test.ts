// Recalling an email that is still queued: cancelled, or moved to another time, while two processes
// hand emails over.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { readUuid } from '../../src/ids.ts';
import { systemClock } from '../../src/process/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { LONGER } from '../support/longer.ts';
import {
  type Answer,
  anEmail,
  request,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { type SmtpSink, smtpError, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';

let test: TestDatabase;
let sink: SmtpSink;
let service: TestService;
let other: TestService;
let account: TestAccount;
/** What the relay says to a recipient; an email to `held@` waits for `letGo`. */
let letGo: () => void = () => undefined;
let held: Promise<void>;

beforeAll(async () => {
  test = await createTestDatabase();
  sink = await startSink({
    onRcptTo: ({ address }, _session, done) =>
      done(address.startsWith('later') ? smtpError(451, 'later') : null),
    onEmail: ({ recipients: [to = ''] }) => (to.startsWith('held') ? held : undefined),
  });
  const env = { RELAY_URL: sink.url };
  service = await startTestService(env, { on: test });
  other = await startTestService({ ...env, ROLES: 'delivery' }, { on: test });
});
afterAll(async () => {
  letGo();
  await Promise.all([service.stop(), other.stop()]);
  await sink.stop();
  await test.drop();
});
beforeEach(async () => {
  account = await service.account();
  held = new Promise((resolve) => {
    letGo = resolve;
  });
});

const HOUR_MS = 3_600_000;
const fromNow = (ms: number): string => new Date(Date.now() + ms).toISOString();
const timeline = async (id: string) => (await service.get(account.key, `/v1/messages/${id}`)).body;

async function send(changes: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await service.send(account.key, anEmail(changes));
  expect(status).toBe(202);
  return body.id;
}
const scheduled = (ms = HOUR_MS, changes = {}) => send({ scheduled_at: fromNow(ms), ...changes });

const call = (method: string, path: string, body?: object, key = account.key) =>
  request(`${service.url}/v1/messages/${path}`, {
    method,
    headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
const cancel = (id: string, key = account.key) => call('POST', `${id}/cancel`, undefined, key);
const move = (id: string, scheduled_at: string, key = account.key) =>
  call('PATCH', id, { scheduled_at }, key);

const due = async (id: string) =>
  (
    await test.database.query<{ state: string; due_at: Date }>(
      'SELECT state, due_at FROM due_messages WHERE message_id = $1',
      [readUuid('msg_', id)],
    )
  )[0];
const make = (id: string, change: string) =>
  test.database.query(`UPDATE due_messages SET ${change} WHERE message_id = $1`, [
    readUuid('msg_', id),
  ]);

describe('cancelling', () => {
  it('a scheduled email: nobody receives it, and it says so', async () => {
    const id = await scheduled();
    const { status, body } = await cancel(id);
    expect(status).toBe(200);
    const { scheduled_at } = await timeline(id);
    expect(body).toEqual({
      sm_mail_id: id,
      status: 'queued',
      scheduled_at,
      cancelled_at: expect.stringMatching(/Z$/),
    });
    expect(await timeline(id)).toEqual({
      sm_mail_id: id,
      user_id: String(account.id),
      status: 'queued',
      scheduled_at,
      cancelled_at: body.cancelled_at,
      events: [],
    });
    expect(await due(id)).toBeUndefined();
  });

  it('twice answers the same', async () => {
    const id = await scheduled();
    const [one, two] = await Promise.all([cancel(id), cancel(id)]);
    expect(one).toMatchObject({ status: 200, body: two.body });
    expect((await cancel(id)).body).toEqual(one.body);
    const audit = await test.database.query(
      `SELECT FROM audit WHERE account_id = $1 AND action = 'cancel_email'`,
      [account.id],
    );
    expect(audit).toHaveLength(1);
  });

  it('one that the relay deferred', async () => {
    const id = await send({ to: ['later@example.net'] });
    await until(async () => (await due(id))?.state === 'waiting');
    expect((await cancel(id)).status).toBe(200);
  });

  it('is too late once a worker has it, and once it was handed over', async () => {
    const id = await send({ to: ['held@example.net'] });
    await until(async () => (await due(id))?.state === 'in hand');
    expect(await cancel(id)).toMatchObject({
      status: 409,
      body: { code: 'conflict', detail: expect.stringContaining('being handed over right now') },
    });
    letGo();
    await until(async () => (await timeline(id)).status === 'sent');
    const { status, body } = await cancel(id);
    expect(status).toBe(409);
    expect(body.detail).toContain('it has been handed over');
    expect(await timeline(id)).not.toHaveProperty('cancelled_at');
  });

  it('is too late when some recipients have it', async () => {
    const id = await send({ to: ['ada@example.net', 'later@example.net'] });
    await until(async () => (await due(id))?.state === 'waiting');
    const { status, body } = await cancel(id);
    expect(status).toBe(409);
    expect(body.detail).toContain('for some recipients');
  });

  it.each([
    ['the line was cut', `unknown = '{ada@example.net}'`, 'nobody knows'],
    ['a process died with it', 'deaths = 1', 'nobody knows'],
    [
      'it was set aside',
      `state = 'set aside', reason = 'a test', set_aside_at = now()`,
      'set aside',
    ],
  ])('is refused where nobody knows whether it went out: %s', async (_, change, why) => {
    const id = await scheduled();
    await make(id, change);
    for (const answer of [await cancel(id), await move(id, fromNow(2 * HOUR_MS))]) {
      expect(answer.status).toBe(409);
      expect(answer.body.detail).toContain(why);
    }
    expect(await due(id)).toBeDefined();
  });

  it('gives back what it took of today’s quota and of the key’s cap', async () => {
    account = await service.account({ dailyQuota: 3 });
    const capped = await createKey(test.database, systemClock, {
      accountId: account.id,
      scopes: ['email:send', 'email:read'],
      limits: { dailyCap: 2 },
    });
    const to = ['ada@example.net', 'bob@example.net'];
    const trySend = () => service.send(capped.key, anEmail({ to, scheduled_at: fromNow(HOUR_MS) }));
    const { body } = await trySend();
    expect((await trySend()).body.detail).toContain('0 left');
    expect((await cancel(body.id, capped.key)).status).toBe(200);
    expect((await cancel(body.id, capped.key)).status).toBe(200);
    expect((await trySend()).status).toBe(202);
    expect((await trySend()).status).not.toBe(202);
    const quota = await service.send(account.key, anEmail({ to }));
    expect(quota).toMatchObject({
      status: 429,
      body: { detail: expect.stringContaining('1 left') },
    });
  });

  it('what another account, or nobody, has: 404; without the scope: 403', async () => {
    const id = await scheduled();
    const stranger = await service.account();
    const reader = await service.account({ scopes: ['email:read'] });
    expect((await cancel(id, stranger.key)).status).toBe(404);
    expect((await move(id, fromNow(HOUR_MS), stranger.key)).status).toBe(404);
    expect((await cancel('msg_nothing')).status).toBe(404);
    expect((await cancel(id, reader.key)).status).toBe(403);
  });

  it('a key with limits changes only what it sent itself; emails of the service nobody’s key', async () => {
    const limited = await createKey(test.database, systemClock, {
      accountId: account.id,
      scopes: ['email:send'],
      limits: { sandboxOnly: true },
    });
    const id = await scheduled();
    for (const answer of [await cancel(id, limited.key), await move(id, 'now', limited.key)]) {
      expect(answer).toMatchObject({ status: 403 });
    }
    await test.database.query(`UPDATE messages SET door = 'system' WHERE id = $1`, [
      readUuid('msg_', id),
    ]);
    expect(await cancel(id)).toMatchObject({ status: 403 });
  });

  it('what happened anyway is told: the relay took it from a process that was taken for dead', async () => {
    const id = await send({ to: ['held@example.net'] });
    await until(async () => (await due(id))?.state === 'in hand');
    // Its lease ran out, another process tried it and was deferred; then someone cancelled it.
    await make(
      id,
      `state = 'waiting', lease = NULL, claims = claims + 1, due_at = now() + interval '1 hour'`,
    );
    expect((await cancel(id)).status).toBe(200);
    letGo();
    await until(async () => (await timeline(id)).status === 'sent');
    expect(await timeline(id)).not.toHaveProperty('cancelled_at');
  });
});

describe('moving', () => {
  it('later, earlier, and to now', async () => {
    const id = await scheduled();
    for (const hours of [30 * 24 - 1, 2]) {
      const scheduled_at = fromNow(hours * HOUR_MS);
      expect(await move(id, scheduled_at)).toMatchObject({
        status: 200,
        body: { sm_mail_id: id, status: 'queued', scheduled_at },
      });
      expect((await timeline(id)).scheduled_at).toBe(scheduled_at);
      expect(await due(id)).toEqual({ state: 'waiting', due_at: new Date(scheduled_at) });
    }
    expect((await move(id, 'now')).status).toBe(200);
    await until(async () => (await timeline(id)).status === 'sent');
    expect(await move(id, fromNow(HOUR_MS))).toMatchObject({ status: 409 });
  });

  it('an email that was not scheduled, while the relay defers it', async () => {
    const id = await send({ to: ['later@example.net'] });
    await until(async () => (await due(id))?.state === 'waiting');
    const scheduled_at = fromNow(HOUR_MS);
    expect((await move(id, scheduled_at)).status).toBe(200);
    expect((await timeline(id)).scheduled_at).toBe(scheduled_at);
  });

  it('not what was cancelled, and not to no time', async () => {
    const id = await scheduled();
    for (const scheduled_at of ['soon', fromNow(-HOUR_MS), fromNow(31 * 24 * HOUR_MS)]) {
      const { status, body } = await move(id, scheduled_at);
      expect(status).toBe(400);
      expect(body.faults[0].path).toBe('scheduled_at');
    }
    expect((await call('PATCH', id, {})).status).toBe(400);
    await cancel(id);
    const { status, body } = await move(id, 'now');
    expect(status).toBe(409);
    expect(body.detail).toContain('it was cancelled at');
    expect(await due(id)).toBeUndefined();
  });
});

it('is cancelled also by clients that name the type of a body they do not send', async () => {
  const id = await scheduled();
  const { status, body } = await request(`${service.url}/v1/messages/${id}/cancel`, {
    method: 'POST',
    headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
  });
  expect([status, body.sm_mail_id]).toEqual([200, id]);
});

describe('racing the workers', () => {
  /** Each settles as one of both: cancelled and nobody has it, or handed over once. */
  async function settle(ids: readonly string[]): Promise<{ cancelled: number; sent: number }> {
    const rows = await until(async () => {
      const found = await test.database.query<{ id: string; sent: boolean; cancelled: boolean }>(
        `SELECT m.id, m.status <> 'queued' AS sent, m.cancelled_at IS NOT NULL AS cancelled
         FROM messages m WHERE m.account_id = $1
           AND NOT EXISTS (SELECT FROM due_messages d WHERE d.account_id = $1 AND d.message_id = m.id)`,
        [account.id],
      );
      return found.length === ids.length && found;
    });
    expect(rows.filter(({ sent, cancelled }) => sent === cancelled)).toEqual([]);
    const sent = new Set(rows.filter((row) => row.sent).map(({ id }) => id));
    const taken = sink.emails
      .map(({ envelopeId }) => envelopeId)
      .filter((id) => ids.includes(id))
      .map((id) => readUuid('msg_', id)!);
    expect(taken).toHaveLength(sent.size);
    expect(new Set(taken)).toEqual(sent);
    return { cancelled: rows.length - sent.size, sent: sent.size };
  }

  const sendMany = (count: number, ms: number): Promise<string[]> => {
    const scheduled_at = fromNow(ms);
    return Promise.all(Array.from({ length: count }, () => send({ scheduled_at })));
  };

  /** Eight at a time: a thousand calls at once wait longer for a connection than callers may. */
  const eachOf = (ids: readonly string[], work: (id: string) => Promise<void>) => {
    const left = [...ids];
    return Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let id = left.pop(); id !== undefined; id = left.pop()) await work(id);
      }),
    );
  };

  it('hundreds of emails are cancelled while their time comes: never both, never neither', async () => {
    const ids = await sendMany(LONGER > 1 ? 1000 : 300, HOUR_MS);
    let statuses: number[] = [];
    const cancelling = eachOf(ids, async (id) => {
      statuses.push((await cancel(id)).status);
    });
    await until(() => statuses.length > ids.length / 10);
    await test.database.query('UPDATE due_messages SET due_at = now() WHERE account_id = $1', [
      account.id,
    ]);
    await cancelling;
    expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
    statuses = statuses.filter((status) => status === 200);
    expect(await settle(ids)).toEqual({
      cancelled: statuses.length,
      sent: ids.length - statuses.length,
    });
  });

  it('cancelled, moved and handed over at once: each is one of them', async () => {
    const ids = await sendMany(LONGER > 1 ? 200 : 80, 60_000);
    const answers: Answer[] = [];
    await eachOf(ids, async (id) => {
      const calls = [move(id, 'now'), cancel(id), move(id, fromNow(HOUR_MS)), cancel(id)];
      answers.push(...(await Promise.all(calls)));
    });
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
    const { cancelled, sent } = await settle(ids);
    expect(cancelled + sent).toBe(ids.length);
    expect(cancelled).toBeGreaterThan(0);
  });
});
