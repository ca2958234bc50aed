// A Citus of three servers for a test file: a coordinator and two nodes on loopback, in a folder of
// their own. Where Citus is not installed its suites say so and skip (scripts/citus-build.sh builds
// it).
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { distribute } from '../../src/store/distribute.ts';
import { migrate } from '../../src/store/migrate.ts';
import { makePartitions } from '../../src/store/partitions.ts';
import { type Database, openDatabase } from '../../src/store/pool.ts';
import { freePort } from './process.ts';

const BIN = process.env.CITUS_BIN ?? '/usr/lib/postgresql/15/bin';
/** Few, so that a test does not wait for hundreds of tables. */
const SHARDS = 4;

/** Why there is no cluster to test with; undefined: there is one. */
export function whyNoCitus(): string | undefined {
  if (!existsSync(join(BIN, 'pg_config'))) return `there is no PostgreSQL in ${BIN}`;
  const libraries = execFileSync(join(BIN, 'pg_config'), ['--pkglibdir'], { encoding: 'utf8' });
  if (existsSync(join(libraries.trim(), 'citus.so'))) return undefined;
  return 'Citus is not installed beside it (scripts/citus-build.sh)';
}

export interface TestServer {
  url: string;
  pid(): number;
  /** As a machine that loses power: kill -9 of the server and all its processes. */
  kill(): void;
  start(): void;
  /** As one behind a cut cable: connections stay open and nobody answers, until it thaws. */
  freeze(): void;
  thaw(): void;
  /** Statements so far that Citus planned as tasks on several shards. */
  acrossShards(): string[];
}

export interface TestCluster {
  coordinator: TestServer;
  nodes: [TestServer, TestServer];
  stop(): void;
}

export async function startCluster(): Promise<TestCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'sandmartin-citus-'));
  giveTo(folder);
  const servers: TestServer[] = [];
  for (const name of ['coordinator', 'one', 'two']) {
    servers.push(startServer(join(folder, name), await freePort()));
  }
  const [coordinator, one, two] = servers as [TestServer, TestServer, TestServer];
  return {
    coordinator,
    nodes: [one, two],
    stop() {
      for (const server of servers) {
        // What is frozen would not notice that its server is gone.
        server.thaw();
        server.kill();
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function startServer(data: string, port: number): TestServer {
  asServer('initdb', '-D', data, '-A', 'trust', '-U', 'sm', '--no-locale', '-E', 'UTF8', '-N');
  appendFileSync(
    join(data, 'postgresql.conf'),
    `shared_preload_libraries = 'citus'\nport = ${port}\nlisten_addresses = '127.0.0.1'
unix_socket_directories = ''\nmax_connections = 300\nmax_worker_processes = 60\nmax_prepared_transactions = 200
wal_level = logical\nfsync = off\ncitus.multi_task_query_log_level = 'log'\ncitus.enable_stat_counters = on\nshared_buffers = '32MB'\nmax_locks_per_transaction = 256\n`,
  );
  const start = () => asServer('pg_ctl', '-w', '-D', data, '-l', `${data}.log`, 'start');
  start();
  const pid = () => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
  return {
    url: `postgres://sm@127.0.0.1:${port}/postgres`,
    pid,
    start,
    kill: () => signal(pid(), 'SIGKILL'),
    // The server first, so that it starts no process that is missed; and last, for the same reason.
    freeze() {
      signal(pid(), 'SIGSTOP');
      for (const child of childrenOf(pid())) signal(child, 'SIGSTOP');
    },
    thaw() {
      for (const child of childrenOf(pid())) signal(child, 'SIGCONT');
      signal(pid(), 'SIGCONT');
    },
    acrossShards: () => statementsAcross(readFileSync(`${data}.log`, 'utf8')),
  };
}

/** An entry of the log begins with a date; what belongs to it is indented. */
function statementsAcross(log: string): string[] {
  const entries = log.split(/^(?=\d{4}-\d\d-\d\d )/m);
  return entries.flatMap((entry, at) => {
    const isTold = /LOG: {2}multi-task query about to be executed/.test(entries[at - 2] ?? '');
    const [, statement] = /STATEMENT: {2}([\s\S]*)/.exec(entry) ?? [];
    return isTold && statement !== undefined ? [statement.replace(/\s+/g, ' ').trim()] : [];
  });
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone already.
  }
}

function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file)
    ? readFileSync(file, 'utf8').trim().split(' ').filter(Boolean).map(Number)
    : [];
}

export interface CitusDatabase {
  url: string;
  database: Database;
}

/** A database on every server, migrated; distributed by default. */
export async function createCitusDatabase(
  { coordinator, nodes }: { coordinator: TestServer; nodes: readonly TestServer[] },
  name: string,
  distributed = true,
): Promise<CitusDatabase> {
  await createOn(coordinator, name);
  const url = databaseUrl(coordinator.url, name);
  const database = openDatabase(url, QUIET);
  await database.query('SELECT citus_set_coordinator_host($1, $2)', hostOf(coordinator));
  for (const node of nodes) await addNode({ url, database }, node);
  await migrate(database);
  await makePartitions(database, Date.now());
  if (distributed) await distribute(database, { shards: SHARDS });
  return { url, database };
}

export async function addNode({ url, database }: CitusDatabase, node: TestServer): Promise<void> {
  await createOn(node, new URL(url).pathname.slice(1));
  await database.query('SELECT citus_add_node($1, $2)', hostOf(node));
}

async function createOn({ url }: TestServer, name: string): Promise<void> {
  const server = openDatabase(url, QUIET);
  await server.query(`CREATE DATABASE ${name}`);
  await server.close();
  const made = openDatabase(databaseUrl(url, name), QUIET);
  await made.query('CREATE EXTENSION citus');
  await made.close();
}

const QUIET = { connections: 6, onIdleError: () => undefined };

const hostOf = ({ url }: TestServer): [string, number] => {
  const { hostname, port } = new URL(url);
  return [hostname, Number(port)];
};

function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** PostgreSQL does not run as root. */
function asServer(program: string, ...given: string[]): void {
  const command = [join(BIN, program), ...given];
  const [file, ...rest] =
    process.getuid?.() === 0 ? ['setpriv', ...AS_POSTGRES, ...command] : command;
  // Their libpq would look for certificates in the home of whoever runs the tests.
  execFileSync(file!, rest, { stdio: 'ignore', cwd: '/', env: { ...process.env, HOME: '/' } });
}

const AS_POSTGRES = ['--reuid=postgres', '--regid=postgres', '--clear-groups'];

function giveTo(folder: string): void {
  if (process.getuid?.() !== 0) return;
  const id = Number(execFileSync('id', ['-u', 'postgres'], { encoding: 'utf8' }));
  chownSync(folder, id, id);
  chmodSync(folder, 0o755);
}
