// The guard at connect time: nothing reaches a refused address, whatever DNS said when the endpoint
// was registered.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  addressGuard,
  checkUrl,
  dnsResolver,
  guardedAgent,
} from '../../src/webhooks/address-guard.ts';
import { postWebhook } from '../../src/webhooks/post.ts';
import samples from '../fixtures/ssrf-urls.json' with { type: 'json' };
import { startDnsServer, type Zone } from '../support/dns-server.ts';
import { createAuthority, startReceiver } from '../support/https-receiver.ts';

const authority = createAuthority();
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function receiver(options: { plain?: boolean } = {}) {
  const started = await startReceiver({ authority, ...options });
  cleanups.push(started.close);
  return started;
}

async function guardOver(zone: Zone, allow: string[] = []) {
  const dns = await startDnsServer(zone);
  cleanups.push(dns.close);
  return addressGuard(allow, dnsResolver([dns.address]));
}

function poster(guard: ReturnType<typeof addressGuard>) {
  const agent = guardedAgent(guard, { ca: authority.ca, connectTimeoutMs: 5_000 });
  cleanups.push(() => agent.destroy());
  return (url: string) => postWebhook(agent, { url, body: Buffer.from('{}'), headers: {} });
}

describe('DNS that changes its answer', () => {
  it('after registration is refused at connect', async () => {
    const hook = await receiver();
    let address = '93.184.215.14';
    const guard = await guardOver((_name, type) => (type === 'A' ? [address] : []));
    const url = `https://rebind.receiver.example:${hook.port}/hook`;
    expect((await checkUrl(guard, url)).warning).toBeUndefined();

    address = '127.0.0.1';
    const result = await poster(guard)(url);
    expect(result).toMatchObject({ ok: false, error: { kind: 'blocked-address' } });
    expect(result.error?.detail).not.toContain('127.0.0.1');
    expect(hook.connections()).toBe(0);
    await expect(checkUrl(guard, url)).rejects.toMatchObject({ code: 'invalid' });
  });

  it('at every question finds no gap between check and connect', async () => {
    // The trusted 127.0.0.2 and the forbidden 127.0.0.1 by turns: only what was checked is
    // connected to.
    const hook = await receiver();
    let asked = 0;
    const guard = await guardOver(
      (_name, type) => (type === 'A' ? [asked++ % 2 === 0 ? '127.0.0.2' : '127.0.0.1'] : []),
      ['127.0.0.2/32'],
    );
    const post = poster(guard);
    const kinds = [];
    for (let turn = 0; turn < 6; turn++) {
      kinds.push((await post(`https://turn.receiver.example:${hook.port}/hook`)).error?.kind);
    }
    // Nothing listens on 127.0.0.2, so a turn ends refused or blocked, and the receiver hears of
    // none.
    expect(kinds).toEqual([
      'refused',
      'blocked-address',
      'refused',
      'blocked-address',
      'refused',
      'blocked-address',
    ]);
    expect(hook.connections()).toBe(0);
  });

  it('is refused when one of several answers is special, in either family', async () => {
    const hook = await receiver();
    const guard = await guardOver((name, type) => {
      if (name.startsWith('four')) return type === 'A' ? ['93.184.215.14', '127.0.0.1'] : [];
      return type === 'A' ? ['93.184.215.14'] : ['::1'];
    });
    const post = poster(guard);
    for (const name of ['four', 'six']) {
      const result = await post(`https://${name}.receiver.example:${hook.port}/hook`);
      expect(result.error?.kind).toBe('blocked-address');
    }
    expect(hook.connections()).toBe(0);
  });
});

describe('a literal address', () => {
  it.each(samples.deny)('%s gets no connection', async (url) => {
    const guard = addressGuard([], async (host) => {
      throw new Error(`asked for ${host}`);
    });
    const { error } = await poster(guard)(url.replace('http:', 'https:'));
    expect(error?.kind).toBe('blocked-address');
  });

  it('of our own receiver gets none without WEBHOOK_ALLOW, and one with it', async () => {
    const hook = await receiver();
    const urls = [hook.url, `https://2130706433:${hook.port}/`, `https://localhost:${hook.port}/`];
    const refusing = poster(addressGuard([]));
    for (const url of urls) expect((await refusing(url)).error?.kind).toBe('blocked-address');
    expect(hook.connections()).toBe(0);

    const trusting = poster(addressGuard(['127.0.0.0/8', '::1']));
    for (const url of urls) expect((await trusting(url)).ok).toBe(true);
    expect(hook.requests).toHaveLength(urls.length);
  });
});

describe('plain http', () => {
  it('goes to trusted addresses only', async () => {
    const hook = await receiver({ plain: true });
    expect((await poster(addressGuard(['127.0.0.0/8']))(hook.url)).ok).toBe(true);
    expect((await poster(addressGuard(['10.0.0.0/8']))(hook.url)).error?.kind).toBe(
      'blocked-address',
    );
    // A public address, but over http: not even tried.
    const { error, durationMs } = await poster(addressGuard([]))('http://93.184.215.14/');
    expect(error?.kind).toBe('blocked-address');
    expect(durationMs).toBeLessThan(5_000);
  });
});

describe('the connected peer', () => {
  it('is checked before a byte is sent', async () => {
    // The kernel turns 0.0.0.0 into 127.0.0.1: the address asked for is trusted, the machine
    // reached is not.
    const heard: Buffer[] = [];
    const server = createServer((socket) =>
      socket.on('data', (bytes) => heard.push(bytes)).on('error', () => {}),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(async () => server.close());
    const { port } = server.address() as AddressInfo;
    const closed = once(server, 'connection').then(([socket]) => once(socket, 'close'));

    const { error } = await poster(addressGuard(['0.0.0.0/32']))(`https://0.0.0.0:${port}/`);
    expect(error?.kind).toBe('blocked-address');
    await closed;
    expect(Buffer.concat(heard)).toHaveLength(0);
  });
});
