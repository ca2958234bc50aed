// Installing and starting the way people and their init systems do.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { freePort, runCommand } from '../support/process.ts';
import { makeAccount } from '../support/service.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'sandmartin install '));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('SIGTERM to npm start ends the service with it', async () => {
  const database = await createTestDatabase();
  const port = await freePort();
  const { BASE_URL: _theirs, ...env } = process.env;
  const npm = spawn('npm', ['start'], {
    cwd: ROOT,
    env: {
      ...env,
      ...{ PORT: String(port), FEEDBACK_PORT: '0', DATABASE_URL: database.url, LOG_LEVEL: 'warn' },
    },
    stdio: 'ignore',
  });
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(answers);
  npm.kill('SIGTERM');
  await until(async () => !(await answers()));
  await database.drop();
});

it('an install without development dependencies does not fail, and the command says what is missing', () => {
  const checkout = join(folder, 'checkout');
  mkdirSync(checkout);
  for (const part of ['scripts', 'bin', 'package.json']) {
    cpSync(join(ROOT, part), join(checkout, part), { recursive: true });
  }
  const run = (...args: string[]) =>
    spawnSync(process.execPath, args, { cwd: checkout, encoding: 'utf8' });
  expect(run('scripts/prepare.js')).toMatchObject({ status: 0, stderr: '' });
  const command = run('bin/sandmartin.js', '--version');
  expect(command.status).toBe(1);
  expect(command.stderr).toMatch(/^Sandmartin is not built: .*npm ci/);
});

it('--version behind a command is that command’s, before it the program’s', async () => {
  const database = await createTestDatabase();
  const env = { DATABASE_URL: database.url };
  const { id } = await makeAccount(database.database);
  const template = async (...args: string[]) => {
    const { stdout, stderr } = await runCommand(
      ['template', ...args, '--account', String(id), '--json'],
      env,
    );
    return stdout === '' ? stderr : JSON.parse(stdout);
  };
  await template('clone', 'welcome');
  for (const subject of ['Second', 'Third']) await template('put', 'welcome', '--subject', subject);
  expect(await template('publish', 'welcome', '--version', '2')).toMatchObject({
    published_version: 2,
  });
  const live = await template('render', 'welcome', '--sample');
  expect(live.subject).toBe('Second');
  expect(await template('publish', 'welcome', '--version', '4')).toMatch(/version 4/);
  expect((await runCommand(['--version'], env)).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  await database.drop();
});
