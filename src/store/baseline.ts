// Databases from before the first release: their schema came in many small migrations, which are
// now one baseline. This adds what such a database still lacks; migrate.ts calls it before it looks
// for missing migrations.
import { Problem } from '../errors.ts';
import type { Queryable } from './pool.ts';

const FORMER = [1, 2, 3, 4, 5, 6, 9, 11, 12, 13, 15, 16, 20];

/** The last of those migrations, which some databases never had. */
const LATE: Record<number, string> = {
  23: `ALTER TABLE message_hours ALTER COLUMN counts TYPE jsonb USING jsonb_strip_nulls(jsonb_build_object(
         'queued', nullif(counts[1], 0), 'sent', nullif(counts[2], 0), 'delivered', nullif(counts[3], 0),
         'opened', nullif(counts[4], 0), 'clicked', nullif(counts[5], 0), 'bounced', nullif(counts[6], 0),
         'complained', nullif(counts[7], 0)))`,
  // Parameters were renamed, which CREATE OR REPLACE refuses.
  25: `DROP FUNCTION IF EXISTS accept_sends(
         uuid[], bigint[], text[], text[], integer[], text[], text[], text[], integer[], integer[], text[], uuid[], bytea[],
         bytea[], bytea[], bytea[], text[], bytea[], integer[], integer[], integer[], integer[], boolean, integer, integer);
       DROP FUNCTION IF EXISTS record_events(
         bigint[], uuid[], uuid[], text[], text[], text[], text[], text[], text[])`,
  26: `CREATE TABLE suppression_strikes (
         account_id bigint NOT NULL, address text NOT NULL, day date NOT NULL, PRIMARY KEY (account_id, address, day))`,
};

export async function adoptBaseline(client: Queryable): Promise<void> {
  const rows = await client.query<{ version: number; name: string }>(
    'SELECT version, name FROM schema_migrations',
  );
  const isFormer = rows.some(({ name }) => name === 'send_path' || name === 'strikes');
  if (!isFormer) return;
  const done = rows.map(({ version }) => version);
  if (rows.some(({ name }) => name === 'send_path')) {
    if (!FORMER.every((version) => done.includes(version))) throw tooOld(Math.max(...done));
    for (const [version, sql] of Object.entries(LATE)) {
      if (!done.includes(Number(version))) await client.query(sql);
    }
  }
  const late = Object.keys(LATE).map(Number);
  await client.query('DELETE FROM schema_migrations WHERE version = ANY ($1)', [
    [...FORMER, ...late],
  ]);
  await client.query(`INSERT INTO schema_migrations (version, name) VALUES (1, 'baseline')`);
}

const tooOld = (version: number): Problem =>
  new Problem(
    'unavailable',
    `The database was created by a development version before 0.1.0 (schema ${version}) that cannot be upgraded. Start 0.1.0 with an empty database: set DATA_DIR to a new folder, or DATABASE_URL to a new database. The old one is left as it is, for the version that created it.`,
  );
