// Before the schema of the embedded database changes, its data is backed up beside it: going back
// to the previous version is then a restore, and an upgrade that fails costs nothing. Operators
// back up their own servers. Before it: roles/database.ts and commands open the database. After it:
// migrate.ts.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from '../errors.ts';
import { writeBackup } from './backup/write.ts';
import { distributeNew } from './distribute.ts';
import { migrate, readMigrations } from './migrate.ts';
import type { Database } from './pool.ts';

/** Older backups belong to versions that nobody goes back to. */
const KEPT = 3;

export interface Embedded {
  dataDir: string;
  url: string;
  log: (message: string) => void;
}

/** Brings the database to this version's schema; the embedded one is backed up first. */
export async function upgrade(database: Database, embedded: Embedded | undefined): Promise<void> {
  if (embedded !== undefined && (await isBehind(database))) await backUp(embedded);
  await migrate(database);
  await distributeNew(database);
}

/** Has data of an earlier version. A new database has nothing to lose. */
async function isBehind(database: Database): Promise<boolean> {
  const [there] = await database.query<{ schema: string | null }>(
    `SELECT to_regclass('public.schema_migrations')::text AS schema`,
  );
  if (there!.schema === null) return false;
  const done = await database.query<{ version: number }>('SELECT version FROM schema_migrations');
  const versions = new Set(done.map(({ version }) => version));
  return versions.size > 0 && readMigrations().some(({ version }) => !versions.has(version));
}

async function backUp({ dataDir, url, log }: Embedded): Promise<void> {
  const folder = join(dataDir, 'backups');
  const name = `before-upgrade-${new Date()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '')}.backup`;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    log(`backing up to ${join(folder, name)} before the upgrade`);
    await writeBackup(url, join(folder, name), readPassphrase(folder));
    const older = readdirSync(folder).filter((file) => file.startsWith('before-upgrade-'));
    for (const file of older.sort().slice(0, -KEPT)) rmSync(join(folder, file));
  } catch (error) {
    throw new Problem(
      'unavailable',
      `The database must be backed up before this version changes it, and that failed: ${(error as Error).message}. Free up space on the disk of ${folder} and make sure that it is writable, then start again. Nothing was changed.`,
      { cause: error },
    );
  }
}

/**
 * Secrets are never in plain text in a backup. Whoever can read this folder can read the database
 * as well; a copy of the backup alone reveals nothing.
 */
function readPassphrase(folder: string): string {
  const file = join(folder, 'passphrase');
  if (!existsSync(file)) {
    writeFileSync(file, randomBytes(24).toString('base64url'), { mode: 0o600, flush: true });
  }
  return readFileSync(file, 'utf8').trim();
}
