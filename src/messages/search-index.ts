// The search index of a day, built after its newest messages, so that no send ever pays for it: as
// a day grows, each further stretch of it gets its own index (a slice), and when the day is over
// one index replaces them. search.ts uses them. Called by maintenance in every process; the second
// process finds the work done or under way.
import { firstUuidAt } from '../ids.ts';
import type { Log } from '../process/log.ts';
import type { Database } from '../store/pool.ts';

const DAY_MS = 86_400_000;
/** Ids from processes whose clocks are behind may still arrive. */
const SETTLED_AFTER_MS = 30 * 60_000;
/** What is newer is still being written; what still arrives late goes into the slice. */
const SLICE_ENDS_BEFORE_MS = 10_000;
/** As many messages as a search can quickly read one by one. */
const LEAST_SLICE = 20_000;
/**
 * …and for a large day, this share of it: building a slice reads the whole day, every insert checks
 * the bounds of all slices, and so does planning each statement of a search, which makes 5 ms of a
 * search through 20 slices, 16 through 40, 43 through 72. At a twentieth, a day of a million has
 * about 40; at a tenth, 80,000 could be left to be read one by one, which took 0.3 s
 * (bench/growth.ts).
 */
const LEAST_SHARE = 0.05;

/** A range of ids that one index covers: from the first up to, but not including, the second. */
export interface IndexedRange {
  from: string;
  until: string;
  /** The table of the day; of several days, the newest one's. */
  table: string;
}

interface SearchIndex extends IndexedRange {
  name: string;
  isSlice: boolean;
  /** `broken`: left behind by a process that was stopped. */
  state: 'ready' | 'under way' | 'broken';
}

/**
 * Newest first. Consecutive finished days form one range of at most a week: one statement reads
 * them all.
 */
export async function listIndexedRanges(database: Database): Promise<IndexedRange[]> {
  const ready = (await listIndexes(database)).filter(({ state }) => state === 'ready');
  const whole = new Set(ready.filter(({ isSlice }) => !isSlice).map(({ table }) => table));
  const ranges: (IndexedRange & { isSlice: boolean; days: number })[] = [];
  for (const { from, until, isSlice, table } of ready) {
    // When the day's own index is new, its slices may still exist.
    if (isSlice && whole.has(table)) continue;
    const last = ranges.at(-1);
    if (last && !isSlice && !last.isSlice && last.from === until && last.days < 7) {
      last.from = from;
      last.days++;
    } else ranges.push({ from, until, table, isSlice, days: 1 });
  }
  return ranges.map(({ from, until, table }) => ({ from, until, table }));
}

interface IndexDeps {
  database: Database;
  log: Log;
  nowMs: number;
}

/** CONCURRENTLY: opens and clicks of that day's messages continue in the meantime. */
export async function indexFinishedDays({ database, log, nowMs }: IndexDeps): Promise<void> {
  const indexes = await listIndexes(database);
  for (const { table, day } of await listDays(database)) {
    if ((day + 1) * DAY_MS + SETTLED_AFTER_MS > nowMs) continue;
    const own = indexes.filter((index) => index.table === table);
    const whole = own.find(({ isSlice }) => !isSlice);
    if (whole?.state === 'under way') continue;
    if (whole?.state !== 'ready') {
      await make(
        { database, log },
        wholeName(table),
        table,
        'indexed a finished day for searching',
      );
    }
    for (const { name } of own.filter(({ isSlice }) => isSlice)) await drop(database, name);
  }
}

/** The next slice of the current day, if it has grown enough. */
export async function indexGrowingDay({ database, log, nowMs }: IndexDeps): Promise<void> {
  const today = Math.floor(nowMs / DAY_MS);
  const table = (await listDays(database)).find(({ day }) => day === today)?.table;
  if (table === undefined) return;
  const slices = (await listIndexes(database)).filter((index) => index.table === table);
  if (slices.some(({ state }) => state === 'under way')) return;
  for (const { name, state } of slices) if (state === 'broken') await drop(database, name);
  const ready = slices.filter(({ state }) => state === 'ready');
  const { messages, indexed } = await sizeOf(database, table);
  if (messages - indexed < Math.max(LEAST_SLICE, indexed * LEAST_SHARE)) return;
  const from = ready[0]?.until ?? firstUuidAt(today * DAY_MS);
  const until = firstUuidAt(nowMs - SLICE_ENDS_BEFORE_MS);
  if (until <= from) return;
  const where = `WHERE id >= '${from}' AND id < '${until}'`;
  await make(
    { database, log },
    `${wholeName(table)}_${slices.length + 1}`,
    table,
    'indexed a slice of today for searching',
    where,
  );
}

async function make(
  { database, log }: Pick<IndexDeps, 'database' | 'log'>,
  name: string,
  table: string,
  what: 'indexed a finished day for searching' | 'indexed a slice of today for searching',
  where = '',
): Promise<void> {
  try {
    await drop(database, name);
    await database.query(
      `${CREATE_INDEX} ${name} ON ${table} USING gin (message_words(
         account_id, from_email, recipients, tags, template, stream, subject))
       WITH (fastupdate = off) ${where}`,
    );
    // Autovacuum analyses a growing day.
    if (where === '') await database.query(`ANALYZE ${table}`);
    log.info({ table }, what);
  } catch (error) {
    // The day may have been dropped a moment ago, or another process began at the same time. The
    // next run looks again.
    log.warn({ err: error, table }, 'could not index messages for searching');
  }
}

const CREATE_INDEX = 'CREATE INDEX CONCURRENTLY IF NOT EXISTS';

const drop = (database: Database, name: string) =>
  database.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);

const wholeName = (table: string): string => `${table}_words`;

interface Day {
  table: string;
  day: number;
}

async function listDays(database: Database): Promise<Day[]> {
  const rows = await database.query<{ table: string }>(
    `SELECT t.relname AS "table"
     FROM pg_inherits h JOIN pg_class t ON t.oid = h.inhrelid
     WHERE h.inhparent = 'messages'::regclass ORDER BY t.relname DESC`,
  );
  return rows.map(({ table }) => ({ table, day: dayOf(table) }));
}

/** Roughly how many messages a day has, and how many of them its slices cover. */
async function sizeOf(database: Database, table: string) {
  const [size] = await database.query<{ messages: number; indexed: number }>(
    'SELECT * FROM day_size($1::regclass)',
    [table],
  );
  return size!;
}

/**
 * Newest first. Whether one is being built is asked by the statement that builds it: PostgreSQL's
 * view of progress does not know what the nodes of a Citus build.
 */
async function listIndexes(database: Database): Promise<SearchIndex[]> {
  const rows = await database.query<{
    name: string;
    table: string;
    valid: boolean;
    running: boolean;
    bounds: string | null;
  }>(
    `SELECT c.relname AS name, t.relname AS "table", i.indisvalid AS valid,
            EXISTS (SELECT FROM pg_stat_activity s WHERE s.datname = current_database() AND s.state = 'active'
                      AND starts_with(s.query, '${CREATE_INDEX} ' || c.relname || ' ON ')) AS running,
            pg_get_expr(i.indpred, i.indrelid) AS bounds
     FROM pg_inherits h JOIN pg_class t ON t.oid = h.inhrelid
     JOIN pg_index i ON i.indrelid = t.oid
     JOIN pg_class c ON c.oid = i.indexrelid AND starts_with(c.relname, t.relname || '_words')
     WHERE h.inhparent = 'messages'::regclass`,
  );
  return rows
    .map(({ name, table, valid, running, bounds }): SearchIndex => {
      const day = dayOf(table);
      const [from, until] = bounds?.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? [];
      return {
        name,
        table,
        isSlice: bounds !== null,
        state: running ? 'under way' : valid ? 'ready' : 'broken',
        from: from ?? firstUuidAt(day * DAY_MS),
        until: until ?? firstUuidAt((day + 1) * DAY_MS),
      };
    })
    .sort((one, other) => (one.until < other.until ? 1 : -1));
}

/** Days since 1970, from a table name such as one that ends in `20261115`. */
function dayOf(table: string): number {
  const name = table.slice(-8);
  const [year, month, day] = [name.slice(0, 4), name.slice(4, 6), name.slice(6)].map(Number);
  return Date.UTC(year!, month! - 1, day!) / DAY_MS;
}
