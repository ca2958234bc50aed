// Migrations: numbered SQL files, forward only. Ten processes may start at once: an advisory lock lets one work, the rest find it done.
import { readdirSync, readFileSync } from 'node:fs';
import { Problem } from '../errors.ts';
import type { Database } from './pool.ts';

const MIGRATION_LOCK = 7_263_001;

interface Migration {
  version: number;
  name: string;
  sql: string;
}

/** Brings the database to this program's schema. Answers the versions it applied. */
export async function migrate(database: Database): Promise<number[]> {
  const migrations = readMigrations();
  return await database.transaction(async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await client.query(
      `CREATE TABLE IF NOT EXISTS schema_migrations (
         version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
    );
    const rows = await client.query<{ version: number }>('SELECT version FROM schema_migrations');
    const done = new Set(rows.map((row) => row.version));
    refuseNewerSchema(done, migrations);
    const applied: number[] = [];
    for (const migration of migrations) {
      if (done.has(migration.version)) continue;
      await client.query(migration.sql);
      await client.query('INSERT INTO schema_migrations (version, name) VALUES ($1, $2)', [
        migration.version,
        migration.name,
      ]);
      applied.push(migration.version);
    }
    return applied;
  });
}

function refuseNewerSchema(done: Set<number>, migrations: Migration[]): void {
  const newest = migrations.at(-1)?.version ?? 0;
  const ahead = [...done].filter((version) => version > newest);
  if (ahead.length > 0) {
    throw new Problem(
      'unavailable',
      `The database was made by a newer Sandmartin (schema ${Math.max(...ahead)}, this one knows ${newest}). Start the newer version again, or restore a backup made before the upgrade.`,
    );
  }
}

function readMigrations(): Migration[] {
  const folder = new URL('./migrations/', import.meta.url);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({
      version: Number.parseInt(file, 10),
      name: file.replace(/^\d+_|\.sql$/g, ''),
      sql: readFileSync(new URL(file, folder), 'utf8'),
    }));
}
