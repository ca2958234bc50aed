// A fresh checkout in a folder with a space in its name: every way to install it, what is said
// next, a slice of npm test, and npm start for a user who is not root and has no home.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { announceSkip } from '../support/browser.ts';
import { blockOf } from '../support/docs.ts';
import { freePort } from '../support/process.ts';
import { anEmail, request } from '../support/service.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'sandmartin checkout '));
const checkout = join(folder, 'a clone');
/** Only what a shell has: nothing of the npm and the Vitest that run this. */
const ENV: NodeJS.ProcessEnv = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(npm_|VITEST|NODE_ENV$|TEST$|INIT_CWD)/i.test(name),
    ),
  ),
  npm_config_update_notifier: 'false',
};
/** No entry in any user table. */
const NAMELESS = { uid: 54_322, gid: 54_322 };
const isRoot = process.getuid?.() === 0;
if (!isRoot) announceSkip('npm start is tried as the user of the tests only, who is not root');

beforeAll(() => {
  const isMade = /^(\.git|node_modules|dist|\.sandmartin|\.artifacts)$/;
  cpSync(ROOT, checkout, { recursive: true, filter: (path) => !isMade.test(basename(path)) });
  chmodSync(folder, 0o755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Typed in the checkout. Not waited for on the worker's thread, which has to answer Vitest. */
async function run(command: string, env: Record<string, string> = {}) {
  const [program, ...args] = command.split(' ');
  const child = spawn(program!, args, { cwd: checkout, env: { ...ENV, ...env } });
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { status, stdout, stderr };
}

/** As three pages have it. */
const TYPED = [
  blockOf('README.md', 'npm ci && npm start'),
  blockOf('docs/quickstart.md', 'npm ci && npm start'),
  blockOf('docs/install.md', 'npm ci && npm start'),
];
const [NPM_CI, NPM_START] = /^(.*) && (npm start)/.exec(TYPED[0]!)!.slice(1) as [string, string];
const INSTALL = `${NPM_CI} --prefer-offline --no-audit`;

async function install(command: string, env?: Record<string, string>): Promise<void> {
  const { status, stdout, stderr } = await run(command, env);
  expect(status, stdout + stderr).toBe(0);
}

it.each([
  ['npm ci --omit=dev', `${INSTALL} --omit=dev`, {}],
  ['NODE_ENV=production npm ci', INSTALL, { NODE_ENV: 'production' }],
])(
  '%s succeeds, and npm start says what is next',
  async (_typed, command, env) => {
    await install(command, env);
    expect(existsSync(join(checkout, 'node_modules/vite'))).toBe(false);
    const start = await run(NPM_START, env);
    expect(start.status).toBe(1);
    expect(start.stderr).toMatch(/Sandmartin is not built: .*npm ci/);
  },
  300_000,
);

describe('after npm ci', () => {
  beforeAll(() => install(INSTALL), 300_000);

  it('npm test runs: of it, what sends to a service, npm start, and a command behind a shell', async () => {
    // What they are about, in their names.
    const slice = 'spec/4.1-send install/start testing/serve-sandbox -t npm|202';
    const { status, stdout } = await run(`npx vitest run ${slice}`);
    expect(status, stdout).toBe(0);
    expect(stdout).toMatch(/Test Files .*3 passed/);
  }, 300_000);

  it('npm start serves a user who is not root and has a new home, from the first email to SIGTERM', async () => {
    const home = join(folder, 'home');
    mkdirSync(home);
    if (isRoot) {
      chownSync(home, NAMELESS.uid, NAMELESS.gid);
      spawnSync('chown', ['-R', `${NAMELESS.uid}:${NAMELESS.gid}`, checkout]);
    }
    const port = String(await freePort());
    const { DATABASE_URL: _theirs, BASE_URL: _too, ...env } = ENV;
    const npm = spawn('npm', ['start'], {
      cwd: checkout,
      env: { ...env, HOME: home, PORT: port, FEEDBACK_PORT: '0', LOG_LEVEL: 'warn' },
      stdio: ['ignore', 'pipe', 'inherit'],
      ...(isRoot && NAMELESS),
    });
    const ended = once(npm, 'exit');
    onTestFinished(() => void npm.kill('SIGTERM'));
    let banner = '';
    npm.stdout!.on('data', (chunk) => {
      banner += chunk;
    });
    const key = await until(() => /sm_live_\w+/.exec(banner)?.[0]);
    const url = `http://127.0.0.1:${port}`;
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const body = JSON.stringify(anEmail({ from_email: 'hello@demo.example' }));
    const sent = await request(`${url}/v1/send`, { method: 'POST', headers, body });
    expect(sent.status).toBe(202);
    await until(async () => {
      const message = await request(`${url}/v1/messages/${sent.body.id}`, { headers });
      return message.body.status === 'delivered';
    });
    const data = statSync(join(checkout, '.sandmartin/postgres/data'));
    expect(data.uid).toBe(statSync(home).uid);
    npm.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});
