// Usage and alerts: what the overview shows, as programs read it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pauseAccount } from '../../src/accounts/pause.ts';
import type { Sandmartin } from '../../src/client/sandmartin.ts';
import { bytesToUuid, newIdBytes } from '../../src/ids.ts';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import { startDns, type TestDns } from '../support/dns-server.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let dns: TestDns;
beforeAll(async () => {
  dns = await startDns();
  service = await startTestService({
    ...{ ROLES: 'api', DNS_SERVERS: dns.address, WEBHOOK_ALLOW: '127.0.0.0/8' },
  });
});
afterAll(async () => {
  await service.stop();
  await dns.close();
});

async function open(wish: Parameters<TestService['account']>[0] = {}) {
  const { id } = await service.account(wish);
  const { api } = await openSignedIn(service, { accountId: id });
  return { id, api };
}

const kinds = async (api: Sandmartin) =>
  (await api.usage.listAlerts()).data.map(({ kind, severity }) => [kind, severity]);

/** So many messages of now, in this status. */
const fill = (accountId: number, count: number, status: string) =>
  service.database.query(
    `INSERT INTO messages (account_id, id, status, from_email, recipients, subject, door)
     SELECT $1, id, $3::message_status, 'a@example.com', '{b@example.net}', 'x', 'rest'
     FROM unnest($2::uuid[]) AS t (id)`,
    [accountId, Array.from({ length: count }, () => bytesToUuid(newIdBytes(Date.now()))), status],
  );

describe('alerts', () => {
  it('are none where all is well', async () => {
    const { api } = await open();
    expect(await kinds(api)).toEqual([]);
  });

  it('tell of a plan, a sender and a pause that keep the account from sending', async () => {
    const { api, id } = await open({ plan: 'free', identities: [] });
    expect(await kinds(api)).toEqual([
      ['free-plan', 'warning'],
      ['no-sender', 'critical'],
    ]);
    await pauseAccount(service.database, id, 'too much of it bounced');
    const [first] = (await api.usage.listAlerts()).data;
    expect(first).toMatchObject({ kind: 'paused', detail: expect.stringContaining('bounced') });
  });

  it('tell of a domain whose records are not there, until they are', async () => {
    const { api } = await open();
    const { records } = await api.domains.put({ domain: 'acme.example' });
    await api.domains.check({ domain: 'acme.example' });
    const { data } = await api.usage.listAlerts();
    expect(data).toMatchObject([{ kind: 'domain', subject: 'acme.example', resource: 'senders' }]);
    for (const { type, name, value } of records) dns.publish(type, name, value);
    await api.domains.check({ domain: 'acme.example' });
    expect(await kinds(api)).toEqual([]);
  });

  it('tell of rates at which email is turned away, of enough email only', async () => {
    const { api, id } = await open();
    await fill(id, 9, 'bounced');
    expect(await kinds(api)).toEqual([]);
    await fill(id, 90, 'delivered');
    await fill(id, 1, 'complained');
    // Figures of the current hour are counted again after ten seconds; a test does not wait.
    const countAnew = () => service.database.query('DELETE FROM message_hours');
    await countAnew();
    expect(await kinds(api)).toEqual([['bounce-rate', 'warning']]);
    await fill(id, 1, 'complained');
    await countAnew();
    expect(await kinds(api)).toEqual([
      ['bounce-rate', 'warning'],
      ['complaint-rate', 'warning'],
    ]);
    await fill(id, 3, 'complained');
    await countAnew();
    expect(await kinds(api)).toEqual([
      ['bounce-rate', 'warning'],
      ['complaint-rate', 'critical'],
    ]);
  });

  it('tell of a quota that is nearly used up, and of one that is', async () => {
    const { api, id } = await open({ dailyQuota: 10 });
    const use = (recipients: number) =>
      service.database.query(
        `INSERT INTO account_usage (account_id, day, recipients, tokens, refilled_at)
         VALUES ($1, (now() AT TIME ZONE 'UTC')::date, $2, 0, now())
         ON CONFLICT (account_id) DO UPDATE SET recipients = excluded.recipients`,
        [id, recipients],
      );
    await use(9);
    expect(await api.usage.get()).toMatchObject({ limit: 10, used: 9, left: 1 });
    expect(await kinds(api)).toEqual([['quota', 'warning']]);
    await use(10);
    expect(await kinds(api)).toEqual([['quota', 'critical']]);
  });

  it('tell of a webhook endpoint that is gone', async () => {
    const { api, id } = await open();
    const endpoint = await api.webhooks.create({ url: 'http://127.0.0.1:9999/' });
    await service.database.query(
      `UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = 'gone' WHERE account_id = $1`,
      [id],
    );
    expect((await api.usage.listAlerts()).data).toMatchObject([
      { kind: 'webhook', severity: 'critical', subject: endpoint.id },
    ]);
  });
});
