// A primary and its synchronous standby, for tests that promote: the embedded binaries, without the
// launcher that restarts them.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findBinaries } from '../../src/store/embedded/binaries.ts';
import { createCluster, onData } from '../../src/store/embedded/cluster.ts';
import { serverUser } from '../../src/store/embedded/user.ts';
import { type Database, openDatabase } from '../../src/store/pool.ts';
import { freePort } from './process.ts';
import { until } from './until.ts';

const LOGIN = { name: 'sandmartin', password: 'a-password-for-tests' };

export interface PostgresPair {
  /** Both hosts, the standby first. */
  url: string;
  standby: Database;
  /** The postmaster and all its processes. */
  signalPrimary(signal: 'SIGKILL' | 'SIGSTOP'): void;
  promote(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPostgresPair(folder: string): Promise<PostgresPair> {
  const [first, second] = [join(folder, 'first'), join(folder, 'second')] as const;
  const user = serverUser(folder, first);
  const binaries = findBinaries(folder, user);
  const servers: ChildProcess[] = [];

  async function start(data: string, port: number, settings: Record<string, string> = {}) {
    const { dataArgument, spawnOptions } = onData(data, user);
    const all = {
      ...{ listen_addresses: '127.0.0.1', unix_socket_directories: '', port: String(port) },
      ...settings,
    };
    const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const server = spawn(binaries.postgres, ['-D', dataArgument, ...args], {
      ...spawnOptions,
      stdio: 'ignore',
    });
    servers.push(server);
    const database = openDatabase(urlOf(`127.0.0.1:${port}`, 'postgres'), {
      connections: 1,
      onIdleError: () => undefined,
    });
    await until(() => database.query('SELECT 1'));
    return { server, database };
  }

  await createCluster(first, binaries, user, LOGIN);
  const [firstPort, secondPort] = [await freePort(), await freePort()];
  const draft = await start(first, firstPort);
  await draft.database.query('CREATE DATABASE sandmartin');
  await draft.database.close();
  draft.server.kill('SIGINT');
  await once(draft.server, 'exit');
  execFileSync('cp', ['-a', first, second]);
  writeFileSync(join(second, 'standby.signal'), '');

  const follows = `host=127.0.0.1 port=${firstPort} user=${LOGIN.name} password=${LOGIN.password}`;
  const primary = await start(first, firstPort, { synchronous_standby_names: '*' });
  const standby = await start(second, secondPort, { primary_conninfo: follows });
  await until(async () => {
    const rows = await primary.database.query('SELECT FROM pg_stat_replication');
    return rows.length === 1;
  });
  await primary.database.close();
  const pid = primary.server.pid!;
  /** Those that were frozen do not end with their postmaster. */
  let signalled: number[] = [];
  function signal(pids: number[], name: NodeJS.Signals): void {
    for (const each of pids) {
      try {
        process.kill(each, name);
      } catch {
        // It ended in between.
      }
    }
  }
  return {
    url: urlOf(`127.0.0.1:${secondPort},127.0.0.1:${firstPort}`, 'sandmartin'),
    standby: openDatabase(urlOf(`127.0.0.1:${secondPort}`, 'sandmartin'), {
      connections: 2,
      onIdleError: () => undefined,
    }),
    signalPrimary(name) {
      const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)]).toString();
      signalled = [pid, ...children.split('\n').filter(Boolean).map(Number)];
      signal(signalled, name);
    },
    async promote() {
      await standby.database.query('SELECT pg_promote()');
    },
    async stop() {
      await standby.database.close();
      for (const server of servers) server.kill('SIGKILL');
      signal(signalled, 'SIGKILL');
    },
  };
}

const urlOf = (hosts: string, database: string): string =>
  `postgres://${LOGIN.name}:${LOGIN.password}@${hosts}/${database}`;
