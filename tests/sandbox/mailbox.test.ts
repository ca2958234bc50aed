// The mailbox for tests: a test key's email is captured even if there is a relay, awaited by long
// polls, and read with its codes and links. Over HTTP, with two processes on one database.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey, hasChecksum } from '../../src/accounts/keys.ts';
import { TEST_SCOPES } from '../../src/accounts/scopes.ts';
import { readUuid } from '../../src/ids.ts';
import { systemClock } from '../../src/process/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { anEmail, request, startTestService, type TestService } from '../support/service.ts';
import { type SmtpSink, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';

let sink: SmtpSink;
let database: TestDatabase;
let service: TestService;

beforeAll(async () => {
  sink = await startSink();
  database = await createTestDatabase();
  service = await startTestService({ RELAY_URL: sink.url }, { on: database });
});
afterAll(async () => {
  await service.stop();
  await database.drop();
  await sink.stop();
});

const relayed = () => sink.emails.flatMap(({ recipients }) => recipients);

async function testAccount(): Promise<{ id: number; key: string; live: string }> {
  const { id, key: live } = await service.account();
  const made = await createKey(service.database, systemClock, {
    accountId: id,
    scopes: TEST_SCOPES,
    limits: { sandboxOnly: true },
  });
  return { id, key: made.key, live };
}

const EPOCH = '1970-01-01T00:00:00Z';
const list = (key: string, query: Record<string, string> = {}, url = service.url) =>
  request(`${url}/v1/sandbox/messages?${new URLSearchParams(query)}`, {
    headers: { 'x-api-key': key },
  });
const waitFor = (key: string, query: Record<string, string>, url = service.url) =>
  list(key, { after: EPOCH, wait: '20', ...query }, url);

describe('test keys', () => {
  it('begin with sm_test_, carry the checksum, and reach no relay', async () => {
    const { key, live } = await testAccount();
    expect(key).toMatch(/^sm_test_[0-9A-Za-z]{40}$/);
    expect(hasChecksum(key)).toBe(true);
    expect(hasChecksum(key.replace('sm_test_', 'sm_live_'))).toBe(false);
    await service.send(key, anEmail({ to: ['test@example.net'] }));
    await service.send(live, anEmail({ to: ['live@example.net'] }));
    const { body } = await waitFor(key, { to: 'test@example.net' });
    expect(body.data).toHaveLength(1);
    await until(() => relayed().includes('live@example.net'));
    expect(relayed()).not.toContain('test@example.net');
    expect((await list(key)).body.data).toHaveLength(1);
  });

  it('send and are captured while the relay is down, beside live keys that cannot', async () => {
    const away = await startTestService({ RELAY_URL: 'smtp://127.0.0.1:1' });
    try {
      const { id, key: live } = await away.account();
      const { key } = await createKey(away.database, systemClock, {
        ...{ accountId: id, scopes: TEST_SCOPES, limits: { sandboxOnly: true } },
      });
      expect((await away.send(live, anEmail())).status).toBe(502);
      // Many at once, so that one commit has both kinds.
      const sent = await Promise.all(
        Array.from({ length: 40 }, (_, n) => away.send(n % 2 === 0 ? key : live, anEmail())),
      );
      expect(sent.map(({ status }) => status)).toEqual(
        Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? 202 : 502)),
      );
      await until(async () => (await list(key, {}, away.url)).body.data.length === 20);
    } finally {
      await away.stop();
    }
  });

  it('are captured past a backlog that waits for the relay, which loses no attempt', async () => {
    const away = await startTestService({ RELAY_URL: 'smtp://127.0.0.1:1', RELAY_DOWN: 'queue' });
    try {
      const { id, key: live } = await away.account();
      const { key } = await createKey(away.database, systemClock, {
        ...{ accountId: id, scopes: TEST_SCOPES, limits: { sandboxOnly: true } },
      });
      const backlog = await Promise.all(
        Array.from({ length: 30 }, () => away.send(live, anEmail())),
      );
      expect(backlog.every(({ status }) => status === 202)).toBe(true);
      const to = ['ada@example.net'];
      const template = { template: 'one-time-code', variables: { code: '493817' } };
      const sent = await away.send(key, { from_email: 'hello@example.com', to, ...template });
      expect(sent.status).toBe(202);
      const { body } = await waitFor(key, { to: to[0]! }, away.url);
      expect(body.data[0].codes).toContain('493817');
      // What was captured leaves the queue a moment after it can be seen.
      const waiting = await away.database.query<{ attempts: number }>(
        'SELECT attempts FROM due_messages WHERE account_id = $1 AND message_id <> $2',
        [id, readUuid('msg_', sent.body.id)],
      );
      expect(waiting).toHaveLength(30);
      expect(Math.max(...waiting.map(({ attempts }) => attempts))).toBeLessThanOrEqual(1);
    } finally {
      await away.stop();
    }
  });

  it('and what they sent stays in the sandbox when someone else sends it again', async () => {
    const { id, key } = await testAccount();
    const all = await createKey(service.database, systemClock, {
      ...{ accountId: id, scopes: ['email:send', 'messages:read'] },
    });
    const sent = await service.send(key, anEmail({ to: ['again@example.net'] }));
    const again = await request(`${service.url}/v1/messages/${sent.body.id}/send-again`, {
      method: 'POST',
      headers: { 'x-api-key': all.key },
    });
    expect(again.status).toBe(202);
    await until(async () => (await list(key)).body.data.length === 2);
    expect(relayed()).not.toContain('again@example.net');
  });

  it('no live key: the same characters with the other name open nothing', async () => {
    const { key } = await testAccount();
    const { status } = await service.send(key.replace('sm_test_', 'sm_live_'), anEmail());
    expect(status).toBe(401);
  });
});

describe('an email is waited for', () => {
  it('and comes with its code and its links', async () => {
    const { key } = await testAccount();
    const waiting = waitFor(key, { to: 'Ada@Example.net', subject: 'SIGN' });
    await service.send(key, anEmail({ to: ['ada@example.net'], subject: 'Something else' }));
    const sent = await service.send(
      key,
      anEmail({
        to: ['ada@example.net'],
        subject: 'Sign in to Acme',
        html: '<p>Your code is <b>482 913</b>.</p><p><a href="https://acme.example/in?t=1&amp;u=2">Sign <b>in</b></a> <a href="mailto:x@y.example">Write</a></p>',
        text: 'Your code is 482 913.',
      }),
    );
    const { status, body } = await waiting;
    expect(status).toBe(200);
    expect(body.data).toHaveLength(1);
    expect(body.data[0]).toMatchObject({
      from: 'Acme <hello@example.com>',
      recipients: ['ada@example.net'],
      subject: 'Sign in to Acme',
      message_id: sent.body.id,
      codes: ['482913'],
      links: [{ url: 'https://acme.example/in?t=1&u=2', text: 'Sign in' }],
    });
  });

  it('only when it is newer than `after`: an id, a message or a time', async () => {
    const { key } = await testAccount();
    const first = await service.send(key, anEmail({ subject: 'One' }));
    const { body } = await waitFor(key, {});
    const [old] = body.data;
    const none = await list(key, { after: old.id, wait: '0.3' });
    expect(none.body).toEqual({ data: [], has_more: false, next: null });
    expect((await list(key, { after: first.body.id })).body.data).toHaveLength(1);
    expect((await list(key, { after: '2999-01-01T00:00:00Z' })).body.data).toEqual([]);
    const waiting = list(key, { after: old.id, wait: '20' });
    await service.send(key, anEmail({ subject: 'Two' }));
    expect((await waiting).body.data.map((it: { subject: string }) => it.subject)).toEqual(['Two']);
  });

  it('by two who want different ones, and by two who want the same', async () => {
    const { key } = await testAccount();
    const waiting = ['a', 'b', 'b'].map((to) => waitFor(key, { to: `${to}@example.net` }));
    for (const to of ['b', 'a']) await service.send(key, anEmail({ to: [`${to}@example.net`] }));
    const answers = await Promise.all(waiting);
    expect(answers.map(({ body }) => body.data[0].recipients)).toEqual([
      ['a@example.net'],
      ['b@example.net'],
      ['b@example.net'],
    ]);
  });

  it('never that of another account', async () => {
    const ada = await testAccount();
    const bob = await testAccount();
    const waiting = list(bob.key, { after: EPOCH, wait: '1' });
    const sent = await service.send(ada.key, anEmail());
    await waitFor(ada.key, {});
    expect((await waiting).body.data).toEqual([]);
    for (const path of ['', '/raw', '/html']) {
      const { status } = await service.get(bob.key, `/v1/sandbox/messages/${sent.body.id}${path}`);
      expect(status).toBe(404);
    }
  });

  it('in a process that did not capture it', async () => {
    const other = await startTestService({ RELAY_URL: sink.url, ROLES: 'api' }, { on: database });
    try {
      const { key } = await testAccount();
      const waiting = waitFor(key, {}, other.url);
      await service.send(key, anEmail());
      expect((await waiting).body.data).toHaveLength(1);
    } finally {
      await other.stop();
    }
  });

  it('400 without `after`, with a wrong one and beyond the longest wait', async () => {
    const { key } = await testAccount();
    const wrong: Record<string, string>[] = [
      { wait: '30' },
      { after: 'yesterday', wait: '1' },
      { after: EPOCH, wait: '61' },
      { after: EPOCH, wait: '-1' },
      { after: EPOCH, wait: 'long' },
    ];
    for (const query of wrong)
      expect((await list(key, query)).status, JSON.stringify(query)).toBe(400);
    expect((await list(key, { wait: '30' })).body.detail).toMatch(/^after: wait needs it/);
  });

  it('at most by a hundred calls of one key; others go on, and who leaves makes room', async () => {
    const { key } = await testAccount();
    const other = await testAccount();
    const leave = new AbortController();
    const url = `${service.url}/v1/sandbox/messages?after=${EPOCH}&wait=60`;
    const waiting = Array.from({ length: 120 }, () =>
      fetch(url, { headers: { 'x-api-key': key }, signal: leave.signal }).catch(() => undefined),
    );
    const refused = await until(async () => {
      const answer = await list(key, { after: EPOCH, wait: '0.01' });
      return answer.status === 429 ? answer : undefined;
    });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await list(other.key, { after: EPOCH, wait: '0.01' })).status).toBe(200);
    leave.abort();
    await Promise.all(waiting);
    await until(async () => (await list(key, { after: EPOCH, wait: '0.01' })).status === 200);
  });

  it('until the process stops: it answers at once and does not hold it up', async () => {
    // Of its own database: nobody else waits there.
    const other = await startTestService({ ROLES: 'api' });
    const { key } = await other.account({ scopes: TEST_SCOPES });
    const waiting = waitFor(key, { wait: '60' }, other.url);
    await until(async () => {
      const [row] = await other.database.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM pg_stat_activity WHERE query LIKE '%WITH ORDINALITY AS w%' AND datname = current_database() AND pid <> pg_backend_pid()`,
      );
      return (row?.n ?? 0) > 0;
    });
    const started = performance.now();
    await other.stop();
    expect((await waiting).body.data).toEqual([]);
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});

describe('a captured email', () => {
  it('is read by its id or its message: parsed, as bytes, as HTML', async () => {
    const { key } = await testAccount();
    const html = '<p>Grüße! <a href="https://acme.example/a">A</a></p>';
    const sent = await service.send(key, anEmail({ subject: 'Grüße ✓', html }));
    const { body } = await waitFor(key, {});
    const { id } = body.data[0];
    for (const name of [id, sent.body.id]) {
      const read = await service.get(key, `/v1/sandbox/messages/${name}`);
      expect(read.body).toMatchObject({ id, subject: 'Grüße ✓', text: 'Hello!' });
      expect(read.body.html).toContain('Grüße!');
    }
    const bytes = await fetch(`${service.url}/v1/sandbox/messages/${id}/raw`, {
      headers: { 'x-api-key': key, accept: 'application/octet-stream' },
    });
    expect(await bytes.text()).toMatch(/^[\w-]+: [\s\S]*\r\n\r\n/);
    const page = await service.get(key, `/v1/sandbox/messages/${id}/html`);
    expect(page.body).toMatchObject({
      filename: `${id}.html`,
      content_type: 'text/html; charset=utf-8',
    });
    expect(Buffer.from(page.body.content_base64, 'base64').toString()).toContain('Grüße!');
  });

  it('shows where a tracked link leads, and the link itself', async () => {
    const tracking = await startTestService({}, {});
    try {
      const account = await tracking.account({ scopes: TEST_SCOPES });
      const html = '<p><a href="https://shop.example/?a=1&amp;b=2">Shop</a></p>';
      await tracking.send(account.key, anEmail({ html }));
      const { body } = await waitFor(account.key, {}, tracking.url);
      const [link] = body.data[0].links;
      expect(link).toMatchObject({ url: 'https://shop.example/?a=1&b=2', text: 'Shop' });
      const followed = await fetch(link.tracked_url, { redirect: 'manual' });
      expect(followed.headers.get('location')).toBe('https://shop.example/?a=1&b=2');
    } finally {
      await tracking.stop();
    }
  });

  it('is thrown away by its recipient, or all of them', async () => {
    const { key } = await testAccount();
    for (const to of ['a', 'b', 'c'])
      await service.send(key, anEmail({ to: [`${to}@example.net`] }));
    await until(async () => (await list(key)).body.data.length === 3);
    const clear = (query: string) =>
      request(`${service.url}/v1/sandbox/messages${query}`, {
        method: 'DELETE',
        headers: { 'x-api-key': key },
      });
    // A program whose address is empty must not lose everything.
    expect((await clear('?to=')).body).toEqual({ cleared: 0 });
    expect((await clear('?to=A@example.net')).body).toEqual({ cleared: 1 });
    expect((await list(key)).body.data).toHaveLength(2);
    expect((await clear('')).body).toEqual({ cleared: 2 });
  });

  it('needs the scope', async () => {
    const { live } = await testAccount();
    expect((await list(live)).status).toBe(403);
  });
});
