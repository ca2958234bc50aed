// Two accounts on each node of a cluster.
import type { Database } from '../../src/store/pool.ts';
import type { TestCluster } from '../support/citus.ts';
import type { TestAccount, TestService } from '../support/service.ts';

export async function accountsOfBothNodes(
  database: Database,
  service: TestService,
  { nodes }: TestCluster,
): Promise<[TestAccount[], TestAccount[]]> {
  const found: [TestAccount[], TestAccount[]] = [[], []];
  const ports = nodes.map(({ url }) => Number(new URL(url).port));
  while (found.some((accounts) => accounts.length < 2)) {
    const account = await service.account();
    const [row] = await database.query<{ port: number }>(
      `SELECT nodeport AS port FROM pg_dist_placement JOIN pg_dist_node USING (groupid)
       WHERE shardid = get_shard_id_for_distribution_column('accounts', $1::bigint)`,
      [account.id],
    );
    const accounts = found[ports.indexOf(row!.port)]!;
    if (accounts.length < 2) accounts.push(account);
  }
  return found;
}
