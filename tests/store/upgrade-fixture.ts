// A database as a released version left it (npm run fixture): its schema, its rows, and what is
// known of them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROWS_HERE } from '../../scripts/describe-schema.ts';
import type { Queryable } from '../../src/store/pool.ts';

export const FIXTURES = join(import.meta.dirname, '../fixtures/upgrade');

const read = (version: string, file: string) => readFileSync(join(FIXTURES, version, file), 'utf8');

export const factsOf = (version: string) => JSON.parse(read(version, 'facts.json'));

/** Into an empty database. */
export async function loadFixture(
  database: Pick<Queryable, 'query'>,
  version: string,
): Promise<void> {
  const [tables, rest] = read(version, 'schema.sql').split(ROWS_HERE);
  await database.query(tables!);
  for (const [table, rows] of Object.entries(JSON.parse(read(version, 'rows.json')))) {
    await database.query(
      `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1)`,
      [JSON.stringify(rows)],
    );
  }
  await database.query(rest!);
}
