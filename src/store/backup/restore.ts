// Restoring a backup into an empty database: the schema that the data has, the rows in one
// transaction, then the migrations added since. Before it: cli/backup.ts. After it: the service
// starts as it would have then.
import { once } from 'node:events';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { Problem } from '../../errors.ts';
import { isDataFault } from '../../process/group-commit.ts';
import { migrate, readMigrations } from '../migrate.ts';
import { makeDays } from '../partitions.ts';
import type { Database, Queryable } from '../pool.ts';
import { damaged, type Frame, type Manifest, readFrames } from './file.ts';
import { restoreSecret } from './secret.ts';
import { listTables, queryable, type Table } from './tables.ts';

export interface RestoreSummary {
  rows: number;
  /** The backup's version. */
  version: string;
  at: string;
  /** Queued emails, which may have been sent after the backup was taken. */
  queued: number;
  secret: Manifest['secret']['kind'];
}

export interface RestoreKeys {
  secretKey: string | undefined;
  passphrase: string | undefined;
}

export async function restoreBackup(
  { database, url }: { database: Database; url: string },
  path: string,
  keys: RestoreKeys,
): Promise<RestoreSummary> {
  const frames = readFrames(path);
  try {
    const manifest = await readManifest(frames, path);
    const secret = restoreSecret(manifest.secret, keys);
    await refuseUsed(database, manifest);
    const then = readMigrations().filter(({ version }) => manifest.migrations.includes(version));
    await migrate(database, undefined, then);
    for (const day of manifest.days) await makeDays(database, day, day);
    const rows = await load({ url, path }, manifest, frames, secret);
    await migrate(database);
    const [waiting] = await database.query<{ count: number }>(
      'SELECT count(*) AS count FROM due_messages',
    );
    const { version, at } = manifest;
    return { rows, version, at, queued: waiting!.count, secret: manifest.secret.kind };
  } finally {
    await frames.return(undefined);
  }
}

async function readManifest(frames: AsyncGenerator<Frame>, path: string): Promise<Manifest> {
  const first = (await frames.next()).value as Frame | undefined;
  if (first?.kind !== 'manifest') {
    throw new Problem('invalid', `${path} is not a backup of Sandmartin.`);
  }
  const known = new Set(readMigrations().map(({ version }) => version));
  if (!first.manifest.migrations.every((version) => known.has(version))) {
    throw new Problem(
      'invalid',
      `${path} was written by Sandmartin ${first.manifest.version}, which is newer than this one. Restore it with that version or a later one.`,
    );
  }
  return first.manifest;
}

/** Only into an empty database: existing data is never mixed with the backup, nor lost. */
async function refuseUsed(database: Database, { migrations }: Manifest): Promise<void> {
  const [there] = await database.query<{ schema: boolean; others: string[] | null }>(
    `SELECT to_regclass('public.schema_migrations') IS NOT NULL AS schema,
            (SELECT array_agg(relname::text ORDER BY relname) FROM pg_class t
             WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
               AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = t.oid AND deptype = 'e')) AS others`,
  );
  if (!there!.schema) {
    if (there!.others !== null) throw used(`it has other tables, such as ${there!.others[0]}`);
    return;
  }
  const done = await database.query<{ version: number }>('SELECT version FROM schema_migrations');
  if (done.length === 0) return;
  const [held] = await database.query<{ accounts: boolean; people: boolean; running: boolean }>(
    `SELECT EXISTS (SELECT FROM accounts) AS accounts, EXISTS (SELECT FROM users) AS people,
            EXISTS (SELECT FROM processes WHERE seen_at > now() - interval '15 seconds') AS running`,
  );
  if (held!.running) throw used('a Sandmartin service is running on it');
  if (held!.accounts || held!.people) throw used('it already has accounts or people');
  // An empty database that an unfinished restore left behind.
  if (!done.every(({ version }) => migrations.includes(version))) {
    throw used('its tables are from a newer version than the backup');
  }
}

const used = (why: string): Problem =>
  new Problem(
    'conflict',
    `A backup is restored only into an empty database, and ${why}. Set DATA_DIR to a new folder, or DATABASE_URL to a new database, and run this again. Nothing was changed.`,
  );

/** In one transaction: after an error, no row of it remains. */
async function load(
  { url, path }: { url: string; path: string },
  manifest: Manifest,
  frames: AsyncGenerator<Frame>,
  secret: { secret: Buffer | null; verifier: Buffer },
): Promise<number> {
  const client = new pg.Client({ connectionString: url, application_name: 'sandmartin restore' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('BEGIN');
    const database = queryable(client);
    const between = await liftConstraints(database);
    const tables = await listTables(database);
    const rows = await copyIn(client, frames, tables);
    await between.putBack();
    await database.query('UPDATE installation SET secret = $1, verifier = $2', [
      secret.secret,
      secret.verifier,
    ]);
    for (const [name, value] of Object.entries(manifest.sequences)) {
      await database.query('SELECT setval($1::text::regclass, $2)', [name, value]);
    }
    await client.query('COMMIT');
    return rows;
  } catch (error) {
    if (error instanceof Strange || isDataFault(error))
      throw damaged(path, (error as Error).message);
    throw error;
  } finally {
    await client.end();
  }
}

/** Tables come in the order of their names, and some refer to each other. */
async function liftConstraints(database: Queryable): Promise<{ putBack(): Promise<void> }> {
  const keys = await database.query<{ table: string; name: string; definition: string }>(
    `SELECT conrelid::regclass::text AS table, conname AS name, pg_get_constraintdef(oid) AS definition
     FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace AND conparentid = 0`,
  );
  const triggers = await database.query<{ table: string; name: string }>(
    `SELECT tgrelid::regclass::text AS table, tgname AS name FROM pg_trigger
     JOIN pg_class t ON t.oid = tgrelid
     WHERE NOT tgisinternal AND tgparentid = 0 AND relnamespace = 'public'::regnamespace`,
  );
  for (const { table, name } of keys) {
    await database.query(`ALTER TABLE ${table} DROP CONSTRAINT "${name}"`);
  }
  for (const { table, name } of triggers) {
    await database.query(`ALTER TABLE ${table} DISABLE TRIGGER "${name}"`);
  }
  return {
    async putBack() {
      for (const { table, name, definition } of keys) {
        await database.query(`ALTER TABLE ${table} ADD CONSTRAINT "${name}" ${definition}`);
      }
      for (const { table, name } of triggers) {
        await database.query(`ALTER TABLE ${table} ENABLE TRIGGER "${name}"`);
      }
    },
  };
}

/** Content that our backups never have, but a file from elsewhere may. */
class Strange extends Error {}

async function copyIn(
  client: pg.Client,
  frames: AsyncGenerator<Frame>,
  tables: readonly Table[],
): Promise<number> {
  let rows = 0;
  let table: Awaited<ReturnType<typeof startTable>> | undefined;
  for await (const frame of frames) {
    if (frame.kind === 'rows') {
      if (table === undefined) throw new Strange('rows of no table');
      await table.write(frame.bytes);
      continue;
    }
    rows += (await table?.finish()) ?? 0;
    if (frame.kind === 'table') table = await startTable(client, ownTable(frame, tables));
    else if (frame.kind === 'end' && frame.rows !== rows) {
      throw new Strange(`${frame.rows} rows were written, ${rows} are in it`);
    } else table = undefined;
  }
  return rows;
}

/** By names that this database has, since the names in the file become part of a statement. */
function ownTable(wanted: Table, tables: readonly Table[]): Table {
  const own = tables.find(({ name }) => name === wanted.name);
  if (own !== undefined && wanted.columns.every((column) => own.columns.includes(column))) {
    return wanted;
  }
  throw new Strange('a table that is not ours');
}

async function startTable(client: pg.Client, { name, columns }: Table) {
  // Rows that a migration adds to a new table are in the backup too, or were deleted.
  await client.query(`DELETE FROM "${name}"`);
  const list = columns.map((column) => `"${column}"`).join(', ');
  const copying = client.query(copyFrom(`COPY "${name}" (${list}) FROM STDIN`));
  let fault: Error | undefined;
  const settled = new Promise<void>((resolve) => {
    copying.once('close', resolve);
    // Rows that the server refuses: the stream does not close behind that.
    copying.on('error', (error) => {
      fault = error;
      resolve();
    });
  });
  return {
    async write(bytes: Buffer): Promise<void> {
      if (fault) throw fault;
      if (!copying.write(bytes)) await Promise.race([once(copying, 'drain'), settled]);
    },
    async finish(): Promise<number> {
      if (fault) throw fault;
      copying.end();
      await settled;
      if (fault) throw fault;
      return copying.rowCount;
    },
  };
}
