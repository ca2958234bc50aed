// The other pages of the dashboard, each tested with its main task over the real server.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDns, type TestDns } from '../support/dns-server.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type DashboardClient, openSignedIn } from './dashboard-client.ts';

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

  it('captured email is shown to its account only, and cleared for it only', async () => {
    const other = await service.account();
    const neighbour = await openSignedIn(service, { accountId: other.id });
    await service.send(other.key, anEmail({ subject: 'Theirs' }));
    await until(async () => (await neighbour.api.sandbox.list()).data.length === 1);
    const fresh = await service.account();
    const owner = await openSignedIn(service, { accountId: fresh.id });
    await service.send(
      fresh.key,
      anEmail({
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
