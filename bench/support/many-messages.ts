// An account with as many messages as a benchmark wants, a fifth of them of yesterday and the rest
// of today. They are made inside the server, a statement for each stretch of the day, and indexed
// in between as maintenance does it.

import { indexFinishedDays, indexGrowingDay } from '../../src/messages/search-index.ts';
import { createLog } from '../../src/process/log.ts';
import { makePartitions } from '../../src/store/partitions.ts';
import type { Database } from '../../src/store/pool.ts';

export const DAY_MS = 86_400_000;
export const TODAY = Math.floor(Date.now() / DAY_MS);
const STRETCHES = 20;
const log = createLog('silent');

/**
 * A million rows and their indexes within a minute or so: nothing here has to survive a crash, and
 * what is measured afterwards reads, or is compared with itself.
 */
export async function loadQuickly(database: Database): Promise<void> {
  for (const setting of [
    "maintenance_work_mem = '512MB'",
    "max_wal_size = '16GB'",
    'synchronous_commit = off',
    'fsync = off',
    'full_page_writes = off',
    'autovacuum = off',
  ]) {
    await database.query(`ALTER SYSTEM SET ${setting}`);
  }
  await database.query('SELECT pg_reload_conf()');
}

interface Many {
  /** Those before it already exist. */
  from?: number;
  until: number;
  /** Each with two of them: sent and delivered. */
  events: boolean;
}

/** As two days grow: today gets a slice whenever maintenance finds that there is enough for one. */
export async function makeMessages(
  database: Database,
  accountId: number,
  { from = 0, until, events }: Many,
): Promise<void> {
  for (const day of [TODAY - 1, TODAY]) await makePartitions(database, day * DAY_MS);
  const count = until - from;
  const early = count / 5;
  const stretch = { accountId, from, count: early, atMs: (TODAY - 1) * DAY_MS, events };
  await load(database, { ...stretch, overMs: DAY_MS / 2 });
  await indexFinishedDays({ database, log, nowMs: TODAY * DAY_MS + DAY_MS / 2 });
  // Until now and not beyond: what is accepted afterwards stands at the end, as it does in life.
  const sinceMidnight = Date.now() - TODAY * DAY_MS;
  const piece = (count - early) / STRETCHES;
  for (let n = 0; n < STRETCHES; n++) {
    const atMs = TODAY * DAY_MS + Math.floor((n / STRETCHES) * sinceMidnight);
    const at = { atMs, overMs: sinceMidnight / STRETCHES };
    await load(database, { ...stretch, ...at, from: from + early + n * piece, count: piece });
    await database.query('ANALYZE messages');
    await indexGrowingDay({ database, log, nowMs: atMs + at.overMs + 10_000 });
  }
}

interface Stretch {
  accountId: number;
  from: number;
  count: number;
  atMs: number;
  overMs: number;
  events: boolean;
}

/** A hundred thousand people, forty templates, a tag of every thousandth. */
async function load(database: Database, stretch: Stretch): Promise<void> {
  const { accountId, from, count, atMs, overMs, events } = stretch;
  await database.query(
    `WITH made AS (
       INSERT INTO messages (account_id, id, status, from_email, recipients, subject, tags, template, door)
       SELECT $1, uuid_at(to_timestamp($4::float8 / 1000) + n * ($5::float8 / $3) * interval '1 ms'),
              (CASE WHEN n % 25 = 0 THEN 'bounced' WHEN n % 3 = 0 THEN 'opened' ELSE 'delivered' END)::message_status,
              'hello@shop' || n % 5 || '.example', ARRAY['person' || ($2 + n)::bigint * 7919 % 100000 || '@mail' || n % 50 || '.example'],
              'Your order ' || $2 + n || ' is on its way', ARRAY['orders', 'batch-' || ($2 + n) / 1000], 'template-' || n % 40, 'rest'
       FROM generate_series(1, $3::integer) n
       RETURNING account_id, id, recipients)
     INSERT INTO events (account_id, message_id, id, kind, at, sequence, recipients, detail)
     SELECT account_id, id, gen_random_uuid(), kind, now(), sequence, recipients, detail
     FROM made, (VALUES ('sent', 1, '{"subject": "Your order is on its way"}'::jsonb),
                        ('delivered', 2, '{"smtp_response": "250 2.0.0 Ok: queued as 4XyZ12abcD", "reporting_mta": "relay.example"}'))
                AS k (kind, sequence, detail)
     WHERE $6`,
    [accountId, from, count, atMs, overMs, events],
  );
}
