// What the other pages of the dashboard do, each walked through its main job over the real server.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDns, type TestDns } from '../support/dns-server.ts';
import { mailedInvitation } from '../support/invitation.ts';
import { mail, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type DashboardClient, openClient, openSignedIn, PASSWORD } from './dashboard-client.ts';

let service: TestService;
let dns: TestDns;
let account: { id: number; key: string };
let client: DashboardClient & { userId: string; email: string };

beforeAll(async () => {
  dns = await startDns();
  service = await startTestService({
    DNS_SERVERS: dns.address,
    SYSTEM_SENDER: 'Sandmartin <no-reply@system.example>',
  });
  await service.account({ identities: ['system.example'] });
  account = await service.account();
  client = await openSignedIn(service, { accountId: account.id });
});

afterAll(async () => {
  await service.stop();
  await dns.close();
});

describe('senders', () => {
  it('a domain: records, a check that says what lacks, and one that finds all', async () => {
    const added = await client.call('addDomain', { body: { domain: 'Acme.Example' } });
    expect(added).toMatchObject({ domain: 'acme.example', verified: false, checkedAt: null });
    expect(added.records.map(({ purpose }) => purpose)).toEqual([
      'ownership',
      'dkim-rsa',
      'dkim-ed25519',
      'spf',
      'dmarc',
      'return-path',
    ]);
    const params = { domain: 'acme.example' };
    const missing = await client.call('checkDomain', { params });
    expect(missing.records.every(({ check }) => check?.state === 'missing')).toBe(true);
    const { problems } = await client.call('getOverview', { query: {} });
    expect(problems).toContainEqual(
      expect.objectContaining({ kind: 'domain', subject: 'acme.example' }),
    );

    for (const { type, name, value } of added.records) dns.publish(type, name, value);
    const found = await client.call('checkDomain', { params });
    expect(found).toMatchObject({ verified: true, verifiedBy: 'dns' });
    expect(found.records.map(({ check }) => check?.state)).toEqual(Array(6).fill('ok'));
    expect((await service.send(account.key, mail({ from_email: 'a@acme.example' }))).status).toBe(
      202,
    );

    await client.call('removeDomain', { params });
    expect((await service.send(account.key, mail({ from_email: 'a@acme.example' }))).status).toBe(
      403,
    );
    expect((await client.try('checkDomain', { params })).status).toBe(404);
    expect((await client.try('removeDomain', { params: { domain: 'no domain' } })).status).toBe(
      404,
    );
  });

  it('an address: a link is mailed, and proves it', async () => {
    const added = await client.call('addAddress', { body: { address: 'me@elsewhere.example' } });
    expect(added).toMatchObject({ verified: false, note: null, linkUntil: expect.any(String) });
    const link = await until(async () => {
      const [row] = await service.database.query<{ raw: Buffer }>(
        `SELECT raw FROM sandbox_mails WHERE 'me@elsewhere.example' = ANY (recipients)`,
      );
      return row && /http:\/\/127\.0\.0\.1:\d+\/\S*?\/[\w-]{40}/.exec(row.raw.toString())?.[0];
    });
    expect((await fetch(link, { method: 'POST' })).status).toBe(200);
    const { addresses } = await client.call('listSenders', {});
    expect(addresses).toMatchObject([{ address: 'me@elsewhere.example', verifiedBy: 'link' }]);
    await client.call('removeAddress', { params: { address: 'me@elsewhere.example' } });
    expect((await client.call('listSenders', {})).addresses).toEqual([]);
  });
});

describe('keys', () => {
  it('carry scopes and rules, and are shown once', async () => {
    const limits = { allowedRecipients: ['Example.NET'], noBcc: true, dailyCap: 10 };
    const { key, secret } = await client.call('createKey', {
      body: { name: 'For an agent', scopes: ['email:send'], limits },
    });
    expect(key).toMatchObject({
      name: 'For an agent',
      limits: { allowedRecipients: ['example.net'], noBcc: true, dailyCap: 10, sandboxOnly: false },
    });
    expect(key.lastUsedAt).toBeNull();
    expect((await service.send(secret, mail())).status).toBe(202);
    const used = (await client.call('listKeys', {})).keys.find(({ id }) => id === key.id)!;
    expect(used.lastUsedAt).not.toBeNull();
    const elsewhere = await service.send(secret, mail({ to: ['ada@example.org'] }));
    expect(elsewhere.status).toBe(403);
    expect(JSON.stringify(await client.call('listKeys', {}))).not.toContain(secret);
    const tooMuch = { scopes: ['email:send'], limits: { dailyCap: 1_000_000 } };
    expect((await client.try('createKey', { body: tooMuch })).status).toBe(400);
  });
});

describe('suppressions and the sandbox', () => {
  it('an address is added, found and removed', async () => {
    for (const address of ['B@example.org', 'a@example.org', 'c@example.net']) {
      await client.api.suppressions.put({ address });
    }
    const { data } = await client.api.suppressions.list({ search: 'EXAMPLE.ORG' });
    expect(data.map(({ address, reason }) => [address, reason])).toEqual([
      ['a@example.org', 'manual'],
      ['b@example.org', 'manual'],
    ]);
    const all = [];
    for await (const row of client.api.suppressions.list({ limit: 2 })) all.push(row);
    expect(all.length).toBe(3);
    await client.api.suppressions.remove({ address: 'b@example.org' });
    await expect(
      client.api.suppressions.remove({ address: 'b@example.org' }),
    ).rejects.toMatchObject({ status: 404, code: 'not-found' });
  });

  it('captured mail is shown to its account only, and cleared for it only', async () => {
    const other = await service.account();
    const neighbour = await openSignedIn(service, { accountId: other.id });
    await service.send(other.key, mail({ subject: 'Theirs' }));
    await until(async () => (await neighbour.api.sandbox.list()).data.length === 1);
    const fresh = await service.account();
    const owner = await openSignedIn(service, { accountId: fresh.id });
    await service.send(
      fresh.key,
      mail({
        subject: 'Grüße',
        html: '<p>ä</p>',
        attachments: [
          { filename: 'a.txt', content_base64: 'aGVsbG8=', content_type: 'text/plain' },
        ],
      }),
    );
    const [row] = await until(async () => {
      const { data } = await owner.api.sandbox.list();
      return data.length === 1 ? data : undefined;
    });
    const shown = await owner.api.sandbox.get({ id: row!.id });
    expect([shown.html!.trim(), shown.text!.trim()]).toEqual(['<p>ä</p>', 'Hello!']);
    expect(shown).toMatchObject({
      subject: 'Grüße',
      attachments: [{ filename: 'a.txt', content_type: 'text/plain', size: 5 }],
    });
    expect(shown.headers).toContainEqual({ name: 'To', value: 'ada@example.net' });
    expect(await owner.api.sandbox.clear()).toEqual({ cleared: 1 });
    expect((await owner.api.sandbox.list()).data).toEqual([]);
    expect((await neighbour.api.sandbox.list()).data).toHaveLength(1);
  });
});

describe('account and operator', () => {
  it('the account shows its plan and what is held back, and changes its switches', async () => {
    const shown = await client.call('getAccount', {});
    expect(shown).toMatchObject({ plan: 'paid', suspended: null, blocked: [] });
    const changed = await client.call('changeAccount', {
      body: { name: 'Renamed', trackOpens: false },
    });
    expect(changed).toMatchObject({
      name: 'Renamed',
      tracking: { trackOpens: false, trackClicks: true },
    });

    const free = await service.account({ plan: 'free', identities: [] });
    const poor = await openSignedIn(service, { accountId: free.id });
    const { blocked, quota } = await poor.call('getAccount', {});
    expect(quota).toMatchObject({ limit: 0, left: 0 });
    expect(blocked.map(({ why }) => why)).toEqual([
      expect.stringContaining('402'),
      expect.stringContaining('Senders'),
    ]);
    await expect(
      poor.api.templates.testSend({ slug: 'receipt', to: 'a@b.example' }),
    ).rejects.toMatchObject({ status: 402 });
  });

  it('an operator makes, changes, suspends and resumes accounts', async () => {
    const operator = await openSignedIn(service, { operator: true });
    const { account: made, invited } = await operator.call('createAccount', {
      body: { name: 'New', plan: 'free', ownerEmail: 'first@people.example' },
    });
    expect(made).toMatchObject({ name: 'New', plan: 'free', members: 0, suspended: null });
    expect(invited).toMatchObject({ link: null, note: null });
    const { token } = await mailedInvitation(service.database, 'first@people.example');
    const owner = openClient(service.url);
    const me = await owner.call('acceptInvitation', {
      body: { token, password: PASSWORD, name: 'First' },
    });
    expect(me.account).toMatchObject({ id: made.id, role: 'owner', plan: 'free' });

    const params = { id: String(made.id) };
    const paid = await operator.call('changeOperatedAccount', {
      params,
      body: { plan: 'paid', dailyQuota: 7, ratePerSecond: 3 },
    });
    expect(paid).toMatchObject({ plan: 'paid', dailyQuota: 7, ratePerSecond: 3, members: 1 });
    const { secret } = await owner.call('createKey', { body: { scopes: ['email:read'] } });
    expect((await service.get(secret, '/v1/messages/msg_0')).status).toBe(404);

    const suspended = await operator.call('suspendAccount', {
      params,
      body: { reason: 'Unpaid bill' },
    });
    expect(suspended.suspended).toMatchObject({ reason: 'Unpaid bill' });
    const refused = await service.get(secret, '/v1/messages/msg_0');
    expect(refused.status).toBe(403);
    expect(refused.body.detail).toContain('suspended: Unpaid bill.');
    expect((await owner.call('getSession', {})).me!.account!.suspended).toBe(true);
    const { problems } = await owner.call('getOverview', { query: {} });
    expect(problems[0]).toMatchObject({ kind: 'suspended', severity: 'critical' });

    expect((await operator.call('resumeAccount', { params })).suspended).toBeNull();
    expect((await service.get(secret, '/v1/messages/msg_0')).status).toBe(404);
    expect(
      (await operator.try('suspendAccount', { params: { id: '999999' }, body: { reason: 'x' } }))
        .status,
    ).toBe(404);
    expect((await operator.try('resumeAccount', { params: { id: 'x' } })).status).toBe(404);
  });
});
