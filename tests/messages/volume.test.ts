// Volume: what was counted once keeps its meaning, whatever statuses are added later.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAccount } from '../../src/accounts/accounts.ts';
import { firstUuidAt } from '../../src/ids.ts';
import { readVolume } from '../../src/messages/volume.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const HOUR_MS = 3_600_000;
let test: TestDatabase;
let accountId: number;
beforeAll(async () => {
  test = await createTestDatabase();
  ({ id: accountId } = await createAccount(test.database, { name: 'Counted', plan: 'paid' }));
});
afterAll(() => test.drop());

const thisHour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
const period = { fromMs: thisHour - 2 * HOUR_MS, untilMs: thisHour + HOUR_MS };
const read = () => readVolume(test.database, accountId, period, Date.now());

it('counts by status, leaves out empty hours, and keeps what it counted', async () => {
  for (const [n, status] of ['sent', 'bounced', 'bounced'].entries()) {
    await test.database.query(
      `INSERT INTO messages (account_id, id, status, from_email, recipients, subject, door)
       VALUES ($1, $2, $3, 'a@example.com', '{b@example.net}', '', 'rest')`,
      [accountId, firstUuidAt(thisHour + n), status],
    );
  }
  const counts = {
    queued: 0,
    sent: 1,
    delivered: 0,
    opened: 0,
    clicked: 0,
    bounced: 2,
    complained: 0,
  };
  const counted = { hours: [{ hourMs: thisHour, counts }], complete: true };
  expect(await read()).toEqual(counted);
  await test.database.query('DELETE FROM messages');
  expect(await read()).toEqual(counted);
});

it('a status added between two others relabels no hour that was counted before', async () => {
  await test.database.query(`ALTER TYPE message_status ADD VALUE 'deferred' BEFORE 'delivered'`);
  const [hour] = (await read()).hours;
  expect(hour?.counts).toMatchObject({ sent: 1, bounced: 2 });
  const kept = await test.database.query(
    `SELECT counts FROM message_hours WHERE account_id = $1 ORDER BY hour DESC`,
    [accountId],
  );
  expect(kept).toEqual([{ counts: { sent: 1, bounced: 2 } }, { counts: {} }, { counts: {} }]);
});
