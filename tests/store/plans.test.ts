// Plans: a statement that was prepared while a table was empty must not be run as if it still were.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/pool.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

/** As the queue is claimed: a joined subquery that locks and is limited. */
const CLAIM = `
  UPDATE due_messages d SET attempts = d.attempts + 1
  FROM (SELECT account_id, message_id FROM due_messages
        WHERE due_at <= $1 ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED) c
  WHERE d.account_id = c.account_id AND d.message_id = c.message_id RETURNING d.account_id`;

it('claiming 100 of 5,000 reads them once at most, although the queue was empty and vacuumed when it was prepared', async () => {
  const { database } = test;
  await database.query('ALTER TABLE due_messages SET (autovacuum_enabled = off)');
  await database.query('VACUUM ANALYZE due_messages');
  const read = await database.transaction(async (client) => {
    // From the sixth time on, PostgreSQL would keep the plan.
    for (let time = 0; time < 8; time++) await client.prepared('claim', CLAIM, [new Date(), 100]);
    await client.query(
      `INSERT INTO due_messages (account_id, message_id, due_at, size)
       SELECT 1, gen_random_uuid(), now() - interval '1 minute', 1 FROM generate_series(1, 5000)`,
    );
    const rows = await client.prepared('claim', CLAIM, [new Date(), 100]);
    expect(rows.length).toBe(100);
    const [stats] = await client.query<{ read: number }>(
      `SELECT (seq_tup_read + idx_tup_fetch)::int AS read
       FROM pg_stat_xact_user_tables WHERE relname = 'due_messages'`,
    );
    return stats!.read;
  });
  expect(read).toBeLessThan(2 * 5000);
}, 60_000);

it('connections compile no plans and commit to disk, also where the URL has options of its own', async () => {
  const url = `${test.url}?options=${encodeURIComponent('-c jit=on -c synchronous_commit=off')}`;
  const database = openDatabase(url, { connections: 1, onIdleError: () => undefined });
  const rows = await database.query(
    `SELECT current_setting('jit') AS jit, current_setting('synchronous_commit') AS commit`,
  );
  expect(rows).toEqual([{ jit: 'off', commit: 'on' }]);
  await database.close();
});
