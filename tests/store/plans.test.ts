// Plans: a statement that was prepared while a table was empty must not be run as if it still were.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordEvents } from '../../src/events/record.ts';
import { uuidToBytes } from '../../src/ids.ts';
import { makeDays } from '../../src/store/partitions.ts';
import { openDatabase, type Queryable } from '../../src/store/pool.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeAccount } from '../support/service.ts';

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

const makeMessages = async (client: Queryable, accountId: number, count: number) =>
  (
    await client.query<{ id: string }>(
      `INSERT INTO messages (account_id, id, from_email, recipients, subject, door)
       SELECT $1, uuid_at(clock_timestamp()), 'a@example.com', '{ada@example.net}', '', 'rest' FROM generate_series(1, $2)
       RETURNING id`,
      [accountId, count],
    )
  ).map(({ id }) => uuidToBytes(id));

const recordDelivered = (client: Queryable, accountId: number, messages: readonly Buffer[]) =>
  recordEvents(
    client,
    messages.map((messageId) => ({
      ...{ accountId, messageId, recipients: ['ada@example.net'] },
      ...{ kind: 'delivered' as const, detail: { smtp_response: '', reporting_mta: '' } },
    })),
    Date.now(),
  );

// Its plans are kept on purpose.
it('recording 200 events reads each message a few times, although there was one message when it was first done', async () => {
  const { database } = test;
  const { id: accountId } = await makeAccount(database);
  const first = await makeMessages(database, accountId, 1);
  await database.query('VACUUM ANALYZE messages, events');
  const read = await database.transaction(async (client) => {
    for (let time = 0; time < 8; time++) await recordDelivered(client, accountId, first);
    const many = await makeMessages(client, accountId, 5000);
    const before = await readOf(client);
    expect(await recordDelivered(client, accountId, many.slice(0, 200))).toHaveLength(200);
    return (await readOf(client)) - before;
  });
  expect(read).toBeGreaterThanOrEqual(200);
  expect(read).toBeLessThan(200 * 6);
});

/** Rows of messages and events that this transaction read, whatever it did with them. */
async function readOf(client: Queryable): Promise<number> {
  const [stats] = await client.query<{ read: number }>(
    `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS read
     FROM pg_stat_xact_user_tables WHERE relname ~ '^(messages|events)_'`,
  );
  return stats!.read;
}

// A kept plan locks the tables of every day, and the server has room for so many locks in all: with
// 400 days eleven processes that recorded at once left no room for anyone.
it('recording locks few tables, however many days are kept', async () => {
  const { database } = test;
  const [room] = await database.query<{ locks: number }>(
    `SELECT current_setting('max_locks_per_transaction')::integer AS locks`,
  );
  const today = Math.floor(Date.now() / 86_400_000);
  const days = Math.ceil(room!.locks * 0.7);
  for (let ago = 0; ago < days; ago += 20) await makeDays(database, today - ago - 19, today - ago);
  const { id: accountId } = await makeAccount(database);
  const messages = await makeMessages(database, accountId, 10);
  const [taken] = await database.transaction(async (client) => {
    for (const message of messages) await recordDelivered(client, accountId, [message]);
    return await client.query<{ locks: number }>(
      'SELECT count(*)::integer AS locks FROM pg_locks WHERE pid = pg_backend_pid()',
    );
  });
  expect(taken!.locks).toBeLessThan(64);
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
