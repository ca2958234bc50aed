// Partitions: one a day for messages, contents, events and webhook deliveries, made ahead and dropped when their days are over.
// Called at start and by the maintenance task; dropping a partition is how old data goes, without a DELETE.
import { firstUuidAt } from '../ids.ts';
import type { Database, Queryable } from './pool.ts';

const PARTITION_LOCK = 7_263_002;
const DAY_MS = 86_400_000;
/** A start that finds no maintenance for a week still has somewhere to put today's mail. */
const DAYS_AHEAD = 7;

/** Small rows that are updated leave room for it on their page; payloads of up to 8 KB stay in the row, which saves a TOAST insert. */
const tables = [
  { name: 'messages', settings: 'fillfactor = 80' },
  { name: 'contents', settings: 'toast_tuple_target = 8160' },
  { name: 'events', settings: 'fillfactor = 100' },
  { name: 'webhook_deliveries', settings: 'fillfactor = 80' },
] as const;

export interface Retention {
  retentionDays: number;
  contentRetentionDays: number;
}

/** Makes the partitions of yesterday (for ids of clocks that run behind) to a week ahead. */
export async function makePartitions(database: Database, nowMs: number): Promise<void> {
  await database.transaction(async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [PARTITION_LOCK]);
    const present = new Set((await listPartitions(client)).map((partition) => partition.name));
    const today = Math.floor(nowMs / DAY_MS);
    for (const table of tables) {
      for (let day = today - 1; day <= today + DAYS_AHEAD; day++) {
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

/** Drops what is past its days. Answers the names of the partitions that went. */
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
    await client.query('SELECT pg_advisory_xact_lock($1)', [PARTITION_LOCK]);
    const dropped: string[] = [];
    for (const partition of await listPartitions(client)) {
      if (partition.day >= oldest[partition.table]) continue;
      await client.query(`DROP TABLE ${partition.name}`);
      dropped.push(partition.name);
    }
    return dropped;
  });
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
