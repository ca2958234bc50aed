// Installing and starting the way people and their init systems do, and as the pages tell them to.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { blockOf, substituted } from '../support/docs.ts';
import { freePort, runCommand } from '../support/process.ts';
import { anEmail, makeAccount, request } from '../support/service.ts';
import { startSink } from '../support/smtp-sink.ts';
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

/** As somebody types it in the checkout, until the test is over. */
function typeIn(command: string, env: Record<string, string>): { output: () => string } {
  const { BASE_URL: _theirs, DATABASE_URL: _of, ...rest } = process.env;
  const child = spawn('bash', ['-c', command], {
    cwd: ROOT,
    env: { ...rest, FEEDBACK_PORT: '0', LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // npx passes no signal on.
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    const ended = once(child, 'close');
    process.kill(-child.pid!, 'SIGTERM');
    await ended;
  });
  return { output: () => output };
}

const PRODUCTION = [
  [
    'README.md',
    (url: string, relay: string) =>
      substituted(blockOf('README.md', 'export DATABASE_URL'), {
        'postgres://…': url,
        'smtp://user:password@relay.example:587': relay,
        'SECRET_KEY=…': 'SECRET_KEY=only-for-this-test-0123456789abcdef',
      }),
  ],
  [
    'docs/quickstart.md',
    (_url: string, relay: string) =>
      substituted(blockOf('docs/quickstart.md', 'export RELAY_URL'), {
        'smtp://user:password@smtp.example.com:587': relay,
      }),
  ],
] as const;

it.each(PRODUCTION)(
  'in production, as %s says: doctor finds what was set',
  async (_page, block) => {
    const database = await createTestDatabase();
    onTestFinished(() => database.drop());
    const [PORT, FEEDBACK_PORT] = [String(await freePort()), String(await freePort())];
    // A relay with a transport for BOUNCE_DOMAIN.
    const feedback = createTransport({
      ...{ host: '127.0.0.1', port: Number(FEEDBACK_PORT), ignoreTLS: true },
    });
    const relay = await startSink({
      onEmail: async ({ from, recipients, raw }) => {
        await feedback.sendMail({ envelope: { from, to: recipients }, raw });
      },
    });
    onTestFinished(() => relay.stop());
    const env = { PORT, FEEDBACK_PORT, DATABASE_URL: database.url };
    const [exported, doctor] = block(database.url, relay.url).split('npm start\n');
    const service = typeIn(`${exported}exec npm start`, env);
    await until(() => service.output().includes('Sandmartin is running'));

    // "in another terminal, with the same variables"
    const checked = typeIn(`${exported}${doctor}echo "ended with $?"`, env);
    await until(() => checked.output().includes('ended with'));
    const said = checked.output();
    const valueIn = (name: string) => new RegExp(`\\b${name}=(\\S+)`).exec(exported!)?.[1];
    expect(said).toMatch(/^ok +relay +The relay answers/m);
    expect(said).toMatch(/^ok +probe default /m);
    expect(said).toContain(`BASE_URL is ${valueIn('BASE_URL')}.`);
    expect(said).toContain(`${valueIn('BOUNCE_DOMAIN')} has no MX`);
    expect(said).toMatch(valueIn('SECRET_KEY') ? /^ok +secret /m : /^WARN +secret /m);
    expect(said).toContain(`The service runs on port ${PORT}.`);
  },
);

it('split by roles, as docs/scale.md says: the email goes through two of them', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const relay = await startSink();
  onTestFinished(() => relay.stop());
  const [PORT, FEEDBACK_PORT] = [String(await freePort()), String(await freePort())];
  const env = {
    ...{ PORT, FEEDBACK_PORT, DATABASE_URL: database.url, RELAY_URL: relay.url },
    ...{ SECRET_KEY: 'only-for-this-test-0123456789abcdef', BOUNCE_DOMAIN: 'bounces.example' },
  };
  const lines = blockOf('docs/scale.md', 'ROLES=api').trim().split('\n');
  expect(lines).toHaveLength(3);
  for (const line of lines) typeIn(line, env);
  const { key } = await makeAccount(database.database);
  const answer = await until(() =>
    request(`http://127.0.0.1:${PORT}/v1/send`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(anEmail()),
    }).then(
      (given) => given.status !== 503 && given,
      () => false as const,
    ),
  );
  expect(answer.status).toBe(202);
  await until(() => relay.emails.length === 1);
  await until(async () => (await greeting(Number(FEEDBACK_PORT))).startsWith('220 '));
});

it('with doors for SMTP, as docs/smtp.md says', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const fixture = (name: string) => join(ROOT, 'tests/smtp/fixtures', name);
  const [plain, tls] = [await freePort(), await freePort()];
  const service = typeIn(
    substituted(blockOf('docs/smtp.md', 'SMTP_PORT='), {
      '587': String(plain),
      '465': String(tls),
      // The tests are heard on this machine only.
      '0.0.0.0': '127.0.0.1',
      '/etc/tls/fullchain.pem': fixture('localhost-cert.pem'),
      '/etc/tls/privkey.pem': fixture('localhost-key.pem'),
    }),
    { PORT: String(await freePort()), DATABASE_URL: database.url },
  );
  await until(() => service.output().includes('Sandmartin is running'));
  const { key: pass } = await makeAccount(database.database);
  for (const way of [
    { port: plain, requireTLS: true },
    { port: tls, secure: true },
  ]) {
    const sent = await createTransport({
      ...{ host: '127.0.0.1', ...way, auth: { user: 'apikey', pass } },
      tls: { rejectUnauthorized: false },
    }).sendMail({ from: 'a@example.com', to: 'ada@example.net', subject: 'Hi', text: 'Hi' });
    expect(sent.response).toMatch(/^250 2\.0\.0 queued as msg_/);
  }
});

/** What an SMTP server says first; nothing, where nobody listens. */
function greeting(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  return once(socket, 'data').then(
    ([bytes]) => {
      socket.destroy();
      return String(bytes);
    },
    () => '',
  );
}
