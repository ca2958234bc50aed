// PostgreSQL's own benchmark, where it is installed: what the server does when nobody stands before
// it.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const DEBIAN = '/usr/lib/postgresql';

export const NO_PGBENCH = 'pgbench is not installed (Debian: postgresql-contrib)';

export function findPgbench(): string | undefined {
  const folders = (process.env.PATH ?? '').split(':');
  if (existsSync(DEBIAN)) {
    folders.push(...readdirSync(DEBIAN).map((version) => join(DEBIAN, version, 'bin')));
  }
  return folders.map((it) => join(it, 'pgbench')).find((file) => existsSync(file));
}

interface Script {
  /** One of them, at random, is a transaction. */
  scripts: string[];
  clients: number;
  variables?: Record<string, string>;
  /** As often as it takes for so long, in statements that are planned once… */
  seconds?: number;
  /** …or each client once, planning every statement. */
  once?: true;
}

/** Transactions a second. */
export function runPgbench(
  pgbench: string,
  url: string,
  { scripts, clients, variables = {}, seconds, once }: Script,
): number {
  const args = ['-n', '-c', String(clients), '-j', '2'];
  args.push(...(once ? ['-M', 'extended', '-t', '1'] : ['-M', 'prepared', '-T', String(seconds)]));
  for (const [name, value] of Object.entries(variables)) args.push('-D', `${name}=${value}`);
  const out = execFileSync(pgbench, [...args, ...scripts.flatMap((file) => ['-f', file]), url], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const rate = Number(/tps = ([\d.]+)/.exec(out)?.[1]);
  if (!(rate > 0)) throw new Error(`pgbench got nothing done:\n${out}`);
  return rate;
}

/**
 * A statement with its values written into it, on one line, as pgbench reads it. It would take a
 * colon for the beginning of a variable, so strings have none.
 */
export function asStatement(text: string, values: readonly unknown[]): string {
  const plain = text
    .replace(/\s+/g, ' ')
    .replace(/'[^']*:[^']*'/g, (string) => escaped(string.slice(1, -1)))
    .replace(/\$(\d+)/g, (_, place) => literal(values[Number(place) - 1]));
  return `${plain};\n`;
}

function literal(value: unknown): string {
  if (typeof value === 'number') return String(value);
  const text = Array.isArray(value)
    ? `{${value.map((it) => JSON.stringify(it)).join(',')}}`
    : String(value);
  return escaped(text.replaceAll("'", "''"));
}

const escaped = (text: string): string =>
  `E'${text.replaceAll('\\', '\\\\').replaceAll(':', '\\x3A')}'`;
