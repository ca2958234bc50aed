// Distributing: turns a database that has Citus installed into a distributed one, with all its
// data. Before it: cli/database.ts, or a start that finds tables added by a migration. After it:
// places.ts finds the accounts on their nodes.
//
// Everything of one account is on one node: tables whose key begins with the account are
// distributed by it and colocated. What does not belong to one account (people, leases, the
// installation) stays on the coordinator. It is one transaction: if interrupted, nothing has
// changed; if repeated, there is nothing to do. Sends wait for it, and get 503 with retry-after if
// it takes longer than a moment.
import { Problem } from '../errors.ts';
import { comingAgain, PATIENCE } from './migrate.ts';
import type { Database, Queryable } from './pool.ts';

const DISTRIBUTE_LOCK = 7_263_011;
export const SHARDS = 32;

/** About people, who do not belong to one account: they stay with users and sessions. */
const OF_PEOPLE = ['members', 'invitations'];

export interface Distribution {
  /** Tables that were distributed, or would be. */
  tables: string[];
  /** Functions that were copied to all nodes, or would be. */
  functions: string[];
}

export interface DistributionWish {
  /** For the first distribution; later tables are colocated with the existing ones. */
  shards?: number;
  dryRun?: boolean;
}

/** Returns what it did. */
export async function distribute(
  database: Database,
  { shards = SHARDS, dryRun = false }: DistributionWish = {},
): Promise<Distribution> {
  await requireNodes(database);
  const functions = await missingFunctions(database);
  if (!dryRun) {
    for (const name of functions) {
      await database.query('SELECT create_distributed_function($1::regprocedure)', [name]);
    }
  }
  const once = () =>
    database.transaction(async (client) => {
      await client.query('SELECT pg_advisory_xact_lock($1)', [DISTRIBUTE_LOCK]);
      const missing = await missingTables(client);
      if (dryRun || missing.length === 0) return missing;
      await lockTables(client, missing);
      await distributeTables(client, missing, shards);
      return missing;
    });
  const tables = await comingAgain(PATIENCE, once);
  return { tables, functions };
}

/** After a migration: distributes the tables it added. Does nothing if nothing is distributed. */
export async function distributeNew(database: Database): Promise<void> {
  if ((await hasCitus(database)) && (await isDistributed(database, 'messages'))) {
    await distribute(database);
  }
}

/**
 * Locks all before changing the first: otherwise someone who holds one and wants another would
 * deadlock.
 */
async function lockTables(client: Queryable, tables: readonly string[]): Promise<void> {
  await client.query(`SET LOCAL lock_timeout = ${PATIENCE.lockMs}`);
  await client.query(`LOCK TABLE ${tables.join(', ')} IN ACCESS EXCLUSIVE MODE`);
  await client.query('SET LOCAL lock_timeout = 0');
}

async function distributeTables(
  client: Queryable,
  tables: readonly string[],
  shards: number,
): Promise<void> {
  await client.query(`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`);
  await client.query(`SET LOCAL citus.shard_count = ${shards}`);
  await client.query(`SET LOCAL client_min_messages = warning`);
  const keys = await foreignKeys(client, tables);
  // Citus refuses a foreign key whose other end is not distributed yet.
  for (const { table, name } of keys) {
    await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  }
  const first = !(await isDistributed(client, 'accounts'));
  if (first) {
    await client.query(
      `SELECT create_distributed_table('accounts', 'id', colocate_with => 'none')`,
    );
  }
  for (const table of tables) {
    if (table === 'accounts') continue;
    await client.query(
      `SELECT create_distributed_table($1::regclass, 'account_id', colocate_with => 'accounts')`,
      [table],
    );
  }
  for (const { table, name, definition } of keys) {
    await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`);
  }
}

/** Tables of accounts that are not distributed yet; accounts first. */
async function missingTables(client: Queryable): Promise<string[]> {
  const rows = await client.query<{ name: string }>(
    `SELECT c.relname AS name
     FROM pg_class c
     JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND (a.attname = 'account_id' OR c.relname = 'accounts') AND c.relname <> ALL ($1)
       AND NOT EXISTS (SELECT FROM pg_dist_partition p WHERE p.logicalrelid = c.oid)
     ORDER BY c.relname <> 'accounts', c.relname`,
    [OF_PEOPLE],
  );
  return rows.map(({ name }) => name);
}

interface ForeignKey {
  table: string;
  name: string;
  definition: string;
}

/** Foreign keys that begin or end at one of the tables. */
async function foreignKeys(client: Queryable, tables: readonly string[]): Promise<ForeignKey[]> {
  return await client.query<ForeignKey>(
    `SELECT k.conrelid::regclass::text AS "table", quote_ident(k.conname) AS name, pg_get_constraintdef(k.oid) AS definition
     FROM pg_constraint k
     WHERE k.contype = 'f' AND k.conparentid = 0
       AND (k.conrelid = ANY ($1::regclass[]) OR k.confrelid = ANY ($1::regclass[]))
     ORDER BY k.oid`,
    [tables],
  );
}

/** Our own functions, not those of an extension. */
async function missingFunctions(database: Queryable): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `SELECT p.oid::regprocedure::text AS name FROM pg_proc p
     WHERE p.pronamespace = 'public'::regnamespace
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
       AND NOT EXISTS (SELECT FROM pg_dist_object o WHERE o.classid = 'pg_proc'::regclass AND o.objid = p.oid)
     ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

export async function hasCitus(database: Queryable): Promise<boolean> {
  const rows = await database.query(`SELECT FROM pg_extension WHERE extname = 'citus'`);
  return rows.length > 0;
}

export async function isDistributed(database: Queryable, table: string): Promise<boolean> {
  const rows = await database.query(
    'SELECT FROM pg_dist_partition WHERE logicalrelid = $1::regclass',
    [table],
  );
  return rows.length > 0;
}

async function requireNodes(database: Queryable): Promise<void> {
  if (!(await hasCitus(database))) {
    throw new Problem(
      'conflict',
      'Citus is not installed in this database. Install it on every server, add it to shared_preload_libraries, restart them and run CREATE EXTENSION citus in this database on each (docs/scale.md).',
    );
  }
  const nodes = await database.query(
    `SELECT FROM pg_dist_node WHERE isactive AND shouldhaveshards AND noderole = 'primary'`,
  );
  if (nodes.length === 0) {
    throw new Problem(
      'conflict',
      `Citus has no node that stores data. Tell it where this server and the others are: SELECT citus_set_coordinator_host('this host', 5432); SELECT citus_add_node('another host', 5432);`,
    );
  }
}
