// sandmartin relay: add, list, set, test and remove, as operators type it, against relays of the
// test, beside a service that applies every change while it runs.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { registerMessage } from '../../src/cli/message.ts';
import { registerRelay } from '../../src/cli/relay.ts';
import { runInProcess } from '../support/command.ts';
import { type FaultyRelay, startFaultyRelay } from '../support/faulty-relay.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { type SmtpSink, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';
import { haveRelays } from './support.ts';

let service: TestService;
let account: TestAccount;
let first: SmtpSink;
let second: SmtpSink;
let withLogin: FaultyRelay;

beforeAll(async () => {
  [first, second, withLogin] = [await startSink(), await startSink(), await startFaultyRelay()];
  service = await startTestService({ RELAY_URL: first.url });
  account = await service.account();
});
afterAll(async () => {
  await service.stop();
  for (const relay of [first, second, withLogin]) await relay.stop();
});

const relay = (...args: string[]) =>
  runInProcess(registerRelay, ['relay', ...args], {
    ...{ DATABASE_URL: service.databaseUrl, RELAY_URL: first.url },
  });
async function json(...args: string[]) {
  const { stdout, stderr, code } = await relay(...args, '--json');
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return JSON.parse(stdout);
}
/** As it lies in the database. */
const stored = async () =>
  (await service.database.query<{ url: Buffer }>('SELECT url FROM relays'))[0]!.url.toString(
    'latin1',
  );

it('list shows the relay of RELAY_URL, which is there without a row', async () => {
  const { stdout, code } = await relay('list');
  expect(code).toBe(0);
  expect(stdout).toMatch(/NAME +ADDRESS +STATE +WEIGHT +LIMITS +FOR/);
  expect(stdout).toMatch(/default +smtp:\/\/127\.0\.0\.1:\d+\S* +up +1 +none +any email/);
});

it('add tries it, keeps the password sealed, and the running service uses it', async () => {
  const url = withLogin.url.replace('u:p@', 'user:secret%20word@');
  const added = await json(
    ...['add', 'eu', '--url', url, '--weight', '3', '--connections', '2', '--rate', '50'],
    ...['--daily', '1000', '--rule', `account=${account.id},tag=eu`, '--rule', 'to=Example.ORG'],
  );
  expect(added).toMatchObject({
    ...{ name: 'eu', weight: 3, connections: 2, rate_per_second: 50, daily_limit: 1000 },
    rules: [{ account_id: account.id, tag: 'eu' }, { recipient_domain: 'example.org' }],
  });
  expect(JSON.stringify(added)).not.toContain('secret');
  expect(await stored()).not.toContain('secret');
  await haveRelays(service, ['default', 'eu']);
  const { id } = (await service.send(account.key, anEmail({ tags: ['eu'] }))).body;
  await until(() => withLogin.taken.length === 1);
  expect(withLogin.arrivals[0]!.by).toBe('user');
  const { stdout } = await relay('list');
  expect(stdout).toContain('2 connections, 50 a second');
  expect(stdout).not.toContain('secret');
  await until(async () => {
    const env = { DATABASE_URL: service.databaseUrl, RELAY_URL: first.url };
    const shown = await runInProcess(registerMessage, ['message', 'show', id], env);
    return /^Relay +eu$/m.test(shown.stdout);
  });
});

it('add refuses a relay that does not work, one that is there, and wrong words', async () => {
  const nowhere = ['--url', 'smtp://127.0.0.1:1'];
  const refused = await relay('add', 'us', ...nowhere);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('was tested and does not work');
  expect(refused.stderr).toContain('Nothing was saved');
  expect((await relay('add', 'eu', '--url', second.url)).stderr).toContain('already');
  expect((await relay('add', 'default', '--url', second.url)).code).toBe(1);
  expect((await relay('add', 'us', '--url', 'http://x')).stderr).toContain('url');
  expect((await relay('add', 'us', '--url', second.url, '--rule', 'colour=red')).code).toBe(1);
  const untested = await json('add', 'us', ...nowhere, '--untested');
  expect(untested).toMatchObject({ name: 'us', state: 'unknown' });
});

it('set changes the given fields and nothing else', async () => {
  const before = await json('list').then((data) =>
    data.find((it: { name: string }) => it.name === 'eu'),
  );
  const changed = await json('set', 'eu', '--weight', '0', '--rate', '0', '--no-rules');
  expect(changed).toMatchObject({ ...before, weight: 0, rate_per_second: null, rules: [] });
  expect(await json('set', 'eu', '--daily', '0')).toMatchObject({ daily_limit: null, weight: 0 });
  expect(await json('set', 'us', '--url', second.url)).toMatchObject({ name: 'us' });
  expect(await json('set', 'default', '--enabled', 'off')).toMatchObject({ state: 'disabled' });
  await haveRelays(service, ['eu', 'us']);
  const { id } = (await service.send(account.key, anEmail())).body;
  await until(() => second.emails.some(({ envelopeId }) => envelopeId === id));
  expect((await relay('set', 'default', '--url', second.url)).stderr).toContain('RELAY_URL');
  const unknown = await relay('set', 'nobody', '--weight', '1');
  expect(unknown.code).toBe(1);
  expect(unknown.stderr).toContain('no relay called nobody');
  expect(unknown.stderr).toContain('relay list');
});

it('test tells whether it works and reports deliveries, and fails when it does not', async () => {
  expect(await json('test', 'us')).toMatchObject({ ok: true, dsn: true });
  await withLogin.fail('refuses the login');
  const { stdout, code } = await relay('test', 'eu');
  expect(code).toBe(1);
  expect(stdout).toContain('535');
  await withLogin.heal();
});

it('remove hands nothing more to it; RELAY_URL stays', async () => {
  const { stdout } = await relay('remove', 'eu');
  expect(stdout).toContain('eu is removed');
  await json('remove', 'us');
  // What an operator said of default is forgotten with its row.
  await json('remove', 'default');
  await haveRelays(service, ['default']);
  // For a moment all that were left were disabled: 502.
  const { id } = await until(async () => {
    const { status, body } = await service.send(account.key, anEmail());
    return status === 202 && body;
  });
  await until(() => first.emails.some(({ envelopeId }) => envelopeId === id));
  expect((await relay('remove', 'us')).stderr).toContain('no relay called us');
  const kinds = await service.database.query<{ action: string }>('SELECT action FROM audit');
  expect(kinds.map(({ action }) => action)).toEqual(
    expect.arrayContaining(['add_relay', 'update_relay', 'remove_relay', 'test_relay']),
  );
  const rows = await service.database.query('SELECT * FROM audit');
  expect(JSON.stringify(rows)).not.toContain('secret');
});
