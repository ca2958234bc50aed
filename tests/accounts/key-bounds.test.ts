// API keys that expire, that work from certain networks only, and that carry a checksum; through
// every door that takes one.
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey, hasChecksum, listKeys } from '../../src/accounts/keys.ts';
import { registerKey } from '../../src/cli/key.ts';
import { systemClock } from '../../src/process/clock.ts';
import { openSignedIn, statusOf } from '../dashboard/dashboard-client.ts';
import { openSmtp, plain } from '../submission/client.ts';
import { runInProcess } from '../support/command.ts';
import { anEmail, request, startTestService, type TestService } from '../support/service.ts';

let aheadMs = 0;
let service: TestService;
let accountId: number;

beforeAll(async () => {
  service = await startTestService(
    { TRUSTED_PROXIES: '127.0.0.1', SMTP_PORT: '0' },
    { clock: { nowMs: () => Date.now() + aheadMs } },
  );
  ({ id: accountId } = await service.account());
});

afterAll(async () => {
  await service.stop();
});

const make = (bounds: Parameters<typeof createKey>[2]['bounds']) =>
  createKey(service.database, systemClock, {
    ...{ accountId, bounds: bounds ?? {} },
    scopes: ['email:send', 'email:read'],
  });

/**
 * Its status at each door: the short path, node:http (a query makes it unusual), a read, and MCP.
 */
async function statuses(key: string, from: string): Promise<number[]> {
  const headers = { 'x-forwarded-for': from, 'x-api-key': key, 'content-type': 'application/json' };
  const body = JSON.stringify(anEmail());
  const tools = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const answers = [
    await service.send(key, anEmail(), { 'x-forwarded-for': from }),
    await request(`${service.url}/v1/send?x`, { method: 'POST', headers, body }),
    await request(`${service.url}/v1/messages/msg_0`, { headers }),
    await request(`${service.url}/mcp`, { method: 'POST', headers, body: tools }),
  ];
  return answers.map(({ status }) => status);
}

describe('a key with an end', () => {
  it('works until then and answers 401 afterwards, by the clock of the process that knows it', async () => {
    const { key } = await make({ expiresAt: new Date(Date.now() + 3_600_000) });
    expect(await statuses(key, '192.0.2.1')).toEqual([202, 202, 404, 200]);
    aheadMs = 3_601_000;
    expect(await statuses(key, '192.0.2.1')).toEqual([401, 401, 401, 401]);
    const { body } = await service.send(key, anEmail());
    expect(body.detail).toContain('This API key expired at');
    aheadMs = 0;
  });

  it('that lies in the past is refused', async () => {
    await expect(make({ expiresAt: new Date(Date.now() - 1000) })).rejects.toThrow(/in the future/);
  });
});

describe('a key with networks', () => {
  it('works from there only, through every door and behind a proxy', async () => {
    const { key } = await make({ networks: ['203.0.113.0/24', '2001:db8::/32'] });
    expect(await statuses(key, '203.0.113.9')).toEqual([202, 202, 404, 200]);
    expect(await statuses(key, '2001:db8::5')).toEqual([202, 202, 404, 200]);
    expect(await statuses(key, '::ffff:203.0.113.9')).toEqual([202, 202, 404, 200]);
    expect(await statuses(key, '203.0.114.9')).toEqual([403, 403, 403, 403]);
    // What a client itself claims stands to the left of what the proxy saw.
    expect(await statuses(key, '203.0.113.9, 198.51.100.1')).toEqual([403, 403, 403, 403]);
    const { body } = await service.send(key, anEmail(), { 'x-forwarded-for': '198.51.100.1' });
    expect(body.detail).toContain('may not be used from 198.51.100.1.');
  });

  it.each([[['10.0.0.0/33']], [['example.com']], [['']], [[]]])(
    '%j is refused',
    async (networks) => {
      await expect(make({ networks })).rejects.toThrow(/^networks: /);
    },
  );
});

describe('in the dashboard', () => {
  it('a key is made with both, and the list shows them', async () => {
    const owner = await openSignedIn(service, { accountId });
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const { keys } = owner.api;
    const wish = { scopes: ['email:send' as const], networks: ['10.0.0.0/8'] };
    const { id } = await keys.create({ ...wish, expires_at: expiresAt });
    expect((await keys.list()).data.find((key) => key.id === id)).toMatchObject({
      ...{ expires_at: expiresAt, networks: ['10.0.0.0/8'] },
    });
    const past = new Date(0).toISOString();
    expect(await statusOf(keys.create({ ...wish, expires_at: past }))).toBe(400);
    expect(await statusOf(keys.create({ ...wish, networks: ['x'] }))).toBe(400);
  });
});

describe('the checksum', () => {
  it('tells a real key from one that only looks like it', async () => {
    const { key } = await make({});
    expect(key).toMatch(/^sm_live_[0-9A-Za-z]{40}$/);
    expect(hasChecksum(key)).toBe(true);
    const other = key.endsWith('0') ? '1' : '0';
    expect(hasChecksum(key.slice(0, -1) + other)).toBe(false);
    expect(hasChecksum(key.slice(0, 20) + (key[20] === 'x' ? 'y' : 'x') + key.slice(21))).toBe(
      false,
    );
    // As the documentation says it, for whoever writes a scanner.
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    let sum = crc32(key.slice(0, -6));
    let text = '';
    for (let n = 0; n < 6; n += 1, sum = Math.floor(sum / 62)) text = digits[sum % 62] + text;
    expect(key.slice(-6)).toBe(text);
  });

  it('that is wrong is refused at every door, and the database is not asked', async () => {
    const { key } = await make({});
    const wrong = [withoutChecksum(key), key.replace('sm_live_', 'sm_test_')];
    // What looks for a key waits for this transaction: whoever is answered has not looked.
    await service.database.transaction(async (client) => {
      await client.query('LOCK TABLE api_keys, accounts IN ACCESS EXCLUSIVE MODE');
      for (const each of wrong) {
        expect(await statuses(each, '192.0.2.1')).toEqual([401, 401, 401, 401]);
        const headers = { authorization: `Bearer ${each}`, 'content-type': 'application/json' };
        for (const path of ['/emails', '/emails/batch', '/v1/lint', '/v1/mcp']) {
          const asked = { method: 'POST', headers, body: '{}' };
          const { status } = await request(service.url + path, asked);
          // Resend says 403 of a key that it does not know.
          expect(status, path).toBe(path.startsWith('/emails') ? 403 : 401);
        }
        const inbox = await request(`${service.url}/v1/sandbox/messages?wait=1`, { headers });
        expect(inbox.status).toBe(401);
        const smtp = await openSmtp(service.service.smtpPort!);
        await smtp.reply();
        await smtp.say('EHLO test.example');
        expect(await smtp.say(plain(each))).toMatch(/^535/);
        smtp.socket.destroy();
      }
    });
    expect(await statuses(key, '192.0.2.1')).toEqual([202, 202, 404, 200]);
  });
});

/** The same key with another end. */
const withoutChecksum = (key: string): string =>
  key.slice(0, -6) + (key.endsWith('zzzzzz') ? 'yyyyyy' : 'zzzzzz');

describe('by command', () => {
  const run = (...args: string[]) =>
    runInProcess(registerKey, ['key', ...args], { DATABASE_URL: service.databaseUrl });
  const create = (...args: string[]) =>
    run('create', '--account', String(accountId), '--scope', 'email:read', '--json', ...args);

  it('a key is made with an end and networks, and listed with them', async () => {
    const made = await create('--expires', '90d', '--networks', '10.0.0.0/8, 192.0.2.7');
    const { id } = JSON.parse(made.stdout);
    const key = (await listKeys(service.database, accountId)).find((it) => it.id === id)!;
    expect(key.networks).toEqual(['10.0.0.0/8', '192.0.2.7']);
    const days = (Date.parse(key.expiresAt!) - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(90);
    const { stdout } = await run('list', '--account', String(accountId));
    expect(stdout).toContain('from 10.0.0.0/8 192.0.2.7');
    expect(stdout).toContain(key.expiresAt);
  });

  it.each([
    ['--expires', 'soon'],
    ['--expires', '2001-01-01'],
    ['--networks', 'here'],
  ])('%s %s is refused', async (option, value) => {
    expect((await create(option, value)).code).toBe(1);
  });
});
