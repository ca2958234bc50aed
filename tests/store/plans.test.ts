// Plans: a statement that was prepared while a table was empty must not be run as if it still were.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordEvents } from '../../src/events/record.ts';
import { openTimelines } from '../../src/events/timeline.ts';
import { bytesToUuid, uuidToBytes } from '../../src/ids.ts';
import { claimDue } from '../../src/queue/due.ts';
import { makeDays } from '../../src/store/partitions.ts';
import { type Database, joined, openDatabase, type Queryable } from '../../src/store/pool.ts';
import { type EventKey, loadEvents } from '../../src/webhooks/event-body.ts';
import { takeDue } from '../../src/webhooks/leases.ts';
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

it('loading 200 events for webhooks reads each a few times, although there was one when it was first done', async () => {
  const { database } = test;
  const { id: accountId } = await makeAccount(database);
  const keysOf = async (messages: readonly Buffer[]) => {
    await recordDelivered(database, accountId, messages);
    return await database.query<EventKey>(
      `SELECT account_id AS "accountId", message_id AS "messageUuid", id AS "eventUuid"
       FROM events WHERE account_id = $1 AND message_id = ANY ($2)`,
      [accountId, messages.map(bytesToUuid)],
    );
  };
  const first = await keysOf(await makeMessages(database, accountId, 1));
  await database.query('VACUUM ANALYZE messages, events');
  const fresh = openDatabase(test.url, { connections: 1, onIdleError: () => undefined });
  for (let time = 0; time < 8; time++) expect((await loadEvents(fresh, first)).size).toBe(1);
  const many = await keysOf(await makeMessages(database, accountId, 5000));
  const read = await fresh.transaction(async (client) => {
    expect((await loadEvents(joined(client), many.slice(0, 200))).size).toBe(200);
    return await readOf(client);
  });
  await fresh.close();
  expect(read).toBeGreaterThanOrEqual(200);
  expect(read).toBeLessThan(200 * 6);
});

it('reading 30 timelines reads each a few times, although there was one when it was first done', async () => {
  const { database } = test;
  const { id: accountId } = await makeAccount(database);
  const first = await makeMessages(database, accountId, 1);
  await database.query('VACUUM ANALYZE messages, events');
  const fresh = openDatabase(test.url, { connections: 1, onIdleError: () => undefined });
  const once = openTimelines(fresh);
  for (let time = 0; time < 8; time++) {
    expect((await once(accountId, bytesToUuid(first[0]!)))?.status).toBe('queued');
  }
  const many = await makeMessages(database, accountId, 5000);
  await recordDelivered(database, accountId, many.slice(0, 30));
  const read = await fresh.transaction(async (client) => {
    const timelineOf = openTimelines(joined(client));
    const timelines = await Promise.all(
      many.slice(0, 30).map((id) => timelineOf(accountId, bytesToUuid(id))),
    );
    expect(timelines.map((it) => it?.events.map(({ type }) => type))).toEqual(
      Array(30).fill(['delivered']),
    );
    return await readOf(client);
  });
  await fresh.close();
  expect(read).toBeGreaterThanOrEqual(30);
  expect(read).toBeLessThan(30 * 6);
});

// So are those of a claim.
it.each([
  ['empty', 0],
  ['long', 20_000],
])(
  'a claim of 100 reads each a few times, if the queue was %s when it was first made',
  async (_, queued) => {
    const { database } = test;
    const accounts = await Promise.all(Array.from({ length: 3 }, () => makeAccount(database)));
    const queue = (client: Queryable, count: number) =>
      client.query(
        `INSERT INTO due_messages (account_id, message_id, due_at, size)
       SELECT a, gen_random_uuid(), clock_timestamp(), 100 FROM unnest($1::bigint[]) a, generate_series(1, $2)`,
        [accounts.map(({ id }) => id), count],
      );
    await queue(database, queued);
    await database.query('VACUUM ANALYZE due_messages');
    // One connection, so that it is the first claim's plan.
    const fresh = openDatabase(test.url, { connections: 1, onIdleError: () => undefined });
    const lease = { id: randomUUID(), holds: () => true };
    const claim = async (client: Database) =>
      (await claimDue(client, lease, { most: 100, after: 0, full: [] }))?.rows.length ?? 0;
    for (let time = 0; time < 8; time++) await claim(fresh);
    await queue(database, 5000);
    const read = await fresh.transaction(async (client) => {
      expect(await claim(joined(client))).toBeGreaterThanOrEqual(100);
      return await readOf(client, 'due_messages');
    });
    await fresh.close();
    await database.query('DELETE FROM due_messages');
    expect(read).toBeLessThan(5000);
  },
);

// And those that take webhooks.
it.each([
  ['short', 20],
  ['long', 20_000],
])(
  'taking the webhooks of some endpoints reads those, if their backlogs were %s when it was first done',
  async (_, waiting) => {
    const { database } = test;
    const { id: accountId } = await makeAccount(database);
    await database.query(
      `INSERT INTO webhook_endpoints (account_id, id, url, secret, fifo)
       SELECT $1, gen_random_uuid(), 'https://hooks.example/', '', n % 2 = 0 FROM generate_series(1, 2000) n`,
      [accountId],
    );
    const wait = (client: Queryable, count: number) =>
      client.query(
        `INSERT INTO webhook_due (account_id, endpoint_id, delivery_id, message_id, event_id, due_at)
         SELECT $1, e.id, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now() - interval '1 minute'
         FROM (SELECT id FROM webhook_endpoints WHERE account_id = $1 ORDER BY id LIMIT 20) e, generate_series(1, $2) n`,
        [accountId, count / 20],
      );
    await wait(database, waiting);
    await database.query('VACUUM ANALYZE webhook_due, webhook_endpoints');
    const fresh = openDatabase(test.url, { connections: 1, onIdleError: () => undefined });
    const take = (client: Database, endpoints: number) =>
      takeDue(client, Date.now(), {
        ...{ lease: randomUUID(), leaseMs: 60_000, endpoints, kept: 0, rowsEach: 32 },
        ...{ served: [], short: [], inHand: [] },
      });
    for (let time = 0; time < 8; time++) await take(fresh, 1);
    await wait(database, 20_000);
    const read = await fresh.transaction(async (client) => {
      const taken = await take(joined(client), 10);
      expect(taken.map(({ rows }) => rows.length)).toEqual(Array(10).fill(32));
      return await readOf(client, 'webhook_(due|endpoints)');
    });
    await fresh.close();
    await database.query('DELETE FROM webhook_due');
    expect(read).toBeLessThan(1000);
  },
);

/** Rows that this transaction read, whatever it did with them. */
async function readOf(client: Queryable, tables = '(messages|events)_.*'): Promise<number> {
  const [stats] = await client.query<{ read: number }>(
    `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS read
     FROM pg_stat_xact_user_tables WHERE relname ~ ('^' || $1::text || '$')`,
    [tables],
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

it('the plan of a call is kept, that of another statement is made for its values', async () => {
  // Of three connections one is for calls, so each kind can be asked for what it has prepared.
  const database = openDatabase(test.url, { connections: 3, onIdleError: () => undefined });
  const LOOK = `SELECT generic_plans AS kept, custom_plans AS made FROM pg_prepared_statements
                WHERE name = $1::text`;
  const plansOf = async (ask: 'call' | 'prepared') => {
    for (let time = 0; time < 8; time++)
      await database[ask]('add', 'SELECT $1::integer + 1 AS n', [time]);
    return (await database[ask](`look at ${ask}`, LOOK, ['add']))[0];
  };
  expect(await plansOf('call')).toEqual({ kept: 8, made: 0 });
  expect(await plansOf('prepared')).toEqual({ kept: 0, made: 8 });
  await database.close();
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
