// Databases of before the first release: their schema came in fifteen small migrations, which are one baseline now. One that
// had them all is the same and goes on; asked by migrate.ts before it looks what is missing.
import { Problem } from '../errors.ts';
import type { Queryable } from './pool.ts';

const FORMER = [1, 2, 3, 4, 5, 6, 9, 11, 12, 13, 15, 16, 20, 23, 25];

export async function adoptBaseline(client: Queryable): Promise<void> {
  const rows = await client.query<{ version: number }>(
    `SELECT version FROM schema_migrations
     WHERE EXISTS (SELECT FROM schema_migrations WHERE version = 1 AND name = 'send_path')`,
  );
  if (rows.length === 0) return;
  const done = rows.map(({ version }) => version);
  if (!FORMER.every((version) => done.includes(version))) {
    throw new Problem(
      'unavailable',
      `The database was made by a development version before 0.1.0 (schema ${Math.max(...done)}) that cannot be upgraded. Start 0.1.0 with an empty database: set DATA_DIR to a new folder, or DATABASE_URL to a new database. The old one is left as it is, for the version that made it.`,
    );
  }
  await client.query('DELETE FROM schema_migrations WHERE version = ANY ($1)', [FORMER]);
  await client.query(`INSERT INTO schema_migrations (version, name) VALUES (1, 'baseline')`);
}
