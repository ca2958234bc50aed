// Places: where the accounts of a distributed database are. Before it: the pool of DATABASE_URL,
// which is the coordinator's. After it: batches are sorted by shard or node and go straight to the
// node that has the rows (docs/scale.md). The map is read every few seconds. An outdated one costs
// a trip between nodes but never gives a wrong answer, since every node can answer for all.
import type { Log } from '../process/log.ts';
import { recurringFault } from '../process/recurring-fault.ts';
import type { Database, Node, Queryable } from './pool.ts';
import { shardHash } from './shard-hash.ts';

const LOOK_EVERY_MS = 5000;

/** Where a node listens, as Citus knows it. */
export interface NodeAddress {
  host: string;
  port: number;
}

interface Shard extends Node {
  /** The lowest hash that belongs to it. */
  least: number;
}

/**
 * The same database, which knows where its accounts are; an ordinary one until it is distributed,
 * which may happen while it is open.
 */
export async function withPlaces({
  database,
  openNode,
  log,
}: {
  database: Database;
  openNode: (at: NodeAddress) => Database;
  log: Log;
}): Promise<Database> {
  const couldNotLook = recurringFault(log, 'warn', 'could not look up where the accounts are');
  const opened = new Map<string, Database>();
  let shards: readonly Shard[] = [];
  let nodes: readonly Node[] = database.nodes();

  async function look(): Promise<void> {
    const rows = await readShards(database);
    shards = rows.map(({ host, port, least }) => {
      const name = `${host}:${port}`;
      const known = opened.get(name) ?? placed(openNode({ host, port }));
      opened.set(name, known);
      return { name, least, database: known };
    });
    const byName = new Map(shards.map(({ name, database }) => [name, { name, database }]));
    nodes = shards.length === 0 ? database.nodes() : [...byName.values()];
  }

  const home: Queryable['home'] = (accounts) =>
    shards.length === 0 ? null : [...new Set(accounts)];
  const shardOf = (accountId: number): number =>
    shards.length === 0 ? 0 : lastAtMost(shards, shardHash(accountId));

  /** A node's database sorts and asks like the whole. */
  const placed = (inner: Database): Database => ({
    ...inner,
    transaction: (work) => inner.transaction((client) => work({ ...client, home })),
    home,
    shardOf,
    near: (accountId) => shards[shardOf(accountId)]?.database ?? database,
    nodes: () => nodes,
  });

  await look().catch(async (error) => {
    await database.close();
    throw error;
  });
  const looking = setInterval(() => look().catch(couldNotLook), LOOK_EVERY_MS).unref();
  return {
    ...placed(database),
    async close() {
      clearInterval(looking);
      await Promise.all([...opened.values()].map((it) => it.close()));
      await database.close();
    },
  };
}

/**
 * For each table of a statement about several accounts: those that `home` returned ($n), or all if
 * that is null. The planner then ignores it; on Citus it makes the statement one task.
 */
export const among = (column: string, parameter: number): string =>
  `($${parameter}::bigint[] IS NULL OR ${column} = ANY ($${parameter}::bigint[]))`;

/** Groups what may be in one statement; everything, if nothing is distributed. */
export function byShard<Item>(
  database: Pick<Database, 'shardOf'>,
  items: readonly Item[],
  accountOf: (item: Item) => number,
): Item[][] {
  const groups = new Map<number, Item[]>();
  for (const item of items) {
    const shard = database.shardOf(accountOf(item));
    const group = groups.get(shard);
    if (group === undefined) groups.set(shard, [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

/** None while nothing is distributed. */
async function readShards(database: Queryable): Promise<(NodeAddress & { least: number })[]> {
  const [citus] = await database.query<{ there: boolean }>(
    `SELECT to_regclass('pg_catalog.pg_dist_shard') IS NOT NULL AS there`,
  );
  if (!citus!.there) return [];
  return await database.query(
    `SELECT s.shardminvalue::integer AS least, n.nodename AS host, n.nodeport AS port
     FROM pg_dist_shard s JOIN pg_dist_placement p USING (shardid)
     JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'
     WHERE s.logicalrelid = to_regclass('messages') AND p.shardstate = 1 ORDER BY 1`,
  );
}

/** The place of the last shard whose lowest hash is not above it. */
function lastAtMost(shards: readonly Shard[], hash: number): number {
  let low = 0;
  let high = shards.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (shards[middle]!.least <= hash) low = middle;
    else high = middle - 1;
  }
  return low;
}
