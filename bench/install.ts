// npm run bench install: from an empty folder to the first email: the packed program is installed
// as the registry would give it, started, and its banner's own commands are pasted. Bytes and
// seconds of each step. The goal is less than 60 s in all. What npm has fetched before comes from
// its cache; the time to fetch the rest is the network's.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../tests/support/process.ts';
import { judge, single } from './support/results.ts';

const { BASE_URL: _theirs, DATABASE_URL: _of, ...ENV } = process.env;
const MEGABYTES = { better: 'lower', unit: 'MB', digits: 1 } as const;
const SECONDS = { better: 'lower', unit: 's', digits: 1 } as const;

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-bench-'));
const app = join(folder, 'app');
try {
  npm(['pack', '--ignore-scripts', '--pack-destination', folder], '.');
  const packed = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz'))!);
  judge('the package', single(statSync(packed).size / 2 ** 20), MEGABYTES);
  mkdirSync(app);
  const begun = performance.now();
  npm(['install', '--omit=dev', '--prefer-offline', '--no-audit', packed], app);
  const installed = since(begun);
  judge('installed, with PostgreSQL', single(megabytes(join(app, 'node_modules'))), MEGABYTES);
  judge('npm install', single(installed), SECONDS);
  judge('first start and first email', single(await firstEmail()), SECONDS);
  judge('from nothing to the first email', single(since(begun)), { ...SECONDS, goal: 60 });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function since(begun: number): number {
  return (performance.now() - begun) / 1000;
}

/** Seconds until its timeline says that it was delivered. */
async function firstEmail(): Promise<number> {
  const begun = performance.now();
  const service = spawn('npx', ['sandmartin'], {
    cwd: app,
    env: { ...ENV, PORT: String(await freePort()), FEEDBACK_PORT: '0', LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  try {
    let banner = '';
    service.stdout.on('data', (text) => {
      banner += text;
    });
    while (!banner.includes('Sandmartin is running')) await once(service.stdout, 'data');
    const [send, read] = banner.split('\n').filter((line) => /^(SENT=|curl )/.test(line));
    let told = shell(`${send}\n${read}`);
    const id = /msg_\w+/.exec(told)![0];
    while (!told.includes('"status":"delivered"')) {
      await wait(20);
      told = shell(read!.replace(/\$\(.*\)/, id));
    }
    return since(begun);
  } finally {
    // npx hands no signal on: Ctrl-C goes to all that the terminal started.
    const ended = once(service, 'exit');
    process.kill(-service.pid!, 'SIGINT');
    await ended;
  }
}

function shell(commands: string): string {
  return spawnSync('bash', ['-c', commands], { encoding: 'utf8' }).stdout;
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
