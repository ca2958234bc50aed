// sandmartin database: distributing the database by Citus, and how it is spread over its nodes. The
// tools are Citus' own; docs/scale.md says when to use it.
import type { Command } from 'commander';
import { isolateAccount, readCluster, startRebalance } from '../store/cluster.ts';
import { distribute, SHARDS } from '../store/distribute.ts';
import { accountNumber, print, table, wholeNumber, withDatabase, withJson } from './command.ts';

export function registerDatabase(program: Command): void {
  const database = program
    .command('database')
    .description('a database on several servers (Citus): docs/scale.md');

  withJson(
    database
      .command('distribute')
      .description('distribute the accounts over the nodes of Citus; safe to run again'),
  )
    .option('--dry-run', 'only show what would be distributed')
    .option(
      '--shards <number>',
      'number of shards, chosen on the first run; shards can be moved, not merged',
      wholeNumber('--shards', 1, 4096),
      SHARDS,
    )
    .action(runDistribute);

  withJson(
    database.command('status').description('the nodes, what each holds, and which are unreachable'),
  ).action(showStatus);

  withJson(
    database
      .command('rebalance')
      .description('let Citus move shards in the background until the nodes are balanced'),
  ).action(rebalance);

  withJson(
    database
      .command('isolate')
      .argument('<account>', 'its number', accountNumber)
      .description('give a large account a shard of its own, which can then be moved alone'),
  ).action(isolate);
}

async function runDistribute({
  dryRun,
  shards,
  json,
}: {
  dryRun?: boolean;
  shards: number;
  json?: boolean;
}): Promise<void> {
  await withDatabase(async (database) => {
    const done = await distribute(database, { shards, dryRun: dryRun ?? false });
    print(json, { ...done, dryRun: dryRun ?? false }, () =>
      done.tables.length === 0
        ? ['All account data is already distributed.']
        : [
            `${dryRun ? 'Would distribute' : 'Distributed'} by account: ${done.tables.join(', ')}.`,
            dryRun
              ? 'Sends wait in the meantime, and get 503 with retry-after when it takes longer than a few seconds.'
              : 'Running processes notice within seconds.',
          ],
    );
  });
}

async function showStatus({ json }: { json?: boolean }): Promise<void> {
  await withDatabase(async (database) => {
    const cluster = await readCluster(database);
    print(json, cluster, () =>
      cluster.distributed
        ? table(
            ['NODE', 'SHARDS', 'BYTES', 'ANSWERS'],
            cluster.nodes.map((node) => [
              node.name,
              String(node.shards),
              node.bytes.toLocaleString('en'),
              node.answers ? 'yes' : 'no',
            ]),
          )
        : ['The database is not distributed: everything is on one server.'],
    );
  });
}

async function rebalance({ json }: { json?: boolean }): Promise<void> {
  await withDatabase(async (database) => {
    const started = await startRebalance(database);
    print(json, { started }, () => [
      started
        ? 'Citus moves shards in the background. "npx sandmartin database status" shows where they are.'
        : 'Citus has nothing to move. If one account has most of the data of a node, "npx sandmartin database isolate" gives it a shard of its own.',
    ]);
  });
}

async function isolate(account: number, { json }: { json?: boolean }): Promise<void> {
  await withDatabase(async (database) => {
    const shard = await isolateAccount(database, account);
    print(json, { account, shard }, () => [
      `Account ${account} now has shard ${shard} to itself. Move it with "npx sandmartin database rebalance" or citus_move_shard_placement.`,
    ]);
  });
}
