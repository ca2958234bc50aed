// Section 5: authentication. Keys, scopes and plans, and how soon a change reaches every process.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeAccount } from '../../src/accounts/accounts.ts';
import { removeIdentity } from '../../src/accounts/identities.ts';
import { createKey, listKeys, revokeKey } from '../../src/accounts/keys.ts';
import { systemClock } from '../../src/process/clock.ts';
import { post, rpc } from '../mcp/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { anEmail, request, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let test: TestDatabase;
let service: TestService;
/** A second process' worth of service on the same database. */
let second: TestService;
beforeAll(async () => {
  test = await createTestDatabase();
  service = await startTestService({ ROLES: 'api' }, { on: test });
  second = await startTestService({ ROLES: 'api' }, { on: test });
});
afterAll(async () => {
  await service.stop();
  await second.stop();
  await test.drop();
});

describe('rule 5: missing or unknown key', () => {
  it('missing → 401', async () => {
    const answer = await request(`${service.url}/v1/messages/x`);
    expect(answer.status).toBe(401);
    expect(answer.body.detail).toContain('X-API-Key');
  });
  it.each(['', 'nonsense', `sm_live_${'a'.repeat(40)}`, `sm_live_000001${'b'.repeat(34)}`])(
    '%j → 401',
    async (key) => {
      expect((await service.get(key, '/v1/messages/x')).status).toBe(401);
      expect((await service.send(key, anEmail())).status).toBe(401);
    },
  );
  it('non-paying → 402, for reads too', async () => {
    const free = await service.account({ plan: 'free' });
    expect((await service.get(free.key, '/v1/messages/x')).status).toBe(402);
    expect((await service.send(free.key, anEmail())).status).toBe(402);
  });
});

describe('the key as a bearer token, beside rule 1', () => {
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const send = (headers: Record<string, string>) =>
    request(`${service.url}/v1/send`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(anEmail()),
    });
  it('sends, reads and speaks MCP', async () => {
    const { key } = await service.account();
    const sent = await send(bearer(key));
    expect(sent.status).toBe(202);
    const headers = bearer(key);
    const read = await request(`${service.url}/v1/messages/${sent.body.id}`, { headers });
    expect(read.body.sm_mail_id).toBe(sent.body.id);
    const asked = rpc('modern', 'tools/list');
    const listed = await post(`${service.url}/mcp`, undefined, {
      ...asked,
      headers: { ...asked.headers, ...headers },
    });
    expect(listed.body.result.tools.length).toBeGreaterThan(3);
  });
  it('X-API-Key counts where both are given', async () => {
    const { key } = await service.account();
    expect((await send({ 'x-api-key': 'nonsense', ...bearer(key) })).status).toBe(401);
    expect((await send({ 'x-api-key': key, ...bearer('nonsense') })).status).toBe(202);
    expect((await send({ authorization: `Basic ${key}` })).status).toBe(401);
  });
});

describe('rules 2 and 3: keys', () => {
  it('are sm_live_ and at least 32 random characters', async () => {
    const { key } = await service.account();
    expect(key).toMatch(/^sm_live_[0-9A-Za-z]{32,}$/);
  });
  it('are kept as a SHA-256 only, and listed by their prefix', async () => {
    const { id, key } = await service.account();
    const [listed] = await listKeys(service.database, id);
    expect(key.startsWith(listed!.prefix)).toBe(true);
    expect(listed!.prefix.length).toBeLessThan(key.length / 2);
    const rows = await service.database.query<{ kept: string }>(
      'SELECT api_keys::text AS kept FROM api_keys',
    );
    expect(rows.some((row) => row.kept.includes(key))).toBe(false);
  });
  it('show when they were last used', async () => {
    const { id, key } = await service.account();
    expect((await listKeys(service.database, id))[0]?.lastUsedAt).toBeNull();
    await service.get(key, '/v1/messages/x');
    await until(async () => (await listKeys(service.database, id))[0]?.lastUsedAt);
  });
});

describe('rule 6: scopes', () => {
  it('email:send sends, email:read reads, neither does the other', async () => {
    const { id } = await service.account();
    const sender = await createKey(service.database, systemClock, {
      accountId: id,
      scopes: ['email:send'],
    });
    const reader = await createKey(service.database, systemClock, {
      accountId: id,
      scopes: ['email:read'],
    });
    const sent = await service.send(sender.key, anEmail());
    expect(sent.status).toBe(202);
    const path = `/v1/messages/${sent.body.id}`;
    expect((await service.get(reader.key, path)).status).toBe(200);
    expect((await service.get(sender.key, path)).status).toBe(403);
    expect((await service.send(reader.key, anEmail())).status).toBe(403);
  });
});

/** Asked again and again, every process must follow within a second. */
const SOON_MS = 1500;

describe('a change reaches every process within a second', () => {
  async function warm(key: string) {
    for (const one of [service, second]) expect((await one.send(key, anEmail())).status).toBe(202);
  }
  const bothAnswer = (key: string, status: number) =>
    until(async () => {
      const answers = await Promise.all([
        service.send(key, anEmail()),
        second.send(key, anEmail()),
      ]);
      return answers.every((answer) => answer.status === status);
    }, SOON_MS);

  it('a revoked key → 401', async () => {
    const { id, key } = await service.account();
    await warm(key);
    await revokeKey(service.database, id, (await listKeys(service.database, id))[0]!.id);
    await bothAnswer(key, 401);
  });
  it('a plan that ended → 402, and one that began → 202', async () => {
    const { id, key } = await service.account();
    await warm(key);
    await changeAccount(service.database, id, { plan: 'free' });
    await bothAnswer(key, 402);
    await changeAccount(service.database, id, { plan: 'paid' });
    await bothAnswer(key, 202);
  });
  it('a removed identity → 403', async () => {
    const { id, key } = await service.account();
    await warm(key);
    await removeIdentity(service.database, id, 'example.com');
    await bothAnswer(key, 403);
  });
});
