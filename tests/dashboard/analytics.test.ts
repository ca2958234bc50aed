// Analytics count recipients, not messages: of one email to ten of whom one bounced, ten percent
// bounced.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { readAnalytics } from '../../src/messages/analytics.ts';
import { systemClock } from '../../src/process/clock.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let account: TestAccount;
let key: string;

beforeAll(async () => {
  service = await startTestService();
  account = await service.account();
  const scopes = ['usage:read'] as const;
  ({ key } = await createKey(service.database, systemClock, { accountId: account.id, scopes }));
});
afterAll(() => service.stop());

const send = async (changes: object) =>
  expect((await service.send(account.key, anEmail({ ...changes }))).status).toBe(202);

it('by recipient, and by what they were written for', async () => {
  const to = Array.from({ length: 9 }, (_, n) => `delivered+${n}@simulator.test`);
  await send({ to: [...to, 'bounce@simulator.test'], tags: ['news'] });
  const html = '<p><a href="https://example.com/">Look</a></p>';
  await send({ to: ['clicked@simulator.test'], tags: ['news', 'now'], html });
  await send({ to: ['complaint@simulator.test'] });
  await until(async () => {
    const rows = await service.database.query<{ kind: string; recipients: number }>(
      'SELECT kind, sum(cardinality(recipients))::int AS recipients FROM events WHERE account_id = $1 GROUP BY kind',
      [account.id],
    );
    const told = Object.fromEntries(rows.map(({ kind, recipients }) => [kind, recipients]));
    return (
      told.delivered === 11 && told.bounced === 1 && told.clicked === 1 && told.complained === 1
    );
  });
  const nowMs = Date.now();
  const read = async (by: 'tag' | 'domain' | 'relay') =>
    await readAnalytics(service.database, account.id, { days: 7, by }, nowMs);
  const { totals, by: tags, reasons, timeToDeliver, points } = await read('tag');
  expect(totals).toEqual({
    recipients: 12,
    delivered: 11,
    opened: 1,
    clicked: 1,
    bounced: 1,
    complained: 1,
  });
  expect(points).toHaveLength(7);
  expect(tags.map(({ value, recipients, bounced }) => [value, recipients, bounced])).toEqual([
    ['news', 11, 1],
    ['now', 1, 0],
  ]);
  expect(reasons).toEqual([{ reason: 'user-unknown', recipients: 1 }]);
  expect(timeToDeliver!.p95).toBeGreaterThanOrEqual(timeToDeliver!.p50);
  expect((await read('domain')).by.map(({ value }) => value)).toEqual(['simulator.test']);
  expect((await read('relay')).by).toMatchObject([
    { value: 'sandbox', recipients: 12, delivered: 11, bounced: 1 },
  ]);
});

it('another account sees none of it', async () => {
  const other = await service.account();
  const { totals, by } = await readAnalytics(
    service.database,
    other.id,
    { days: 1, by: 'tag' },
    Date.now(),
  );
  expect([totals.recipients, by]).toEqual([0, []]);
});

it('the API tells it', async () => {
  const { status, body } = await service.get(key, '/v1/analytics?days=1&by=stream');
  expect(status).toBe(200);
  expect(body.bucket).toBe('hour');
  expect(body.by[0].value).toBe('transactional');
});
