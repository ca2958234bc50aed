// PostgreSQL's own benchmark, where it is installed: what the server does when nobody stands before
// it.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const DEBIAN = '/usr/lib/postgresql';

export function findPgbench(): string | undefined {
  const folders = (process.env.PATH ?? '').split(':');
  if (existsSync(DEBIAN)) {
    folders.push(...readdirSync(DEBIAN).map((version) => join(DEBIAN, version, 'bin')));
  }
  return folders.map((it) => join(it, 'pgbench')).find((file) => existsSync(file));
}

/** Transactions a second, of these scripts in prepared statements. */
export function runPgbench(
  pgbench: string,
  url: string,
  { scripts, clients, seconds }: { scripts: string[]; clients: number; seconds: number },
): number {
  const args = ['-n', '-M', 'prepared', '-c', String(clients), '-j', '2', '-T', String(seconds)];
  const out = execFileSync(pgbench, [...args, ...scripts.flatMap((file) => ['-f', file]), url], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return Number(/tps = ([\d.]+)/.exec(out)?.[1]);
}
