// Taking a backup: every table as it was at one instant, while the service keeps running. Before
// it: cli/backup.ts, or store/upgrade.ts ahead of migrations. After it: restore.ts reads the file.
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { VERSION } from '../../process/version.ts';
import { listDays } from '../partitions.ts';
import { type Frame, type Manifest, writeFrames } from './file.ts';
import { backUpSecret } from './secret.ts';
import { listTables, queryable, type Table } from './tables.ts';

export interface BackupSummary {
  rows: number;
  tables: number;
  at: string;
  secret: Manifest['secret']['kind'];
}

export async function writeBackup(
  url: string,
  path: string,
  passphrase: string | undefined,
): Promise<BackupSummary> {
  const client = new pg.Client({ connectionString: url, application_name: 'sandmartin backup' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const tables = await listTables(queryable(client));
    // Before anything is read: from here on nobody can drop a day or change a table.
    await client.query(
      `LOCK TABLE ${tables.map(({ name }) => name).join(', ')} IN ACCESS SHARE MODE`,
    );
    const manifest = await readManifest(client, passphrase);
    const counted = { rows: 0 };
    await writeFrames(path, frames(client, manifest, tables, counted));
    const { at, secret } = manifest;
    return { rows: counted.rows, tables: tables.length, at, secret: secret.kind };
  } finally {
    await client.end();
  }
}

async function* frames(
  client: pg.Client,
  manifest: Manifest,
  tables: Table[],
  counted: { rows: number },
): AsyncGenerator<Frame> {
  yield { kind: 'manifest', manifest };
  for (const { name, columns } of tables) {
    yield { kind: 'table', name, columns };
    const list = columns.map((column) => selected(name, column)).join(', ');
    const rows = client.query(copyTo(`COPY (SELECT ${list} FROM ${name}) TO STDOUT`));
    for await (const bytes of rows) yield { kind: 'rows', bytes };
    counted.rows += rows.rowCount ?? 0;
  }
  yield { kind: 'end', rows: counted.rows };
}

/** The installation's own secret goes into the manifest, sealed, or nowhere. */
const selected = (table: string, column: string): string =>
  table === 'installation' && column === 'secret' ? 'NULL::bytea AS secret' : `"${column}"`;

async function readManifest(client: pg.Client, passphrase: string | undefined): Promise<Manifest> {
  const database = queryable(client);
  const [facts] = await database.query<{ at: Date; postgres: string; migrations: number[] }>(
    `SELECT now() AS at, current_setting('server_version') AS postgres,
            (SELECT array_agg(version ORDER BY version) FROM schema_migrations) AS migrations`,
  );
  const sequences = await database.query<{ name: string; value: string }>(
    `SELECT sequencename AS name, last_value AS value FROM pg_sequences
     WHERE schemaname = 'public' AND last_value IS NOT NULL`,
  );
  const [inForce] = await database.query<{ secret: Buffer | null; verifier: Buffer | null }>(
    'SELECT secret, verifier FROM installation',
  );
  return {
    version: VERSION,
    at: facts!.at.toISOString(),
    postgres: facts!.postgres,
    migrations: facts!.migrations,
    days: await listDays(database),
    sequences: Object.fromEntries(sequences.map(({ name, value }) => [name, Number(value)])),
    secret: inForce === undefined ? { kind: 'left out' } : backUpSecret(inForce, passphrase),
  };
}
