// What a campaign breaks: a database, a relay, two API processes and two workers of the built
// program, each with a door of its own to the database. Before: campaign.ts sets it up. After:
// campaign-troubles.ts breaks it.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '../../src/store/embedded/open.ts';
import { migrate } from '../../src/store/migrate.ts';
import { makePartitions } from '../../src/store/partitions.ts';
import { type Database, openDatabase } from '../../src/store/pool.ts';
import { type FaultyRelay, startFaultyRelay } from '../support/faulty-relay.ts';
import { freePort, type ServiceProcess, startProcess } from '../support/process.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

export const LEASE_SECONDS = 5;

/**
 * A process that keeps its name, its port and its door to the database, however often it is
 * started.
 */
export interface Actor {
  name: string;
  role: 'api' | 'delivery';
  url: string;
  database: TcpProxy;
  start(env?: Record<string, string>): Promise<void>;
  kill(): Promise<void>;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  stop(): Promise<void>;
}

export interface Stage {
  actors: Actor[];
  relay: FaultyRelay;
  /** Around all doors, for setting up and looking. */
  database: Database;
  /** Its pid; throws while there is none. */
  postmaster(): number;
  /** Undefined where no small disk can be mounted. */
  disk: { fill(): void; clear(): void } | undefined;
  stop(): Promise<void>;
}

export async function openStage(options: { smallDisk: boolean }): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'sandmartin-campaign-'));
  chmodSync(folder, 0o755);
  const closers: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const mounted = options.smallDisk && mountDisk(folder);
    if (mounted) closers.push(() => execFileSync('umount', ['-l', folder]));
    const settings = { max_connections: '150', max_wal_size: '128MB' };
    const server = await openEmbedded(folder, { as: 'owner', log: () => undefined, settings });
    closers.push(() => server.stop());
    const database = openDatabase(server.url, { connections: 2, onIdleError: () => undefined });
    closers.push(() => database.close());
    await migrate(database);
    await makePartitions(database, Date.now());
    const relay = await startFaultyRelay();
    closers.push(() => relay.stop());

    const actors: Actor[] = [];
    for (const name of ['api-1', 'api-2', 'delivery-1', 'delivery-2']) {
      const door = await startTcpProxy(server.url);
      closers.push(() => door.close());
      const actor = createActor(name, await freePort(), door, relay);
      closers.push(() => actor.stop());
      await actor.start();
      actors.push(actor);
    }
    const pidFile = join(folder, 'postgres/data/postmaster.pid');
    return {
      actors,
      relay,
      database,
      postmaster: () => Number(readFileSync(pidFile, 'utf8').split('\n')[0]),
      disk: mounted ? ballastOn(folder) : undefined,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function createActor(name: string, port: number, door: TcpProxy, relay: FaultyRelay): Actor {
  const role = name.startsWith('api') ? 'api' : 'delivery';
  const relayUrl = new URL(relay.url);
  relayUrl.username = name;
  let running: ServiceProcess | undefined;
  return {
    name,
    role,
    url: `http://127.0.0.1:${port}`,
    database: door,
    async start(env = {}) {
      running = await startProcess({
        ROLES: role,
        PORT: String(port),
        DATABASE_URL: door.url,
        RELAY_URL: relayUrl.href,
        RELAY_DOWN: 'queue',
        RELAY_CONNECTIONS: '4',
        DELIVERY_LEASE_SECONDS: String(LEASE_SECONDS),
        LOG_LEVEL: 'error',
        ...env,
      });
    },
    async kill() {
      await running?.end('SIGKILL');
    },
    signal: (signal) => void running?.child.kill(signal),
    async stop() {
      running?.child.kill('SIGCONT');
      await running?.end('SIGTERM');
    },
  };
}

function mountDisk(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=900m,mode=755', 'tmpfs', folder], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}

function ballastOn(folder: string) {
  const file = join(folder, 'ballast');
  return {
    fill() {
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(file, Buffer.alloc(Math.max(0, bavail * bsize - 256 * 1024)));
    },
    clear: () => rmSync(file, { force: true }),
  };
}
