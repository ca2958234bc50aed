// The database of a process: the embedded server or the one of DATABASE_URL, its clock, two pools,
// the schema. Before it: shared.ts. After it: every role works with it.

import type { Config } from '../config/config.ts';
import type { Log } from '../process/log.ts';
import { recurringFault } from '../process/recurring-fault.ts';
import { PATIENCE, type Patience } from '../store/connection.ts';
import { urlAt } from '../store/database-url.ts';
import { openEmbedded } from '../store/embedded/open.ts';
import { type Heartbeat, startHeartbeat, watchNode } from '../store/heartbeat.ts';
import { withPartitions } from '../store/partitions.ts';
import { withPlaces } from '../store/places.ts';
import { type Database, openDatabase } from '../store/pool.ts';
import { openServers } from '../store/servers.ts';
import { type Embedded, upgrade } from '../store/upgrade.ts';
import type { Opened } from './opened.ts';

export interface Store {
  database: Database;
  /** The same, for slow work. */
  upkeep: Database;
  heartbeat: Heartbeat;
}

export async function openStore(config: Config, log: Log, opened: Opened): Promise<Store> {
  const embedded =
    config.databaseUrl === undefined ? await ownServer(config, log, opened) : undefined;
  const servers = openServers(config.databaseUrl ?? embedded!.url);
  const heartbeat = opened(await startHeartbeat({ servers, log }), (it) => it.stop());
  const onIdleError = recurringFault(log, 'warn', 'a database connection broke');
  const open = (connections: number, patience: Patience) =>
    opened(openDatabase(servers, { connections, patience, onIdleError }), (it) => it.close());
  const upkeep = withPartitions(open(2, PATIENCE.upkeep));
  const patience = config.roles.has('api') ? PATIENCE.calls : PATIENCE.work;
  await upgrade(upkeep, embedded);
  const options = { connections: config.databaseConnections, patience, onIdleError };
  const database = await withPlaces({
    database: withPartitions(openDatabase(servers, options)),
    openNode: (at) => {
      const node = openServers(urlAt(servers.current().url, at));
      // While a node hangs, statements to it fail at once and keep nobody waiting.
      opened(watchNode({ servers: node, log }), (it) => it.stop());
      return withPartitions(openDatabase(node, options), upkeep);
    },
    log,
  });
  return { database: opened(database, (it) => it.close()), upkeep, heartbeat };
}

async function ownServer({ dataDir }: Config, log: Log, opened: Opened): Promise<Embedded> {
  const tell = (message: string): void =>
    log.info({ part: 'postgres', detail: message }, 'the embedded database');
  const embedded = await openEmbedded(dataDir, { as: 'owner', log: tell });
  return { dataDir, url: opened(embedded, (it) => it.stop()).url, log: tell };
}
