// Every way a POST can end, against real HTTPS receivers and through the guarded agent.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Agent } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { addressGuard, guardedAgent, type Resolve } from '../../src/webhooks/address-guard.ts';
import { postWebhook, type WebhookPost } from '../../src/webhooks/post.ts';
import {
  answer,
  createAuthority,
  type ReceiverOptions,
  startReceiver,
} from '../support/https-receiver.ts';

const authority = createAuthority();
const loopback: Resolve = async () => ['127.0.0.1'];
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function receiver(options: ReceiverOptions = {}) {
  const started = await startReceiver({ authority, ...options });
  cleanups.push(started.close);
  return started;
}

function agent(allow = ['127.0.0.0/8'], resolve = loopback, connectTimeoutMs = 5_000): Agent {
  const made = guardedAgent(addressGuard(allow, resolve), { ca: authority.ca, connectTimeoutMs });
  cleanups.push(() => made.destroy());
  return made;
}

const post = (to: Agent, url: string, more: Partial<WebhookPost> = {}) =>
  postWebhook(to, {
    url,
    body: Buffer.from('{"event_type":"open"}'),
    headers: { 'content-type': 'application/json', 'x-sm-event-id': 'evt_1' },
    ...more,
  });

describe('an answer', () => {
  it('is a success when 2xx, and the receiver got the very bytes and headers', async () => {
    const hook = await receiver({ behave: answer(204) });
    const body = Buffer.from('{"a":"größe"}\n');
    const result = await post(agent(), `${hook.url}/a?b=c%20d`, { body });
    expect(result).toEqual({
      ok: true,
      status: 204,
      responseBody: '',
      responseTruncated: false,
      durationMs: expect.any(Number),
    });
    const [request] = hook.requests;
    expect(request).toMatchObject({ method: 'POST', path: '/hook/a?b=c%20d' });
    expect(request!.headers).toMatchObject({
      'content-type': 'application/json',
      'x-sm-event-id': 'evt_1',
      'content-length': String(body.length),
      host: `127.0.0.1:${hook.port}`,
    });
    expect(request!.body.equals(body)).toBe(true);
  });

  it.each([
    [200, undefined],
    [202, undefined],
    [299, undefined],
    [300, 'redirect'],
    [301, 'redirect'],
    [302, 'redirect'],
    [304, 'redirect'],
    [307, 'redirect'],
    [308, 'redirect'],
    [400, 'status'],
    [401, 'status'],
    [404, 'status'],
    [410, 'gone'],
    [429, 'status'],
    [500, 'status'],
    [503, 'status'],
    [599, 'status'],
  ])('%i is %s', async (status, kind) => {
    const hook = await receiver({ behave: answer(status, status === 304 ? '' : 'why') });
    const result = await post(agent(), hook.url);
    expect(result).toMatchObject({ ok: kind === undefined, status });
    expect(result.error?.kind).toBe(kind);
    if (status !== 304) expect(result.responseBody).toBe('why');
  });

  it('may be announced by 103 Early Hints', async () => {
    const bytes =
      'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 500 No\r\ncontent-length: 2\r\n\r\nno';
    const hook = await receiver({ behave: { kind: 'raw', bytes } });
    expect(await post(agent(), hook.url)).toMatchObject({ status: 500, responseBody: 'no' });
  });

  it('follows no redirect, not even to a place it may go', async () => {
    const target = await receiver();
    const hook = await receiver({ behave: answer(307, '', { location: target.url }) });
    expect(await post(agent(), hook.url)).toMatchObject({ ok: false, error: { kind: 'redirect' } });
    expect(hook.requests).toHaveLength(1);
    expect(target.connections()).toBe(0);
  });

  it('is kept up to 16 KiB to the byte', async () => {
    const hook = await receiver({ behave: answer(200, 'x'.repeat(16_384)) });
    const whole = await post(agent(), hook.url);
    expect(whole).toMatchObject({ ok: true, responseTruncated: false });
    expect(whole.responseBody).toHaveLength(16_384);
    hook.behave(answer(500, 'x'.repeat(16_385)));
    const cut = await post(agent(), hook.url);
    expect(cut).toMatchObject({ ok: false, status: 500, responseTruncated: true });
    expect(cut.responseBody).toHaveLength(16_384);
  });

  it('is cut between characters, and becomes text whatever its bytes', async () => {
    const hook = await receiver({ behave: answer(200, '€'.repeat(10)) });
    expect((await post(agent(), hook.url, { maxBodyBytes: 7 })).responseBody).toBe('€€');
    hook.behave(answer(200, Buffer.of(0x61, 0x00, 0xff, 0xfe, 0x62)));
    expect((await post(agent(), hook.url)).responseBody).toBe('a\ufffd\ufffd\ufffdb');
  });

  it('that never ends is cut, counts by its status, and its connection is closed', async () => {
    const hook = await receiver({ behave: { kind: 'endless-body' } });
    const result = await post(agent(), hook.url);
    expect(result).toMatchObject({ ok: true, status: 200, responseTruncated: true });
    expect(result.durationMs).toBeLessThan(5_000);
    await hook.allClosed();
  });
});

describe('no answer', () => {
  it('in time is a timeout, and the connection is closed', async () => {
    const hook = await receiver({ behave: { kind: 'hang' } });
    const result = await post(agent(), hook.url, { timeoutMs: 150 });
    expect(result).toMatchObject({
      ok: false,
      error: { kind: 'timeout', detail: 'There was no complete answer within 0.15 s.' },
    });
    expect(result.status).toBeUndefined();
    expect(result.durationMs).toBeGreaterThanOrEqual(149);
    expect(result.durationMs).toBeLessThan(10_000);
    await hook.allClosed();
  });

  it('in full in time is a timeout too, though it began with 200', async () => {
    const hook = await receiver({ behave: { kind: 'slow-body' } });
    const result = await post(agent(), hook.url, { timeoutMs: 2_000 });
    expect(result).toMatchObject({ ok: false, status: 200, error: { kind: 'timeout' } });
    expect(result.responseBody).toMatch(/^\.+$/);
    await hook.allClosed();
  });

  it.each(['reset', 'cut-body'] as const)('but a %s', async (kind) => {
    const hook = await receiver({ behave: { kind } });
    const result = await post(agent(), hook.url);
    expect(result).toMatchObject({ ok: false, error: { kind: 'reset' } });
    if (kind === 'cut-body') expect(result.status).toBe(200);
    // The next one gets a fresh connection.
    hook.behave(answer(200));
    expect(await post(agent(), hook.url)).toMatchObject({ ok: true });
  });

  it.each([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    ['headers without end', `HTTP/1.1 200 OK\r\n${'x-a: 1234567890\r\n'.repeat(3_000)}`],
  ])('but %s', async (_name, bytes) => {
    const hook = await receiver({ behave: { kind: 'raw', bytes } });
    expect(await post(agent(), hook.url)).toMatchObject({ ok: false, error: { kind: 'protocol' } });
  });

  it.each([
    ['announcements', '', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'],
    ['a reason', 'HTTP/1.1 200 ', 'a'],
    ['a chunk’s length', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '0'],
    ['a chunk’s extension', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;', 'a'],
  ])(
    'but %s without end: cut at the deadline, and nothing of it is kept',
    async (_name, bytes, piece) => {
      const hook = await receiver({ behave: { kind: 'raw-endless', bytes, piece } });
      const result = await post(agent(), hook.url, { timeoutMs: 300 });
      expect(result).toMatchObject({ ok: false, error: { kind: 'timeout' } });
      expect(result.responseBody ?? '').toBe('');
      await hook.allClosed();
    },
  );

  it('because nothing listens', async () => {
    const hook = await startReceiver({ authority });
    await hook.close();
    expect(await post(agent(), hook.url)).toMatchObject({
      ok: false,
      error: { kind: 'refused', detail: expect.stringContaining('nothing listens') },
    });
  });

  it('because the name is unknown', async () => {
    const unknown: Resolve = async () => {
      throw Object.assign(new Error('no'), { code: 'ENOTFOUND' });
    };
    const to = agent([], unknown);
    expect(await post(to, 'https://nowhere.example/')).toMatchObject({ error: { kind: 'dns' } });
    const empty = agent([], async () => []);
    expect(await post(empty, 'https://nowhere.example/')).toMatchObject({ error: { kind: 'dns' } });
  });

  it('because DNS never answers: the connection gives up by itself', async () => {
    const to = agent([], () => new Promise(() => {}), 100);
    expect(await post(to, 'https://nowhere.example/')).toMatchObject({
      error: { kind: 'timeout', detail: expect.stringContaining('No connection') },
    });
  });

  it('because the connection came too late: then nothing is sent', async () => {
    const hook = await receiver();
    let answerDns = (_ips: string[]) => {};
    const to = agent(['127.0.0.0/8'], () => new Promise((resolve) => (answerDns = resolve)));
    const result = await post(to, `https://receiver.example:${hook.port}/`, { timeoutMs: 100 });
    expect(result.error?.kind).toBe('timeout');
    answerDns(['127.0.0.1']);
    // The next one goes out over the connection that came about, the late one not at all.
    const next = post(to, `https://receiver.example:${hook.port}/next`);
    answerDns(['127.0.0.1']);
    expect(await next).toMatchObject({ ok: true });
    expect(hook.requests.map(({ path }) => path)).toEqual(['/next']);
  });

  it('because TLS never answers: the connection gives up by itself', async () => {
    const mute = createServer(() => {}).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    cleanups.push(async () => mute.close());
    const to = agent(undefined, undefined, 300);
    const url = `https://127.0.0.1:${(mute.address() as AddressInfo).port}/`;
    expect(await post(to, url)).toMatchObject({ error: { kind: 'timeout' } });
  });
});

describe('a certificate', () => {
  it.each(['expired', 'wrong-name', 'unknown-ca'] as const)(
    'that is %s is refused',
    async (certificate) => {
      const hook = await receiver({ certificate });
      expect(await post(agent(), hook.url)).toMatchObject({ ok: false, error: { kind: 'tls' } });
      expect(hook.requests).toHaveLength(0);
    },
  );

  it('is checked for the name in the URL', async () => {
    const hook = await receiver();
    const url = (host: string) => `https://${host}:${hook.port}/hook`;
    expect(await post(agent(), url('a.receiver.example'))).toMatchObject({ ok: true });
    expect(await post(agent(), url('receiver.example.'))).toMatchObject({ ok: true });
    expect(await post(agent(), url('b.elsewhere.example'))).toMatchObject({
      error: { kind: 'tls' },
    });
  });

  it('is missing where http is spoken on the port', async () => {
    const hook = await receiver({ plain: true });
    const result = await post(agent(), hook.url.replace('http:', 'https:'));
    expect(result).toMatchObject({ ok: false, error: { kind: 'tls' } });
  });
});

describe('connections', () => {
  it('are reused one after another', async () => {
    const hook = await receiver();
    const to = agent();
    for (let i = 0; i < 20; i++) expect((await post(to, hook.url)).ok).toBe(true);
    // Two and not one, as with bare undici: an answer's end is told before its connection counts as
    // free.
    expect(hook.connections()).toBeLessThanOrEqual(2);
  });

  it('of a hanging endpoint do not hold up another on the same host', async () => {
    const hook = await receiver({
      behave: ({ path }) => (path === '/slow' ? { kind: 'hang' } : answer(200)),
    });
    const to = agent();
    const slow = Promise.allSettled(
      Array.from({ length: 8 }, () => post(to, hook.url.replace('/hook', '/slow'))),
    );
    await hook.received(8);
    expect(await post(to, hook.url)).toMatchObject({ ok: true });
    // The slow ones were still under way.
    expect(hook.openConnections()).toBe(9);
    await to.destroy();
    // A shutdown of ours does not count against the receiver.
    for (const one of await slow)
      expect(one).toMatchObject({ reason: { code: 'UND_ERR_DESTROYED' } });
  });
});
