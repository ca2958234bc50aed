// The cluster as Citus describes it: which nodes there are, what is on each, which are away. Before
// it: distribute.ts spread the tables. Used by `sandmartin database` and `doctor`, off every hot
// path.
import { Problem } from '../errors.ts';
import { hasCitus, isDistributed } from './distribute.ts';
import type { Database, Queryable } from './pool.ts';

export interface ClusterNode {
  name: string;
  answers: boolean;
  shards: number;
  bytes: number;
}

export interface Cluster {
  distributed: boolean;
  nodes: ClusterNode[];
}

export async function readCluster(database: Database): Promise<Cluster> {
  if (!(await hasCitus(database)) || !(await isDistributed(database, 'messages'))) {
    return { distributed: false, nodes: [] };
  }
  const rows = await database.query<{ name: string; shards: number }>(
    `SELECT n.nodename || ':' || n.nodeport AS name,
            count(s.shardid) FILTER (WHERE s.logicalrelid = 'accounts'::regclass) AS shards
     FROM pg_dist_node n
     LEFT JOIN pg_dist_placement p ON p.groupid = n.groupid
     LEFT JOIN pg_dist_shard s ON s.shardid = p.shardid
     WHERE n.noderole = 'primary' AND n.shouldhaveshards GROUP BY 1 ORDER BY 1`,
  );
  const nodes = await Promise.all(
    rows.map(async ({ name, shards }) => ({ name, shards, ...(await askNode(database, name)) })),
  );
  return { distributed: true, nodes };
}

/** Asked through the coordinator, so that a node that is away is reported and blocks nobody. */
async function askNode(
  database: Queryable,
  name: string,
): Promise<Pick<ClusterNode, 'answers' | 'bytes'>> {
  const [host, port] = [
    name.slice(0, name.lastIndexOf(':')),
    name.slice(name.lastIndexOf(':') + 1),
  ];
  const [row] = await database.query<{ success: boolean; result: string }>(
    `SELECT success, result FROM master_run_on_worker(
       ARRAY[$1::text], ARRAY[$2::integer], ARRAY['SELECT pg_database_size(current_database())'], false)`,
    [host, Number(port)],
  );
  return row?.success ? { answers: true, bytes: Number(row.result) } : { answers: false, bytes: 0 };
}

/** Returns whether there is anything to move. */
export async function startRebalance(database: Database): Promise<boolean> {
  await requireDistributed(database);
  const plan = await database.query('SELECT FROM get_rebalance_table_shards_plan()');
  if (plan.length === 0) return false;
  await database.query('SELECT citus_rebalance_start()');
  return true;
}

/** Returns the number of the shard that holds only this account. */
export async function isolateAccount(database: Database, accountId: number): Promise<number> {
  await requireDistributed(database);
  const [row] = await database.query<{ shard: number }>(
    `SELECT isolate_tenant_to_new_shard('accounts', $1::bigint, 'CASCADE', shard_transfer_mode => 'block_writes') AS shard`,
    [accountId],
  );
  return row!.shard;
}

async function requireDistributed(database: Queryable): Promise<void> {
  if ((await hasCitus(database)) && (await isDistributed(database, 'messages'))) return;
  throw new Problem(
    'conflict',
    'The database is not distributed. Run "sandmartin database distribute" where Citus is installed (docs/scale.md).',
  );
}
