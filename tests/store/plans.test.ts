// Plans: a statement that was prepared while a table was empty must not be run as if it still were.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/pool.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

/**
 * A joined subquery that locks and has a limit: planned for an empty table, it runs again for every
 * row of the other side.
 */
const CLAIM = `
  UPDATE jobs j SET claims = j.claims + 1
  FROM (SELECT account_id, id FROM jobs
        WHERE due_at <= $1 ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED) c
  WHERE j.account_id = c.account_id AND j.id = c.id RETURNING j.id`;

it('claiming 100 of 5,000 reads each about once, although the table was empty and vacuumed when it was prepared', async () => {
  const { database } = test;
  await database.query(
    `CREATE TABLE jobs (account_id bigint, id bigint, due_at timestamptz, claims integer, PRIMARY KEY (account_id, id))
     WITH (autovacuum_enabled = off)`,
  );
  await database.query('CREATE INDEX ON jobs (due_at)');
  await database.query('VACUUM ANALYZE jobs');
  const read = await database.transaction(async (client) => {
    // From the sixth time on, PostgreSQL would keep the plan.
    for (let time = 0; time < 8; time++) await client.prepared('claim', CLAIM, [new Date(), 100]);
    await client.query(
      `INSERT INTO jobs SELECT 1, n, now() - interval '1 minute', 0 FROM generate_series(1, 5000) n`,
    );
    expect((await client.prepared('claim', CLAIM, [new Date(), 100])).length).toBe(100);
    const [stats] = await client.query<{ read: number }>(
      `SELECT (seq_tup_read + idx_tup_fetch)::int AS read
       FROM pg_stat_xact_user_tables WHERE relname = 'jobs'`,
    );
    return stats!.read;
  });
  expect(read).toBeLessThan(3 * 5000);
});

it('connections compile no plans and commit to disk, also where the URL has options of its own', async () => {
  const url = `${test.url}?options=${encodeURIComponent('-c jit=on -c synchronous_commit=off')}`;
  const database = openDatabase(url, { connections: 1, onIdleError: () => undefined });
  const rows = await database.query(
    `SELECT current_setting('jit') AS jit, current_setting('synchronous_commit') AS commit`,
  );
  expect(rows).toEqual([{ jit: 'off', commit: 'on' }]);
  await database.close();
});
