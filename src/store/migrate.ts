// The schema: numbered migrations, forward only, then the functions, each replaced when its text changed.
// Ten processes may start at once: an advisory lock lets one work, the rest find it done.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { Problem } from '../errors.ts';
import type { Database, Queryable } from './pool.ts';

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
    await replaceFunctions(client);
    return applied;
  });
}

/**
 * A function lives in one file, so that a change of it is a change of that file. A new list of arguments makes a function
 * beside the old one: processes of the previous version go on calling theirs.
 */
async function replaceFunctions(client: Queryable): Promise<void> {
  await client.query(
    'CREATE TABLE IF NOT EXISTS schema_functions (name text PRIMARY KEY, hash bytea NOT NULL)',
  );
  const rows = await client.query<{ name: string; hash: Buffer }>('SELECT * FROM schema_functions');
  const present = new Map(rows.map((row) => [row.name, row.hash]));
  for (const { name, sql } of readSql('./functions/')) {
    const hash = createHash('sha256').update(sql).digest();
    if (present.get(name)?.equals(hash)) continue;
    await client.query(sql);
    await client.query(
      'INSERT INTO schema_functions VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET hash = excluded.hash',
      [name, hash],
    );
  }
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

const readMigrations = (): Migration[] =>
  readSql('./migrations/').map(({ name, sql }) => ({
    version: Number.parseInt(name, 10),
    name: name.replace(/^\d+_/, ''),
    sql,
  }));

function readSql(path: string): { name: string; sql: string }[] {
  const folder = new URL(path, import.meta.url);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({
      name: file.replace(/\.sql$/, ''),
      sql: readFileSync(new URL(file, folder), 'utf8'),
    }));
}
