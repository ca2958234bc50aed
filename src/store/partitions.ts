// Partitions: one per day for messages, contents, events and webhook deliveries, created ahead and
// dropped when their retention is over. Called at start and by the maintenance task; old data is
// deleted by dropping a partition, without a DELETE. If an email was scheduled, its day counts from
// when it is sent, and no day is dropped while anything in it is still to be handed over. If a
// row's day has no partition, because maintenance failed for a week or a clock jumped, it is
// created on the spot.
import { firstUuidAt, idTimeMs, uuidToBytes } from '../ids.ts';
import type { Database, Queryable } from './pool.ts';

const PARTITION_LOCK = 7_263_002;
const DAY_MS = 86_400_000;
/** A start after a week without maintenance still has a place for today's email. */
const DAYS_AHEAD = 7;

/**
 * Small rows that are updated get free space on their page; payloads of up to 8 KB stay in the row,
 * which saves a TOAST insert. Neighbouring messages are updated in one transaction, so half of a
 * page is for their new versions, which then need no entries of their own in the index.
 */
const tables = [
  { name: 'messages', settings: 'fillfactor = 50' },
  { name: 'contents', settings: 'toast_tuple_target = 8160' },
  { name: 'events', settings: 'fillfactor = 100' },
  { name: 'webhook_deliveries', settings: 'fillfactor = 80' },
] as const;

export interface Retention {
  retentionDays: number;
  contentRetentionDays: number;
}

/** Creates partitions from yesterday (for ids from clocks that are behind) to a week ahead. */
export async function makePartitions(database: Database, nowMs: number): Promise<void> {
  const today = Math.floor(nowMs / DAY_MS);
  await makeDays(database, today - 1, today + DAYS_AHEAD);
}

/** Creates those of a range of days, both ends included; existing ones stay. */
export async function makeDays(database: Database, from: number, to: number): Promise<void> {
  await database.transaction(async (client) => {
    await lock(client);
    const present = new Set((await listPartitions(client)).map((partition) => partition.name));
    for (const table of tables) {
      for (let day = from; day <= to; day++) {
        const name = `${table.name}_${dayName(day)}`;
        if (present.has(name)) continue;
        await client.query(
          `CREATE TABLE ${name} PARTITION OF ${table.name}
             FOR VALUES FROM ('${firstUuidAt(day * DAY_MS)}') TO ('${firstUuidAt((day + 1) * DAY_MS)}')
             WITH (${table.settings})`,
        );
      }
    }
  });
}

/**
 * One process at a time. Waiting for a table, perhaps behind a backup, would block everyone else:
 * it gives up and tries again later.
 */
async function lock(client: Queryable): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [PARTITION_LOCK]);
  await client.query(`SET LOCAL lock_timeout = '2s'`);
}

/**
 * The same database, but a missing partition is created on demand: the statement failed as a whole,
 * so it can be repeated. `maker` is where tables are created, one server of several.
 */
export function withPartitions(database: Database, maker: Database = database): Database {
  async function again<Result>(ask: () => Promise<Result>): Promise<Result> {
    try {
      return await ask();
    } catch (error) {
      const day = missingDay(error);
      if (day === undefined) throw error;
      await makeDays(maker, day, day);
      return await ask();
    }
  }
  const complete: Database = {
    ...database,
    near: () => complete,
    nodes: () => [{ name: 'database', database: complete }],
    query: (text, values) => again(() => database.query(text, values)),
    prepared: (name, text, values) => again(() => database.prepared(name, text, values)),
    call: (name, text, values) => again(() => database.call(name, text, values)),
    transaction: (work) => again(() => database.transaction(work)),
    close: () => database.close(),
  };
  return complete;
}

/**
 * PostgreSQL names the row without a partition: `Partition key of the failing row contains (id) =
 * (0198…).`
 */
function missingDay(error: unknown): number | undefined {
  const { code, message = '', detail = '' } = error as Record<string, string | undefined>;
  if (code !== '23514' || !message.startsWith('no partition of relation')) return undefined;
  const uuid = /\(([\da-f-]{36})\)/.exec(detail)?.[1];
  if (uuid === undefined) return undefined;
  return Math.floor(idTimeMs(uuidToBytes(uuid)) / DAY_MS);
}

/** Drops what is past its retention. Returns the names of the dropped partitions. */
export async function dropOldPartitions(
  database: Database,
  nowMs: number,
  retention: Retention,
): Promise<string[]> {
  const today = Math.floor(nowMs / DAY_MS);
  const oldest = {
    messages: today - retention.retentionDays,
    events: today - retention.retentionDays,
    webhook_deliveries: today - retention.retentionDays,
    contents: today - Math.min(retention.contentRetentionDays, retention.retentionDays),
  };
  return await database.transaction(async (client) => {
    await lock(client);
    const dropped: string[] = [];
    const neededDay = rememberDays((day) => lastNeededDay(client, day));
    for (const partition of await listPartitions(client)) {
      const { table, day } = partition;
      if (day >= oldest[table]) continue;
      if (table !== 'webhook_deliveries' && (await neededDay(day)) >= oldest[table]) continue;
      await client.query(`DROP TABLE ${partition.name}`);
      dropped.push(partition.name);
    }
    return dropped;
  });
}

/** The last day on which an email accepted on this day is sent; infinite: one is still due. */
async function lastNeededDay(client: Queryable, day: number): Promise<number> {
  const bounds = [firstUuidAt(day * DAY_MS), firstUuidAt((day + 1) * DAY_MS)];
  const [row] = await client.query<{ due: boolean; last: Date | null }>(
    `SELECT EXISTS (SELECT 1 FROM due_messages WHERE message_id >= $1 AND message_id < $2) AS due,
            (SELECT max(scheduled_at) FROM messages
             WHERE id >= $1 AND id < $2 AND cancelled_at IS NULL) AS last`,
    bounds,
  );
  if (row!.due) return Number.POSITIVE_INFINITY;
  return Math.max(day, Math.floor((row!.last?.getTime() ?? 0) / DAY_MS));
}

/** A day has several partitions; it is looked up once. */
function rememberDays(look: (day: number) => Promise<number>): (day: number) => Promise<number> {
  const known = new Map<number, Promise<number>>();
  return (day) => {
    const found = known.get(day) ?? look(day);
    known.set(day, found);
    return found;
  };
}

/** Days that have a partition in any of the tables. */
export async function listDays(client: Queryable): Promise<number[]> {
  return [...new Set((await listPartitions(client)).map(({ day }) => day))].sort((a, b) => a - b);
}

interface Partition {
  name: string;
  table: (typeof tables)[number]['name'];
  day: number;
}

async function listPartitions(client: Queryable): Promise<Partition[]> {
  const rows = await client.query<{ table: Partition['table']; name: string }>(
    `SELECT parent.relname AS "table", child.relname AS name
     FROM pg_inherits JOIN pg_class parent ON parent.oid = inhparent JOIN pg_class child ON child.oid = inhrelid
     WHERE parent.oid = ANY ($1::regclass[])`,
    [tables.map((table) => table.name)],
  );
  return rows.map((row) => ({ ...row, day: readDay(row.name.slice(-8)) }));
}

const dayName = (day: number): string =>
  new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');

const readDay = (name: string): number =>
  Date.UTC(Number(name.slice(0, 4)), Number(name.slice(4, 6)) - 1, Number(name.slice(6))) / DAY_MS;
