// Which tables a backup holds, and a plain connection that COPY can use.
import type pg from 'pg';
import { copyOut, readValue } from '../copy-out.ts';
import type { Queryable } from '../pool.ts';

export interface Table {
  name: string;
  columns: string[];
}

/**
 * What migrating creates itself, and the signs of life of processes that will be gone; leases are
 * kept, since they expire and hand back what was in progress.
 */
const NOT_KEPT = ['schema_migrations', 'schema_functions', 'processes', 'delivery_processes'];

export async function listTables(database: Queryable): Promise<Table[]> {
  return await database.query<{ name: string; columns: string[] }>(
    `SELECT t.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
     FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0
     WHERE t.relnamespace = 'public'::regnamespace AND t.relkind IN ('r', 'p') AND NOT t.relispartition
       AND NOT a.attisdropped AND a.attgenerated = '' AND t.relname <> ALL ($1)
       AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = t.oid AND deptype = 'e')
     GROUP BY t.relname ORDER BY t.relname`,
    [NOT_KEPT],
  );
}

export const queryable = (client: pg.Client): Queryable => ({
  async query<Row>(text: string, values?: unknown[]) {
    return (await client.query(text, values)).rows as Row[];
  },
  async prepared<Row>(name: string, text: string, values: unknown[]) {
    return (await client.query({ name, text, values })).rows as Row[];
  },
  async call<Row>(name: string, text: string, values: unknown[]) {
    return (await client.query({ name, text, values })).rows as Row[];
  },
  readValue: (select, whole) => readValue(client.query(copyOut(select)), whole),
  home: () => null,
});
