// Identities from the command line, as operators use them: records shown, DNS queried, an address
// verified by its email.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerIdentity } from '../../src/cli/identity.ts';
import { registerSuppression } from '../../src/cli/suppression.ts';
import { captured } from '../support/captured.ts';
import { runInProcess } from '../support/command.ts';
import { startDns, type TestDns } from '../support/dns-server.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let dns: TestDns;
let account: TestAccount;

beforeAll(async () => {
  dns = await startDns();
  service = await startTestService();
  account = await service.account();
});
afterAll(async () => {
  await service.stop();
  await dns.close();
});

const run = (args: string[], env: Record<string, string> = {}) =>
  runInProcess(
    (program) => {
      registerIdentity(program);
      registerSuppression(program);
    },
    args,
    {
      DATABASE_URL: service.databaseUrl,
      BASE_URL: service.url,
      DNS_SERVERS: dns.address,
      BOUNCE_DOMAIN: 'bounces.test',
      ...env,
    },
  );

async function json(args: string[], env?: Record<string, string>) {
  const { stdout, stderr } = await run([...args, '--json'], env);
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

const of = (id = account.id) => ['--account', String(id)];

it('a domain: added with its records, checked with what was seen and expected', async () => {
  const added = await run(['identity', 'add', 'Shop.Example', ...of()]);
  expect(added.code).toBe(0);
  expect(added.stdout).toContain('shop.example is not verified yet.');
  const { records } = await json(['identity', 'add', 'shop.example', ...of()]);
  for (const { name, type, value } of records) {
    expect(added.stdout).toContain(`${name}  ${type}`);
    expect(added.stdout).toContain(value);
  }
  expect((await json(['identity', 'records', 'shop.example'])).records).toEqual(records);

  const before = await run(['identity', 'check', 'shop.example']);
  expect(before.code).toBe(1);
  expect(before.stdout).toContain('is not verified');
  expect(before.stdout).toContain(`expected  ${records[0].value}`);

  for (const { type, name, value } of records) dns.publish(type, name, value);
  dns.publish('TXT', '_sandmartin.shop.example', 'something else');
  const after = await run(['identity', 'check', 'shop.example']);
  expect(after.stdout).toContain('is verified');
  expect(after.stdout).not.toContain('FAULT');
  expect(after.code).toBe(0);
});

it('--verified marks at once and creates keys anyway', async () => {
  const added = await json(['identity', 'add', 'now.example', ...of(), '--verified']);
  expect(added).toMatchObject({ domain: 'now.example', verified: true, verified_by: 'operator' });
  const sent = await service.send(account.key, anEmail({ from_email: 'a@now.example' }));
  const { raw } = await captured(service.database, sent.body.id);
  expect(raw.toString().match(/^DKIM-Signature: .*/gm)).toHaveLength(2);
});

describe('an address', () => {
  const SYSTEM = { SYSTEM_SENDER: 'Sandmartin <noreply@example.com>' };

  it('is proven by a link that works once, and by a click, not by a look', async () => {
    const other = await service.account({ identities: [] });
    const added = await json(['identity', 'add', 'Ada@Home.Example', ...of(other.id)], SYSTEM);
    expect(added).toMatchObject({ address: 'ada@home.example', verified: false });
    const { email: got } = await captured(service.database, added.verification_message);
    expect(got.from?.address).toBe('noreply@example.com');
    expect(got.to?.[0]?.address).toBe('ada@home.example');
    const link = /http:\S+\/verify\/[\w-]+/.exec(got.text ?? '')![0];
    expect(got.html).toContain(`href="${link}"`);

    const maySend = async () =>
      (await service.send(other.key, anEmail({ from_email: 'ada@home.example' }))).status;
    const page = await fetch(link);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('Yes, verify ada@home.example');
    expect(await maySend()).toBe(403);
    expect((await fetch(link, { method: 'POST' })).status).toBe(200);
    await until(async () => (await maySend()) === 202);
    expect((await fetch(link, { method: 'POST' })).status).toBe(404);
    expect((await fetch(link)).status).toBe(404);
  });

  it('gets its email in the sandbox without any setting', async () => {
    const added = await json(['identity', 'add', 'zoe@home.example', ...of()]);
    const { email: got } = await captured(service.database, added.verification_message);
    expect(got.from?.address).toBe('no-reply@example.com');
    expect(got.to?.[0]?.address).toBe('zoe@home.example');
  });

  it('a newer link replaces the older, and none lives longer than two days', async () => {
    const add = async () => {
      const { verification_message } = await json(
        ['identity', 'add', 'bob@home.example', ...of()],
        SYSTEM,
      );
      const { email: got } = await captured(service.database, verification_message);
      return /http:\S+\/verify\/[\w-]+/.exec(got.text ?? '')![0];
    };
    const first = await add();
    const second = await add();
    expect((await fetch(first)).status).toBe(404);
    expect((await fetch(second)).status).toBe(200);
    await service.database.query(`UPDATE address_verifications SET expires_at = now()`);
    expect((await fetch(second, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${service.url}/verify/nonsense`)).status).toBe(404);
  });

  it.each([
    ['SYSTEM_SENDER is not set', { RELAY_URL: 'smtp://127.0.0.1:2' }],
    ['not a verified identity', { SYSTEM_SENDER: 'a@nowhere.example' }],
  ])('is added and told why there is no email: %s', async (why, env) => {
    const { stdout, code } = await run(['identity', 'add', 'eve@home.example', ...of()], env);
    expect(code).toBe(0);
    expect(stdout).toContain('eve@home.example is not verified yet.');
    expect(stdout).toContain(why);
  });
});

describe('suppressions', () => {
  it('are listed, added and removed, in any writing of the address', async () => {
    const added = await json(['suppression', 'add', 'Ada@BÜCHER.example', ...of()]);
    expect(added).toMatchObject({ address: 'ada@xn--bcher-kva.example', reason: 'manual' });
    expect(await json(['suppression', 'list', ...of()])).toMatchObject([added]);
    const id = (await service.send(account.key, anEmail({ to: ['ADA@bücher.example'] }))).body.id;
    const { events } = await until(async () => {
      const { body } = await service.get(account.key, `/v1/messages/${id}`);
      return body.status === 'bounced' && body;
    });
    expect(events).toMatchObject([{ type: 'bounced', bounce_type: 'suppressed' }]);
    await json(['suppression', 'remove', 'ada@xn--bcher-kva.EXAMPLE', ...of()]);
    expect(await json(['suppression', 'list', ...of()])).toEqual([]);
  });

  it.each([
    [['add', 'no-address'], /no-address/],
    [['remove', 'nobody@example.net'], /not/],
  ])('%j says what is wrong', async (args, words) => {
    const { code, stderr } = await run(['suppression', ...args, ...of()]);
    expect(code).toBe(1);
    expect(stderr).toMatch(words);
  });
});
