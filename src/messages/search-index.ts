// The search index of a day: made on its partition when the day is over, so that no send ever pays
// for it. search.ts uses it. Called by maintenance in every process; who comes second finds it done
// or under way.
import type { Log } from '../log.ts';
import type { Database } from '../store/pool.ts';

const DAY_MS = 86_400_000;
/** Ids of processes whose clocks run behind may still come. */
const SETTLED_AFTER_MS = 30 * 60_000;

interface DayIndex {
  table: string;
  day: number;
  /** Undefined: there is none; a broken one is what a stopped process left behind. */
  state: 'ready' | 'under way' | 'broken' | undefined;
}

/** Days since 1970 whose messages are indexed. */
export async function listIndexedDays(database: Database): Promise<ReadonlySet<number>> {
  const days = await listDays(database);
  return new Set(days.filter(({ state }) => state === 'ready').map(({ day }) => day));
}

/** CONCURRENTLY: opens and clicks of that day's messages go on meanwhile. */
export async function indexFinishedDays(deps: {
  database: Database;
  log: Log;
  nowMs: number;
}): Promise<void> {
  const { database, log, nowMs } = deps;
  for (const { table, day, state } of await listDays(database)) {
    if ((day + 1) * DAY_MS + SETTLED_AFTER_MS > nowMs) continue;
    if (state === 'ready' || state === 'under way') continue;
    try {
      await database.query(`DROP INDEX CONCURRENTLY IF EXISTS ${nameOf(table)}`);
      await database.query(
        `CREATE INDEX CONCURRENTLY IF NOT EXISTS ${nameOf(table)}
           ON ${table} USING gin (message_tokens(account_id, recipients, tags)) WITH (fastupdate = off)`,
      );
      await database.query(`ANALYZE ${table}`);
      log.info({ table }, 'indexed a finished day for searching');
    } catch (error) {
      // The day may just have been dropped, or another process began at the same moment. The next
      // run looks again.
      log.warn({ err: error, table }, 'could not index a finished day for searching');
    }
  }
}

const nameOf = (table: string): string => `${table}_search`;

async function listDays(database: Database): Promise<DayIndex[]> {
  const rows = await database.query<{ table: string; valid: boolean | null; running: boolean }>(
    `SELECT t.relname AS "table", i.indisvalid AS valid, p.pid IS NOT NULL AS running
     FROM pg_inherits h JOIN pg_class t ON t.oid = h.inhrelid
     LEFT JOIN pg_class c ON c.relname = t.relname || '_search' AND c.relnamespace = t.relnamespace
     LEFT JOIN pg_index i ON i.indexrelid = c.oid
     LEFT JOIN pg_stat_progress_create_index p ON p.relid = t.oid
     WHERE h.inhparent = 'messages'::regclass ORDER BY t.relname DESC`,
  );
  return rows.map(({ table, valid, running }) => ({
    table,
    day: readDay(table.slice(-8)),
    state: running ? 'under way' : valid === null ? undefined : valid ? 'ready' : 'broken',
  }));
}

/** `20261115` as days since 1970. */
const readDay = (name: string): number =>
  Date.UTC(Number(name.slice(0, 4)), Number(name.slice(4, 6)) - 1, Number(name.slice(6))) / DAY_MS;
