// The command line as operators and scripts use it: against a running service with the embedded
// database, and without one. The output of commands is checked in this process; `serve`, `doctor`
// and the first of each kind show that they work as processes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerAccount } from '../../src/cli/account.ts';
import { registerIdentity } from '../../src/cli/identity.ts';
import { registerKey } from '../../src/cli/key.ts';
import { registerMessage } from '../../src/cli/message.ts';
import { registerSandbox } from '../../src/cli/sandbox.ts';
import { runInProcess } from '../support/command.ts';
import { runCommand, type ServiceProcess, startProcess } from '../support/process.ts';
import { anEmail, request } from '../support/service.ts';
import { until } from '../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-cli-'));
const env = { DATA_DIR: join(folder, 'data') };
let service: ServiceProcess;

beforeAll(async () => {
  service = await startProcess({ ...env, LOG_LEVEL: 'info' });
});
afterAll(async () => {
  await service.end('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

const COMMANDS = [
  ...[registerAccount, registerIdentity, registerKey, registerMessage, registerSandbox],
];
const run = (args: string[]) =>
  runInProcess((program) => COMMANDS.map((register) => register(program)), args, env);

async function json(...args: string[]) {
  const result = await run([...args, '--json']);
  expect(result.stderr).toBe('');
  expect(result.code).toBe(0);
  return JSON.parse(result.stdout);
}

it('the first start prints a key and two commands that work as they are', async () => {
  const banner = service.output();
  expect(banner).toContain(service.url);
  const key = /sm_live_\w+/.exec(banner)?.[0];
  expect(key).toBeDefined();
  const commands = banner.split('\n').filter((line) => /^(SENT=|curl )/.test(line));
  expect(commands).toHaveLength(2);
  expect(commands[0]).toContain('/v1/send');
  expect(commands[1]).toContain('/v1/messages/');
  const body = /-d '(\{.*\})'/.exec(commands[0]!)?.[1];
  const sent = await request(`${service.url}/v1/send`, {
    method: 'POST',
    headers: { 'x-api-key': key!, 'content-type': 'application/json' },
    body: body!,
  });
  expect(sent.status).toBe(202);
  await until(async () => {
    const timeline = await request(`${service.url}/v1/messages/${sent.body.id}`, {
      headers: { 'x-api-key': key! },
    });
    return timeline.body.status === 'delivered';
  });
});

it('account, identity, key: from nothing to an email and its story', async () => {
  const wish = ['--name', 'Acme', '--plan', 'paid', '--rate', '50'];
  const made = await runCommand(['account', 'create', ...wish, '--json'], env);
  expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: '' });
  const account = JSON.parse(made.stdout);
  expect(account).toMatchObject({ id: expect.any(Number), plan: 'paid', rate_per_second: 50 });
  const id = String(account.id);
  await json('identity', 'add', 'Acme.Example', '--account', id);
  expect(await json('identity', 'list', '--account', id)).toMatchObject([
    { domain: 'acme.example', verified: false },
  ]);
  await json('identity', 'verify', 'acme.example', '--account', id);
  const key = await json(
    'key',
    'create',
    '--account',
    id,
    '--scope',
    'email:send',
    '--scope',
    'email:read',
  );
  expect(key).toMatchObject({
    id: expect.stringMatching(/^key_/),
    key: expect.stringMatching(/^sm_live_/),
  });

  const send = (fields: Parameters<typeof anEmail>[0]) =>
    request(`${service.url}/v1/send`, {
      method: 'POST',
      headers: { 'x-api-key': key.key, 'content-type': 'application/json' },
      body: JSON.stringify(anEmail({ from_email: 'hi@acme.example', ...fields })),
    });
  const sent = await send({});
  const late = await send({ to: ['delayed@simulator.test'] });
  expect(sent.status).toBe(202);
  const shown = await until(async () => {
    const message = await json('message', 'show', sent.body.id);
    return message.status === 'delivered' && message;
  });
  expect(shown.events.map((event: { type: string }) => event.type)).toEqual(['sent', 'delivered']);
  expect(shown).toMatchObject({ template: null, template_version: null, delay: null });
  const { delay } = await until(async () => {
    const message = await json('message', 'show', late.body.id);
    return message.delay !== null && message;
  });
  expect(delay).toMatchObject({ recipients: ['delayed@simulator.test'] });
  expect((await json('message', 'list', '--account', id))[1].id).toBe(sent.body.id);
  expect((await json('sandbox', 'show', sent.body.id)).raw).toContain('hi@acme.example');

  await json('key', 'revoke', key.id);
  expect((await json('key', 'list', '--account', id))[0].revoked_at).toEqual(expect.any(String));
  expect(await json('account', 'set', id, '--plan', 'free')).toMatchObject({ plan: 'free' });
  await json('identity', 'remove', 'acme.example', '--account', id);
});

describe('faults are said in one sentence, with exit code 1', () => {
  it.each([
    [['account', 'create', '--name', 'x', '--plan', 'gold'], /paid or free|free or paid/],
    [['key', 'create', '--account', '999', '--scope', 'email:send'], /no account 999/],
    [['key', 'create', '--account', '1', '--scope', 'email:fly'], /email:fly/],
    [['identity', 'add', 'not a domain', '--account', '1'], /neither a domain nor an address/],
    [['message', 'show', 'msg_x'], /no message msg_x/],
    [['account', 'create', '--name', ' ', '--plan', 'paid'], /--name/],
    [['account', 'set', '1', '--rate', '2000000000'], /--rate.*1000000/],
    [['account', 'set', '1', '--daily-quota', '99999999999'], /--daily-quota/],
  ])('%j', async (args, words) => {
    const result = await run(args);
    expect(result.stderr).toMatch(words);
    expect(result.stderr).not.toContain('at ');
    expect(result.code).toBe(1);
  });

  it('serve on a folder that is in use', async () => {
    const result = await runCommand(['serve'], { ...env, PORT: '0', FEEDBACK_PORT: '0' });
    expect(result.stderr).toMatch(/already in use/);
    expect(result.stderr).not.toContain('at ');
    expect(result.code).toBe(1);
  });

  it.each([
    [{ DATABASE_URL: 'postgres://x@127.0.0.1:1/x' }, /ECONNREFUSED.*DATABASE_URL/],
    [{ HOST: 'no.such.host.invalid' }, /HOST/],
    [{ FEEDBACK_TLS_CERT: '/no/file', FEEDBACK_TLS_KEY: '/no/file' }, /\/no\/file.*FEEDBACK_TLS/],
  ])('serve with %j', async (wrong, words) => {
    const own = { DATA_DIR: join(folder, 'other'), PORT: '0', FEEDBACK_PORT: '0' };
    const result = await runCommand(['serve'], { ...own, LOG_LEVEL: 'silent', ...wrong });
    expect(result.stderr).toMatch(words);
    expect(result.stderr).not.toContain('    at ');
    expect(result.code).toBe(1);
  });

  it('serve on a port that is taken', async () => {
    const result = await runCommand(['serve'], {
      DATA_DIR: join(folder, 'other'),
      LOG_LEVEL: 'silent',
      FEEDBACK_PORT: '0',
      PORT: new URL(service.url).port,
    });
    expect(result.stderr).toMatch(/EADDRINUSE.*PORT/);
    expect(result.stderr).not.toContain('    at ');
    expect(result.code).toBe(1);
  });

  it('every fault of the configuration at once', async () => {
    const result = await runCommand(['serve'], {
      PORT: 'many',
      DATABASE_URL: 'mysql://x',
      RELAY_URL: 'http://x',
      ROLES: 'api,cook',
    });
    for (const name of ['PORT', 'DATABASE_URL', 'RELAY_URL', 'ROLES']) {
      expect(result.stderr).toContain(`${name}: `);
    }
    expect(result.code).toBe(1);
  });
});

it('doctor answers in plain words', async () => {
  const result = await runCommand(['doctor', '--json'], env);
  const findings = JSON.parse(result.stdout) as { check: string; ok: boolean }[];
  expect(findings.map((finding) => finding.check)).toEqual(
    expect.arrayContaining(['database', 'clock', 'relay', 'API port', 'disk']),
  );
  expect(findings.find((finding) => finding.check === 'database')?.ok).toBe(true);
});

it('logs name request, account and message, and never a key or a body', async () => {
  const log = service.output();
  expect(log).toMatch(/"account":1,"message":"msg_/);
  const lines = log.split('\n').filter((line) => line.startsWith('{'));
  expect(lines.join('\n')).not.toMatch(/sm_live_|It works!/);
});

it('after a restart the key is not shown again, and how to make one is', async () => {
  expect(await service.end('SIGTERM')).toBe(0);
  service = await startProcess(env);
  expect(service.output()).not.toContain('sm_live_');
  expect(service.output()).toContain('key create');
});
