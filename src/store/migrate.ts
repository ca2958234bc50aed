// The schema: numbered migrations, forward only, each in its own transaction, then the functions,
// each replaced when its text has changed. Before it: the database is reachable. After it: every
// folder above finds the tables it knows.
//
// Ten processes may start at once: an advisory lock lets one work at a time, the rest find it done.
// Processes of the previous version keep sending, so a migration never waits long for a table:
// every statement after it would wait too, for as long as the backup that holds the table takes. It
// steps aside and tries again.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Problem } from '../errors.ts';
import { adoptBaseline } from './baseline.ts';
import type { Database, Queryable } from './pool.ts';
import { requireUsable } from './usable.ts';

const MIGRATION_LOCK = 7_263_001;

export interface MigrationPatience {
  /** How long a migration waits for a table, and with it everyone who queues after it. */
  lockMs: number;
  /** How long the others have the tables to themselves before it tries again; longer each time. */
  pauseMs: number;
  /** After this long someone has to know. */
  giveUpMs: number;
}

export const PATIENCE: MigrationPatience = { lockMs: 1000, pauseMs: 1000, giveUpMs: 10 * 60_000 };
const LONGEST_PAUSE_MS = 10_000;

export interface Migration {
  version: number;
  name: string;
  sql: string;
}

/** Brings the database to this program's schema. Returns the versions it applied. */
export async function migrate(
  database: Database,
  patience: MigrationPatience = PATIENCE,
  migrations: Migration[] = readMigrations(),
): Promise<number[]> {
  await requireUsable(database);
  const applied: number[] = [];
  for (;;) {
    const version = await comingAgain(patience, () => applyNext(database, migrations, patience));
    if (version === undefined) return applied;
    applied.push(version);
  }
}

/** Applies the first missing migration; if none is missing, replaces the functions. */
async function applyNext(
  database: Database,
  migrations: Migration[],
  { lockMs }: MigrationPatience,
): Promise<number | undefined> {
  return await database.transaction(async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await client.query(`SET LOCAL lock_timeout = ${lockMs}`);
    const done = await readDone(client);
    refuseNewerSchema(done, migrations);
    const next = migrations.find(({ version }) => !done.has(version));
    if (next === undefined) {
      await replaceFunctions(client);
      return undefined;
    }
    await client.query(next.sql);
    await client.query('INSERT INTO schema_migrations (version, name) VALUES ($1, $2)', [
      next.version,
      next.name,
    ]);
    return next.version;
  });
}

async function readDone(client: Queryable): Promise<Set<number>> {
  await client.query(
    `CREATE TABLE IF NOT EXISTS schema_migrations (
       version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
  );
  await adoptBaseline(client);
  const rows = await client.query<{ version: number }>('SELECT version FROM schema_migrations');
  return new Set(rows.map((row) => row.version));
}

/** Also for distribute.ts, which changes tables in use in the same way. */
export async function comingAgain<Result>(
  { pauseMs, giveUpMs }: MigrationPatience,
  work: () => Promise<Result>,
): Promise<Result> {
  const endMs = performance.now() + giveUpMs;
  for (let waitMs = pauseMs; ; waitMs = Math.min(2 * waitMs, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isInTheWay(error)) throw error;
      if (performance.now() + waitMs > endMs) throw stillLocked(giveUpMs, error);
      await pause(waitMs);
    }
  }
}

/**
 * lock_not_available: lock_timeout has passed; deadlock_detected: it and others waited for each
 * other.
 */
const isInTheWay = (error: unknown): boolean =>
  ['55P03', '40P01'].includes((error as { code?: string }).code ?? '');

const stillLocked = (giveUpMs: number, cause: unknown): Problem =>
  new Problem(
    'unavailable',
    `The database could not be brought to this version's schema: for ${Math.round(giveUpMs / 1000)} s another transaction has held a table that it changes. Wait for the backup or the query to finish, or end it (SELECT pid, query FROM pg_stat_activity ORDER BY xact_start), then start again. Processes of the previous version keep working.`,
    { cause },
  );

/**
 * A function lives in one file, so a change to it is a change to that file. A new list of arguments
 * creates a function beside the old one: processes of the previous version keep calling theirs.
 */
async function replaceFunctions(client: Queryable): Promise<void> {
  await client.query(
    'CREATE TABLE IF NOT EXISTS schema_functions (name text PRIMARY KEY, hash bytea NOT NULL)',
  );
  // A function that was dropped, by a migration or by hand, is created again.
  const rows = await client.query<{ name: string; hash: Buffer }>(
    'SELECT * FROM schema_functions WHERE name IN (SELECT proname FROM pg_proc)',
  );
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
      `The database was created by a newer Sandmartin (schema ${Math.max(...ahead)}, this one knows ${newest}). Start the newer version again, or restore a backup made before the upgrade.`,
    );
  }
}

export const readMigrations = (): Migration[] =>
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
