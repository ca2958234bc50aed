// The data folder of the embedded PostgreSQL while no server runs: created once, checked, and
// cleared of what a killed server left. Before it: open.ts. After it: server.ts runs on it.

import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  lchownSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Problem } from '../../errors.ts';
import type { Binaries } from './binaries.ts';
import type { SystemUser } from './user.ts';

/**
 * PostgreSQL's programs need no more of our environment than this; English messages and UTC do not
 * depend on the machine.
 */
export const environment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/**
 * How to spawn a program on `data` as `user`. Under root the folder may be where only root may
 * enter; but the working directory is entered before the uid changes (libuv's
 * uv__process_child_init), and /proc/self/cwd leads there without passing the folders above. So the
 * data stays in DATA_DIR, whatever its parent folders allow.
 */
export function onData(data: string, user: SystemUser | undefined) {
  const behindRoot = user !== undefined && process.platform === 'linux';
  return {
    dataArgument: behindRoot ? '/proc/self/cwd' : data,
    spawnOptions: { ...user, cwd: data, env: environment },
  };
}

/**
 * Creates the data folder with initdb, under another name until it is complete and on disk: a kill
 * half-way leaves nothing that looks finished.
 */
export async function createCluster(
  data: string,
  binaries: Binaries,
  user: SystemUser | undefined,
  login: { name: string; password: string },
): Promise<void> {
  const parent = dirname(data);
  const draft = mkdtempSync(`${data}.new-`);
  if (user !== undefined) chownSync(draft, user.uid, user.gid);
  const passwordFile = openForUser(`${draft}.password`, `${login.password}\n`, user);
  const { dataArgument, spawnOptions } = onData(draft, user);
  const args = ['-D', dataArgument, '-U', login.name, '-A', 'scram-sha-256'];
  args.push('--pwfile=/dev/stdin', '-E', 'UTF8', '--no-locale', '--no-instructions');
  args.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8'); // the same sort order on every machine
  const initdb = spawn(binaries.initdb, args, {
    ...spawnOptions,
    stdio: [passwordFile, 'ignore', 'pipe'],
  });
  closeSync(passwordFile);
  let said = '';
  initdb.stderr?.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  const code = await new Promise((resolve) => {
    initdb.on('error', (error) => resolve(error.message)).on('close', resolve);
  });
  if (code !== 0) {
    discardDrafts(data);
    throw new Problem(
      'unavailable',
      `cannot create the database in ${data}: ${said.trim()} (${code})`,
    );
  }
  renameSync(draft, data);
  keepEntries(parent);
  keepEntries(dirname(parent));
}

/**
 * Unfinished folders. The initdb of a killed owner may still be writing there: what cannot be
 * deleted now goes at the next start.
 */
export function discardDrafts(data: string): void {
  for (const name of readdirSync(dirname(data))) {
    if (!name.startsWith(`${basename(data)}.new-`)) continue;
    try {
      rmSync(join(dirname(data), name), { recursive: true, force: true });
    } catch {}
  }
}

/** A rename survives a power cut only once the folder itself is on disk. */
export function keepEntries(folder: string): void {
  const descriptor = openSync(folder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** A file that only `user` can read, already unlinked, passed as a descriptor. */
function openForUser(path: string, text: string, user: SystemUser | undefined): number {
  writeFileSync(path, text, { mode: 0o600 });
  if (user !== undefined) chownSync(path, user.uid, user.gid);
  const descriptor = openSync(path, 'r');
  unlinkSync(path);
  return descriptor;
}

/**
 * Makes sure that the server will accept the folder, which may have been restored from a backup or
 * used by a newer version.
 */
export function adoptCluster(data: string, binaries: Binaries, user: SystemUser | undefined): void {
  const made = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim();
  if (made !== binaries.major) {
    throw new Problem(
      'unavailable',
      `${data} was created by PostgreSQL ${made}, this Sandmartin comes with PostgreSQL ${binaries.major}; nothing was changed. With the Sandmartin version that created it, run "sandmartin backup FILE"; then set DATA_DIR to a new folder and run "sandmartin restore FILE" with this one`,
    );
  }
  // Restored by root without its owner: PostgreSQL requires that it owns the folder and that others
  // cannot enter it.
  if (user === undefined || statSync(data).uid === user.uid) return;
  chmodSync(data, 0o700);
  for (const name of readdirSync(data, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(data, name), user.uid, user.gid);
  }
  chownSync(data, user.uid, user.gid); // last: if interrupted, the next start does it again
}

/**
 * Part of the server's command line, so that a process can be recognised as the server of this very
 * folder, not of a copy.
 */
export function folderMark(data: string): string {
  const { dev, ino } = statSync(data);
  return `sandmartin.folder=${dev}-${ino}`;
}

/**
 * Stops a server that outlived its owner anyway. It is stopped and not adopted, so that a running
 * server is always our own child: we learn of its end at once and hold its log. If the pid now
 * belongs to some other process, only the number is overwritten: the rest of postmaster.pid names
 * the shared memory by which PostgreSQL itself notices the last processes of a killed server, and
 * deleting it would give up that protection.
 */
export async function stopLeftover(data: string, log: (message: string) => void): Promise<void> {
  const file = join(data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const lines = readFileSync(file, 'utf8').split('\n');
  const pid = Number(lines[0]);
  if (!(pid > 0)) return unlinkSync(file); // cut short by a power cut; PostgreSQL would refuse it forever
  if (!isAlive(pid)) return;
  const mark = folderMark(data);
  const command = commandLine(pid);
  if (!command.includes(mark)) {
    if (/^\S*postgres[\0 ]/.test(command) && command.includes(data)) {
      throw new Problem(
        'unavailable',
        `${data} is in use by a PostgreSQL server that Sandmartin did not start (pid ${pid}), stop it first`,
      );
    }
    writeFileSync(file, [2 ** 30, ...lines.slice(1)].join('\n')); // above every possible pid
    return;
  }
  log(`stopping the database server with pid ${pid} that an earlier process left behind`);
  for (const [signal, patienceMs] of [
    ['SIGINT', 20_000],
    ['SIGQUIT', 10_000],
  ] as const) {
    signalTo(pid, signal);
    const deadline = Date.now() + patienceMs;
    while (commandLine(pid).includes(mark) && Date.now() < deadline) await setTimeout(10);
    if (!commandLine(pid).includes(mark)) return;
  }
  throw new Problem(
    'unavailable',
    `the database server with pid ${pid} in ${data} does not stop; stop it by hand`,
  );
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended in the meantime.
  }
}

/** Empty for a process that is gone, a zombie or hidden from us. */
function commandLine(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return execFileSync('/bin/ps', ['-ww', '-o', 'command=', '-p', String(pid)], {
      encoding: 'utf8',
    });
  } catch {
    return '';
  }
}
