// The database of a process: the server that comes along or the one of DATABASE_URL, its clock, two
// pools, the schema. Before: shared.ts. After: every role works with it.
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { recurringFault } from '../recurring-fault.ts';
import { PATIENCE, type Patience } from '../store/connection.ts';
import { openEmbedded } from '../store/embedded/open.ts';
import { type Heartbeat, startHeartbeat } from '../store/heartbeat.ts';
import { migrate } from '../store/migrate.ts';
import { withPartitions } from '../store/partitions.ts';
import { type Database, openDatabase } from '../store/pool.ts';
import { openServers } from '../store/servers.ts';
import type { Opened } from './opened.ts';

export interface Store {
  database: Database;
  /** The same, for what takes its time. */
  upkeep: Database;
  heartbeat: Heartbeat;
}

export async function openStore(config: Config, log: Log, opened: Opened): Promise<Store> {
  const servers = openServers(config.databaseUrl ?? (await ownServer(config, log, opened)));
  const heartbeat = opened(await startHeartbeat({ servers, log }), (it) => it.stop());
  const onIdleError = recurringFault(log, 'warn', 'a database connection broke');
  const open = (connections: number, patience: Patience) =>
    opened(openDatabase(servers, { connections, patience, onIdleError }), (it) => it.close());
  const upkeep = withPartitions(open(2, PATIENCE.upkeep));
  const patience = config.roles.has('api') ? PATIENCE.calls : PATIENCE.work;
  const database = withPartitions(open(config.databaseConnections, patience));
  await migrate(upkeep);
  return { database, upkeep, heartbeat };
}

async function ownServer({ dataDir }: Config, log: Log, opened: Opened): Promise<string> {
  const embedded = await openEmbedded(dataDir, {
    as: 'owner',
    log: (message) => log.info({ part: 'postgres' }, message),
  });
  return opened(embedded, (it) => it.stop()).url;
}
