// The Resend door, judged by the official package with only its base URL changed: what we serve
// works as its types say, and everything else it can call answers 501 and names what it is.
import { connect } from 'node:net';
import { createElement } from 'react';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALL_SCOPES } from '../../src/accounts/scopes.ts';
import { captured } from '../support/captured.ts';
import { anEmail, request, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are what the tests are about
type Loose = any;
// By name: a checkout without it can still be type-checked.
const official = (name: string): Promise<Loose> => import(name);

let service: TestService;
let resend: Loose;
let Resend: Loose;
let key: string;

beforeAll(async () => {
  ({ Resend } = await official('resend'));
  service = await startTestService();
  ({ key } = await service.account({ scopes: ALL_SCOPES }));
  resend = new Resend(key, { baseUrl: service.url });
});
afterAll(() => service.stop());

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const email = (fields: Record<string, unknown> = {}) => ({
  from: 'Acme <hello@example.com>',
  to: 'ada@example.net',
  subject: 'Hello',
  html: '<p>Hello, <b>Ada</b>!</p>',
  ...fields,
});

async function sent(fields: Record<string, unknown> = {}): Promise<string> {
  const { data, error } = await resend.emails.send(email(fields));
  expect(error).toBeNull();
  return data.id;
}

const ofOurs = async (id: string): Promise<string> => {
  const [row] = await service.database.query<{ id: string }>(
    'SELECT id FROM messages WHERE id = $1',
    [id],
  );
  return row!.id;
};

describe('emails', () => {
  it('are sent with every field, and told with what happened to them', async () => {
    const id = await sent({
      to: ['Ada <ada@example.net>', 'bob@example.net'],
      cc: 'cc@example.net',
      bcc: ['bcc@example.net'],
      replyTo: 'Help <help@example.com>',
      headers: { 'X-Order': '4711' },
      tags: [{ name: 'kind', value: 'receipt' }],
      attachments: [
        { filename: 'a.pdf', content: Buffer.from('%PDF-1.7') },
        { filename: 'b.txt', content: Buffer.from('text').toString('base64') },
      ],
    });
    expect(id).toMatch(UUID);
    expect(await ofOurs(id)).toBe(id);
    const told = await until(async () => {
      const { data } = await resend.emails.get(id);
      return data?.last_event === 'delivered' ? data : undefined;
    });
    expect(told).toEqual({
      object: 'email',
      id,
      from: 'Acme <hello@example.com>',
      to: ['Ada <ada@example.net>', 'bob@example.net'],
      cc: ['cc@example.net'],
      bcc: ['bcc@example.net'],
      reply_to: ['Help <help@example.com>'],
      subject: 'Hello',
      html: '<p>Hello, <b>Ada</b>!</p>',
      text: 'Hello, Ada!\n',
      tags: [{ name: 'kind', value: 'receipt' }],
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      scheduled_at: null,
      last_event: 'delivered',
    });
    const { showUuid } = await import('../../src/ids.ts');
    const { email: read } = await captured(service.database, showUuid('msg_', id));
    expect(read.attachments.map(({ filename, mimeType }) => [filename, mimeType])).toEqual([
      ['a.pdf', 'application/pdf'],
      ['b.txt', 'text/plain'],
    ]);
    expect(read.headers.find(({ key }) => key === 'x-order')?.value).toBe('4711');
  });

  it('made with React Email, an inline image, a template', async () => {
    const { Html } = await official('@react-email/html');
    const { Button } = await official('@react-email/button');
    const react = createElement(
      Html,
      null,
      createElement(Button, { href: 'https://acme.example/go' }, 'Go on'),
    );
    const { html: _, ...rest } = email();
    const first = await resend.emails.send({ ...rest, react });
    expect(first.error).toBeNull();
    const { data } = await resend.emails.get(first.data.id);
    expect(data.html).toContain('https://acme.example/go');
    expect(data.text).toContain('Go on');
    await sent({
      html: '<img src="cid:logo" alt="Acme">',
      attachments: [{ filename: 'logo.png', content: Buffer.from('png'), contentId: 'logo' }],
    });
    const template = await resend.emails.send({
      from: 'hello@example.com',
      to: 'ada@example.net',
      template: { id: 'one-time-code', variables: { code: '123456' } },
    });
    expect(template.error).toBeNull();
    expect((await resend.emails.get(template.data.id)).data.text).toContain('123456');
  });

  it('are scheduled, moved and cancelled', async () => {
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    const id = await sent({ scheduledAt });
    expect((await resend.emails.get(id)).data).toMatchObject({
      last_event: 'scheduled',
      scheduled_at: scheduledAt,
    });
    const later = new Date(Date.now() + 7_200_000).toISOString();
    const moved = await resend.emails.update({ id, scheduledAt: later });
    expect(moved).toMatchObject({ error: null, data: { object: 'email', id } });
    expect((await resend.emails.get(id)).data.scheduled_at).toBe(later);
    const cancelled = await resend.emails.cancel(id);
    expect(cancelled).toMatchObject({ error: null, data: { object: 'email', id } });
    expect((await resend.emails.get(id)).data.last_event).toBe('canceled');
    const gone = await sent();
    await until(async () => (await resend.emails.get(gone)).data.last_event === 'delivered');
    expect((await resend.emails.cancel(gone)).error).toMatchObject({
      ...{ statusCode: 422, name: 'validation_error' },
    });
  });

  it('come in batches, strict and permissive', async () => {
    const { data, error } = await resend.batch.send([email(), email({ to: 'bob@example.net' })]);
    expect(error).toBeNull();
    expect(data.data).toEqual([{ id: expect.stringMatching(UUID) }, { id: expect.any(String) }]);
    const broken = [email(), email({ to: 'nobody' })];
    expect((await resend.batch.send(broken)).error).toMatchObject({ statusCode: 422 });
    const some = await resend.batch.send(broken, { batchValidation: 'permissive' });
    expect(some.error).toBeNull();
    expect(some.data.data).toHaveLength(1);
    expect(some.data.errors).toEqual([{ index: 1, message: expect.stringContaining('nobody') }]);
    const worse = [{ from: 'hello@example.com' }, ...broken];
    const one = await resend.batch.send(worse, { batchValidation: 'permissive' });
    expect(one.data.data).toHaveLength(1);
    expect(one.data.errors.map(({ index }: { index: number }) => index)).toEqual([0, 2]);
  });

  it('in a batch are named by their place, whoever refuses them', async () => {
    const unread = { from: 'hello@example.com' };
    const strange = email({ from: 'a@b.example' });
    const none = await resend.batch.send([unread, strange], { batchValidation: 'permissive' });
    expect(none.error).toMatchObject({ statusCode: 422, name: 'missing_required_field' });
    const refused = await resend.batch.send([email(), strange, unread]);
    expect(refused.error.message).toContain('emails[1]');
    const many = await resend.batch.send([unread, ...Array(100).fill(email())], {
      batchValidation: 'permissive',
    });
    expect(many.error).toMatchObject({ message: expect.stringContaining('at most 100') });
  });

  it('of a batch that were taken under its key stay taken when another is corrected', async () => {
    const options = { idempotencyKey: 'batch-4711', batchValidation: 'permissive' };
    const wish = [{ from: 'hello@example.com' }, email({ subject: 'Kept' })];
    const first = await resend.batch.send(wish, options);
    expect(first.data.data).toHaveLength(1);
    expect((await resend.batch.send(wish, options)).data).toEqual(first.data);
    const mended = await resend.batch.send([email(), wish[1]], options);
    expect(mended.error).toMatchObject({ statusCode: 409, name: 'invalid_idempotent_request' });
  });

  it('are listed, newest first, page by page', async () => {
    const { key } = await service.account({ scopes: ['email:send', 'messages:read'] });
    const own = new Resend(key, { baseUrl: service.url });
    const ids: string[] = [];
    for (const subject of ['One', 'Two', 'Three']) {
      ids.unshift((await own.emails.send(email({ subject }))).data.id);
    }
    const { data: first } = await own.emails.list({ limit: 2 });
    expect(first).toMatchObject({ object: 'list', has_more: true });
    expect(first.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
    expect(first.data[0]).toMatchObject({
      ...{ subject: 'Three', from: 'hello@example.com', to: ['ada@example.net'] },
      last_event: expect.any(String),
    });
    const { data: rest } = await own.emails.list({ limit: 2, after: ids[1]! });
    expect(rest).toMatchObject({ has_more: false, data: [{ id: ids[2], subject: 'One' }] });
    expect((await own.emails.list({ limit: 500 })).error).toMatchObject({ statusCode: 422 });
    expect((await own.emails.list({ before: ids[1]! })).error).toMatchObject({ statusCode: 501 });
  });

  it('once under one Idempotency-Key', async () => {
    const options = { idempotencyKey: 'order-4711' };
    const first = await resend.emails.send(email(), options);
    const again = await resend.emails.send(email(), options);
    expect(again.data).toEqual(first.data);
    const other = await resend.emails.send(email({ subject: 'Other' }), options);
    expect(other.error).toMatchObject({ statusCode: 409, name: 'invalid_idempotent_request' });
    const long = await resend.emails.send(email(), { idempotencyKey: 'k'.repeat(300) });
    expect(long.error).toMatchObject({ statusCode: 400, name: 'invalid_idempotency_key' });
  });

  it('are found by the id that our webhooks and pages show as well', async () => {
    const { body } = await service.send(key, anEmail({ tags: ['plain'] }));
    const { data } = await resend.emails.get(body.id);
    expect(data).toMatchObject({ id: expect.stringMatching(UUID), tags: [{ name: 'plain' }] });
    expect((await resend.emails.get(data.id)).data.id).toBe(data.id);
  });
});

describe('refusals', () => {
  const cases: [string, Record<string, unknown>, number, string, RegExp][] = [
    ['no to', { to: undefined }, 422, 'missing_required_field', /\bto\b/],
    ['no from', { from: undefined }, 422, 'missing_required_field', /^from /],
    ['a from that is none', { from: 'nobody' }, 422, 'invalid_from_address', /^from:/],
    ['an address that is none', { to: 'nobody' }, 422, 'validation_error', /nobody/],
    [
      'a sender that is not verified',
      { from: 'a@b.example' },
      403,
      'validation_error',
      /b\.example/,
    ],
    ['an unknown field', { htlm: 'x' }, 422, 'validation_error', /did you mean html/],
    ['a time in words', { scheduled_at: 'in 1 min' }, 422, 'validation_error', /ISO 8601/],
    [
      'two to reply to',
      { reply_to: ['a@b.example', 'c@d.example'] },
      422,
      'validation_error',
      /one address/,
    ],
    ['a topic', { topic_id: 'x' }, 422, 'validation_error', /no topics/],
    [
      'a file to fetch',
      { attachments: [{ path: 'http://127.0.0.1/x' }] },
      422,
      'invalid_attachment',
      /fetches nothing/,
    ],
    [
      'a file without content',
      { attachments: [{ filename: 'x' }] },
      422,
      'missing_required_field',
      /content is missing/,
    ],
    [
      'a file that is no base64',
      { attachments: [{ filename: 'x', content: '%' }] },
      422,
      'invalid_attachment',
      /content/,
    ],
    [
      'no template of this name',
      { html: undefined, template: { id: 'nope' } },
      404,
      'not_found',
      /nope/,
    ],
  ];
  it.each(cases)('%s', async (_, fields, statusCode, name, message) => {
    const { status, body } = await request(`${service.url}/emails`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(email(fields)),
    });
    expect(body).toEqual({ statusCode, name, message: expect.stringMatching(message) });
    expect(status).toBe(statusCode);
  });

  it('an id that is none, and one of another account', async () => {
    const other = await service.account({ scopes: ALL_SCOPES });
    const { body } = await service.send(other.key, anEmail());
    for (const id of ['nonsense', '00000000-0000-0000-0000-000000000000', body.id, '%00']) {
      const { error } = await resend.emails.get(id);
      expect(error, id).toMatchObject({
        name: expect.stringMatching(/not_found|validation_error/),
      });
    }
  });

  it('keys: none, a wrong one, one that may only send, an account that does not pay', async () => {
    const post = (headers: Record<string, string>) =>
      request(`${service.url}/resend/emails`, { method: 'POST', headers, body: '{}' });
    expect((await post({})).body).toMatchObject({ statusCode: 401, name: 'missing_api_key' });
    const wrong = new Resend('re_123', { baseUrl: service.url });
    expect((await wrong.emails.send(email())).error).toMatchObject({
      ...{ statusCode: 403, name: 'invalid_api_key' },
    });
    const { key: sending } = await service.account({ scopes: ['email:send'] });
    const restricted = new Resend(sending, { baseUrl: service.url });
    const { data } = await restricted.emails.send(email());
    expect((await restricted.emails.get(data.id)).error).toMatchObject({
      ...{ statusCode: 401, name: 'restricted_api_key' },
    });
    const { key: unpaid } = await service.account({ plan: 'free' });
    const poor = new Resend(unpaid, { baseUrl: service.url });
    expect((await poor.emails.send(email())).error).toMatchObject({ statusCode: 402 });
  });

  it('too many: the day’s quota, and the rate with when to try again', async () => {
    const { key: small } = await service.account({ dailyQuota: 1 });
    const little = new Resend(small, { baseUrl: service.url });
    await little.emails.send(email());
    const over = await little.emails.send(email());
    expect(over.error).toMatchObject({ statusCode: 429, name: 'daily_quota_exceeded' });
    expect(Number(over.headers['retry-after'])).toBeGreaterThan(0);
    const { key: slow } = await service.account({ ratePerSecond: 1 });
    const fast = new Resend(slow, { baseUrl: service.url });
    const many = await Promise.all(Array.from({ length: 8 }, () => fast.emails.send(email())));
    expect(many.map(({ error }) => error?.name)).toContain('rate_limit_exceeded');
  });

  it('what is not JSON, and a path with a slash too many', async () => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const broken = await request(`${service.url}/emails`, { method: 'POST', headers, body: '{' });
    expect(broken.body).toMatchObject({ statusCode: 422, name: 'validation_error' });
    const nowhere = await request(`${service.url}/resend/nowhere`, { headers });
    expect(nowhere.body).toMatchObject({ statusCode: 404, name: 'not_found' });
  });
});

it('domains are listed, each by its name', async () => {
  const { data, error } = await resend.domains.list();
  expect(error).toBeNull();
  expect(data).toMatchObject({
    object: 'list',
    has_more: false,
    data: [{ id: 'example.com', name: 'example.com', status: 'verified' }],
  });
  expect((await resend.domains.get('example.com')).data).toMatchObject({ name: 'example.com' });
});

it('under /resend it is the same', async () => {
  const below = new Resend(key, { baseUrl: `${service.url}/resend` });
  const { data } = await below.emails.send(email());
  expect((await below.emails.get(data.id)).data.id).toBe(data.id);
});

it('pages and our own API stay where they are', async () => {
  const page = await fetch(`${service.url}/webhooks`, { headers: { accept: 'text/html' } });
  expect(page.headers.get('content-type')).toContain('text/html');
  const own = await request(`${service.url}/v1/domains`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(own.body.data[0].domain).toBe('example.com');
});

it('everything else the package can call answers 501 and names it', async () => {
  const asked = new Set<string>();
  const called = new Set<string>();
  const probe = new Resend(key, { baseUrl: service.url });
  const plain = probe.fetchRequest.bind(probe);
  probe.fetchRequest = async (path: string, options: Loose) => {
    const answer = await plain(path, options);
    asked.add(path.split(/[/?]/)[1]!);
    called.add(`${options.method} ${path} ${answer.error?.statusCode ?? 200}`);
    return answer;
  };
  const SERVED =
    /^((GET|POST) \/emails|POST \/emails\/batch|(GET|PATCH) \/emails\/[^/?]+|POST \/emails\/[^/]+\/cancel|GET \/domains(\/[^/]+)?)$/;
  const loose = {
    id: 'x',
    audienceId: 'x',
    email: 'a@b.example',
    contactId: 'x',
    segmentId: 'x',
    name: 'x',
  };
  await walk(probe, async (method: Loose, owner: Loose) => {
    for (const argument of [
      'x',
      { ...loose, runId: 'x', automationId: 'x', topics: [], steps: [] },
    ]) {
      await Promise.resolve()
        .then(() => method.call(owner, argument, {}))
        .catch(() => undefined);
    }
  });
  const others = [...called].filter((it) => !SERVED.test(it.replace(/ \d+$/, '').split('?')[0]!));
  expect(others.length).toBeGreaterThan(40);
  expect(others.filter((it) => !it.endsWith(' 501'))).toEqual([]);
  expect([...asked].sort()).toEqual(
    expect.arrayContaining(['api-keys', 'broadcasts', 'contacts', 'webhooks']),
  );
  const { error } = await resend.broadcasts.list();
  expect(error).toEqual({
    statusCode: 501,
    name: 'application_error',
    message: 'GET /broadcasts: this service does not offer broadcasts.',
  });
});

/** Every method of the package that calls its API, through all its parts. */
async function walk(
  at: Loose,
  visit: (method: Loose, owner: Loose) => Promise<void>,
  seen = new Set(),
) {
  if (typeof at !== 'object' || at === null || seen.has(at) || at instanceof Headers) return;
  seen.add(at);
  const proto = Object.getPrototypeOf(at);
  const isTop = 'fetchRequest' in at;
  if (!isTop && proto !== Object.prototype) {
    for (const name of Object.getOwnPropertyNames(proto)) {
      if (name !== 'constructor' && typeof at[name] === 'function') await visit(at[name], at);
    }
  }
  for (const [name, part] of Object.entries(at))
    if (name !== 'resend') await walk(part, visit, seen);
}

describe('large emails', () => {
  /** Asks, and never reads the answer; whether it began, and how to hang up. */
  function ask(id: string) {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.write(
      `GET /emails/${id} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\n\r\n`,
    );
    const began = new Promise<void>((resolve) => socket.once('readable', () => resolve()));
    return { began, hangUp: () => void socket.destroy() };
  }

  it('are read in the turns of all that read whole emails: two of an account at a time', async () => {
    // More than sockets take for readers that do not read.
    const text = 'x'.repeat(15_000_000);
    const ids = [await sent({ text }), await sent({ text }), await sent({ text })];
    const first = ids.slice(0, 2).map(ask);
    await Promise.all(first.map(({ began }) => began));
    const third = ask(ids[2]!);
    let thirdBegan = false;
    void third.began.then(() => {
      thirdBegan = true;
    });
    const other = await service.account({ scopes: ALL_SCOPES });
    const theirs = new Resend(other.key, { baseUrl: service.url });
    const { data } = await theirs.emails.send(email());
    expect((await theirs.emails.get(data.id)).data.subject).toBe('Hello');
    expect(thirdBegan).toBe(false);
    first[0]!.hangUp();
    await third.began;
    for (const { hangUp } of [...first, third]) hangUp();
  });
});
