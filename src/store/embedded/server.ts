// The running embedded PostgreSQL, kept alive. Before it: open.ts, which holds the folder's lock.
// After it: the pools of store/pool.ts connect to it.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Binaries } from './binaries.ts';
import { environment, folderMark, onData, stopLeftover } from './cluster.ts';
import type { SystemUser } from './user.ts';

export interface ServerPlan {
  binaries: Binaries;
  user: SystemUser | undefined;
  data: string;
  port: number;
  settings: Record<string, string>;
  logFile: string;
  log: (message: string) => void;
}

const standardSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '', // a socket in /tmp would be one more lock that can be left behind
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  max_connections: '100',
  // Recording keeps its plans up to 160 days with it (functions/choose_plans.sql).
  max_locks_per_transaction: '256',
  shared_buffers: '128MB',
  // Parallel plans share memory through /dev/shm, which containers limit to 64 MB; our statements
  // are too short to gain from them.
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  log_checkpoints: 'off',
  log_error_verbosity: 'terse', // no DETAIL lines: they quote rows, that is, emails
};

const logLimitBytes = 5_000_000;

/**
 * Starts the server and restarts it whenever it ends unexpectedly; always on the same port, so that
 * its URL stays valid.
 */
export async function startServer(plan: ServerPlan): Promise<{ stop: () => Promise<void> }> {
  const mark = folderMark(plan.data);
  const stopping = new AbortController();
  let recovery = Promise.resolve();
  let pauseMs = 0;
  let server: ChildProcess;

  async function start(): Promise<void> {
    server = await launchPatiently(plan, mark);
    const startedAt = Date.now();
    server.once('exit', (code, signal) => {
      if (stopping.signal.aborted) return;
      plan.log(`the database server ended (${signal ?? `exit code ${code}`}), starting it again`);
      if (Date.now() - startedAt > 10_000) pauseMs = 0;
      recovery = recover();
    });
  }

  async function recover(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await setTimeout(pauseMs, undefined, stopping);
        pauseMs = Math.min(5_000, 100 + 2 * pauseMs);
        await start();
        return plan.log('the database server is running again');
      } catch (error) {
        if (!stopping.signal.aborted) plan.log(`no database server: ${(error as Error).message}`);
      }
    }
  }

  await start();
  return {
    async stop() {
      stopping.abort();
      await recovery;
      await shutDown(server);
    },
  };
}

/**
 * After kill -9 the last processes of the old server take up to 2 s to end; until then PostgreSQL
 * refuses to start.
 */
async function launchPatiently(plan: ServerPlan, mark: string): Promise<ChildProcess> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    // If another process deleted and recreated the folder, it is no longer ours, and neither is the
    // server on it.
    if (folderMark(plan.data) !== mark) throw new Error(`${plan.data} was replaced`);
    try {
      await stopLeftover(plan.data, plan.log);
      return await launch(plan, mark);
    } catch (error) {
      const passing = /shared memory block|lock file/.test((error as Error).message);
      if (!passing || Date.now() > deadline) throw error;
    }
    await setTimeout(50);
  }
}

async function launch(plan: ServerPlan, mark: string): Promise<ChildProcess> {
  const { dataArgument, spawnOptions } = onData(plan.data, plan.user);
  const settings = { ...standardSettings, ...plan.settings, port: String(plan.port) };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn(
    plan.binaries.postgres,
    ['-D', dataArgument, '-c', mark, ...args],
    // Detached: Ctrl-C in a terminal goes to the whole process group, but the server must end after
    // us, not with us.
    { ...spawnOptions, detached: true, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  if (server.pid !== undefined) endWithUs(server, server.pid, plan.user);

  let said = '';
  server.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-2_000);
    appendBounded(plan.logFile, chunk);
  });
  const ended = new Promise<string>((resolve) => {
    server.on('error', (error) => resolve(error.message));
    server.on('close', () => resolve(said.trim()));
  });
  const failure = await Promise.race([ended, untilReady(server, plan)]);
  if (failure !== 'ready') throw new Error(failure);
  return server;
}

/**
 * The server must not outlive its owner: it would hold memory, a port and the folder with nobody to
 * restart it. After kill -9 nothing in this process can ensure that, so a shell waits for the pipe
 * from us to close, however we end.
 */
function endWithUs(server: ChildProcess, pid: number, user: SystemUser | undefined): void {
  const shell = spawn('/bin/sh', ['-c', 'read _; kill -INT "$0"', String(pid)], {
    ...user,
    cwd: '/',
    env: environment,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.on('error', () => undefined); // without it, the next start stops what is left over
  shell.stdin?.on('error', () => undefined);
  server.once('exit', () => shell.kill('SIGKILL'));
}

/**
 * PostgreSQL writes its state into line 8 of postmaster.pid; pg_ctl waits the same way. Recovery
 * may take a while.
 */
async function untilReady(server: ChildProcess, plan: ServerPlan): Promise<'ready'> {
  const slowAt = Date.now() + 10_000;
  let told = false;
  for (;;) {
    const lines = readOrEmpty(join(plan.data, 'postmaster.pid')).split('\n');
    if (Number(lines[0]) === server.pid && lines[7]?.trim() === 'ready') return 'ready';
    if (server.exitCode !== null || server.signalCode !== null) return new Promise(() => undefined);
    if (!told && Date.now() > slowAt) {
      plan.log('the database server is still recovering; this can take a while');
      told = true;
    }
    await setTimeout(told ? 100 : 5);
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/**
 * Fast shutdown: open transactions are rolled back, everything is written out. Immediate shutdown
 * if that does not finish.
 */
async function shutDown(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exit = once(server, 'exit');
  server.kill('SIGINT');
  const impatience = globalThis.setTimeout(() => server.kill('SIGQUIT'), 20_000);
  await exit;
  clearTimeout(impatience);
}

/**
 * The log and its predecessor: never more than twice the limit. A full disk must not end us here.
 */
function appendBounded(path: string, chunk: Buffer): void {
  try {
    const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 };
    if (size > logLimitBytes) renameSync(path, `${path}.1`);
    appendFileSync(path, chunk, { mode: 0o600 });
  } catch {
    // The same lines reach the caller through startServer's errors.
  }
}
