// Senders over the API: a domain with its records and checks, an address with its link; only
// operators vouch.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Sandmartin } from '../../src/client/sandmartin.ts';
import { openSignedIn, statusOf } from '../dashboard/dashboard-client.ts';
import { captured } from '../support/captured.ts';
import { startDns, type TestDns } from '../support/dns-server.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let dns: TestDns;
beforeAll(async () => {
  dns = await startDns();
  service = await startTestService({
    DNS_SERVERS: dns.address,
    BOUNCE_DOMAIN: 'bounces.test',
    SYSTEM_SENDER: 'Sandmartin <no-reply@system.example>',
  });
  await service.account({ identities: ['system.example'] });
});
afterAll(async () => {
  await service.stop();
  await dns.close();
});

async function open() {
  const account = await service.account({ scopes: ['email:send', 'admin'] });
  const api = new Sandmartin({ baseUrl: service.url, apiKey: account.key, retries: 0 });
  return { ...account, api };
}

it('a domain: records, a check that says what lacks, and one that finds all', async () => {
  const { api, key } = await open();
  const added = await api.domains.put({ domain: 'Acme.Example' });
  expect(added).toMatchObject({ domain: 'acme.example', verified: false, checked_at: null });
  expect(added.records.map(({ purpose }) => purpose)).toEqual([
    'ownership',
    'dkim-rsa',
    'dkim-ed25519',
    'spf',
    'dmarc',
    'return-path',
  ]);
  expect((await api.domains.put({ domain: 'acme.example' })).records).toEqual(added.records);
  const wanted = { domain: 'acme.example' };
  const missing = await api.domains.check(wanted);
  expect(missing.records.every(({ check }) => check?.state === 'missing')).toBe(true);

  for (const { type, name, value } of added.records) dns.publish(type, name, value);
  const found = await api.domains.check(wanted);
  expect(found).toMatchObject({ verified: true, verified_by: 'dns' });
  expect(found.records.map(({ check }) => check?.state)).toEqual(Array(6).fill('ok'));
  expect(await api.domains.get(wanted)).toEqual(found);
  expect((await service.send(key, anEmail({ from_email: 'a@acme.example' }))).status).toBe(202);

  await api.domains.remove(wanted);
  expect((await service.send(key, anEmail({ from_email: 'a@acme.example' }))).status).toBe(403);
  expect(await statusOf(api.domains.check(wanted))).toBe(404);
  expect(await statusOf(api.domains.remove({ domain: 'no domain' }))).toBe(400);
  const { data } = await api.audit.list({ target: 'acme.example' });
  expect(data.map(({ action, after }) => [action, after])).toEqual([
    ['remove_domain', null],
    ['check_domain', { verified: true }],
    ['add_domain', { verified: false }],
  ]);
});

it('domains are listed page by page; one without keys says so', async () => {
  const { api } = await open();
  for (const domain of ['b.example', 'a.example']) await api.domains.put({ domain });
  const { data, next } = await api.domains.list({ limit: 2 });
  expect(data.map(({ domain }) => domain)).toEqual(['a.example', 'b.example']);
  const rest = await api.domains.list({ limit: 2, cursor: next! });
  // Of service.account(), which was added without keys.
  expect(rest).toMatchObject({ data: [{ domain: 'example.com', records: [] }], next: null });
  expect(await statusOf(api.domains.check({ domain: 'example.com' }))).toBe(409);
  expect((await api.domains.put({ domain: 'example.com' })).records).toHaveLength(6);
});

it('an address: a link is emailed, and proves it', async () => {
  const { api } = await open();
  const address = 'me@elsewhere.example';
  const added = await api.addresses.put({ address: 'Me@Elsewhere.example' });
  expect(added).toMatchObject({ address, verified: false, note: null });
  expect([added.link_until, added.verification_message]).not.toContain(null);
  const link = await until(async () => {
    const [row] = await service.database.query<{ raw: Buffer }>(
      'SELECT raw FROM sandbox_mails WHERE $1 = ANY (recipients)',
      [address],
    );
    return row && /http:\/\/127\.0\.0\.1:\d+\/\S*?\/[\w-]{40}/.exec(row.raw.toString())?.[0];
  });
  expect((await fetch(link, { method: 'POST' })).status).toBe(200);
  expect(await api.addresses.get({ address })).toMatchObject({
    ...{ verified: true, verified_by: 'link', link_until: null },
  });
  expect((await api.addresses.list()).data).toHaveLength(1);
  await api.addresses.remove({ address });
  expect((await api.addresses.list()).data).toEqual([]);
  expect(await statusOf(api.addresses.verify({ address }))).toBe(404);
});

it('an email of the service itself comes back to BOUNCE_DOMAIN, an account’s own to its domain', async () => {
  const { id } = await service.account({ identities: [] });
  // SYSTEM_SENDER's domain belongs to an account whose own return path leads to us.
  const owner = await openSignedIn(service, { accountId: id, operator: true });
  const domain = 'system.example';
  await owner.api.domains.put({ domain, vouched: true });
  await service.database.query('UPDATE domains SET return_path_seen = true WHERE domain = $1', [
    domain,
  ]);
  const made = await owner.api.keys.create({ scopes: ['email:send'] });
  const own = await service.send(made.secret, anEmail({ from_email: `a@${domain}` }));
  const ofAccount = await captured(service.database, own.body.id);
  expect(ofAccount.envelopeFrom).toMatch(/@sm-bounces\.system\.example$/);
  const asked = await owner.api.addresses.put({ address: 'me@third.example' });
  const ofService = await captured(service.database, asked.verification_message!);
  expect(ofService.email.from?.address).toBe('no-reply@system.example');
  expect(ofService.envelopeFrom).toMatch(/^bounce\+\w+@bounces\.test$/);
});

it('a domain is not an address and an address not a domain', async () => {
  const { api } = await open();
  await expect(api.domains.put({ domain: 'a@b.example' })).rejects.toMatchObject({
    ...{ status: 400, message: expect.stringContaining('Add it as an address') },
  });
  expect(await statusOf(api.addresses.put({ address: 'b.example' }))).toBe(400);
  await api.addresses.put({ address: 'a@b.example' });
  expect((await api.domains.list()).data.map(({ domain }) => domain)).toEqual(['example.com']);
});

it('only operators vouch for a sender', async () => {
  const { api, id } = await open();
  const owner = await openSignedIn(service, { accountId: id });
  for (const { domains, addresses } of [api, owner.api]) {
    expect(await statusOf(domains.put({ domain: 'not-mine.example', vouched: true }))).toBe(403);
    expect(await statusOf(addresses.put({ address: 'a@not-mine.example', vouched: true }))).toBe(
      403,
    );
  }
  expect(await statusOf(api.domains.get({ domain: 'not-mine.example' }))).toBe(404);
  const operator = await openSignedIn(service, { accountId: id, operator: true });
  const vouched = await operator.api.domains.put({ domain: 'known.example', vouched: true });
  expect(vouched).toMatchObject({ verified: true, verified_by: 'operator' });
});
