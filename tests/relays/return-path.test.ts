// A domain's own return path is used only after a probe came back through it: with a CNAME alone,
// and a relay that cannot route there, every report would be lost although everything looks fine.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addDomain } from '../../src/accounts/domains.ts';
import { registerDoctor } from '../../src/cli/doctor.ts';
import { registerIdentity } from '../../src/cli/identity.ts';
import { openSecret } from '../../src/roles/secrets.ts';
import { createRelay } from '../../src/smtp/relay.ts';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import { runInProcess } from '../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startDns, type TestDns } from '../support/dns-server.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { type SmtpSink, startSink, type TakenEmail } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';
import { addRelay, changeRelays, haveRelays, removeRelay } from './support.ts';

let dns: TestDns;
let test: TestDatabase;
let service: TestService;
let account: TestAccount;
let one: SmtpSink;
let two: SmtpSink;
/** Which of the relays have a way to the listener, as a transport of Postfix would be. */
const leads = { one: false, two: false };

/** Email to a return path goes on to the feedback listener; other email stays here. */
async function pass(from: keyof typeof leads, { recipients, raw }: TakenEmail): Promise<void> {
  if (!leads[from] || !recipients[0]!.startsWith('probe+')) return;
  const url = `smtp://127.0.0.1:${service.feedbackPort}?tls=off`;
  const relay = createRelay({ url, name: from, maxConnections: 1 });
  const envelope = { from: '', recipients, envelopeId: 'x', smtputf8: false };
  await relay.hand(envelope, [Buffer.from(raw)]);
  await relay.close();
}

beforeAll(async () => {
  dns = await startDns();
  one = await startSink({ onEmail: (taken) => pass('one', taken) });
  two = await startSink({ onEmail: (taken) => pass('two', taken) });
  test = await createTestDatabase();
  service = await startWith(one.url);
  account = await service.account({ identities: [] });
});
afterAll(async () => {
  await service.stop();
  await test.drop();
  await one.stop();
  await two.stop();
  await dns.close();
});

const settings = (relayUrl: string | undefined) => ({
  ...{ DNS_SERVERS: dns.address, BOUNCE_DOMAIN: 'bounces.test' },
  ...(relayUrl === undefined ? {} : { RELAY_URL: relayUrl }),
});
const startWith = (relayUrl: string | undefined) =>
  startTestService(settings(relayUrl), { on: test });
async function restartWith(relayUrl: string | undefined): Promise<void> {
  await service.stop();
  service = await startWith(relayUrl);
}

async function add(domain: string): Promise<void> {
  const { vault } = await openSecret(service.database, undefined);
  const deps = { database: service.database, bounceDomain: 'bounces.test', vault };
  const { records } = await addDomain(deps, account.id, domain, true);
  for (const { type, name, value } of records) dns.publish(type, name, value);
}
async function check(domain: string): Promise<void> {
  const { api } = await openSignedIn(service, { accountId: account.id });
  await api.domains.check({ domain });
}
async function returnPathOf(domain: string): Promise<string> {
  const { id } = (await service.send(account.key, anEmail({ from_email: `a@${domain}` }))).body;
  const taken = () => [...one.emails, ...two.emails].find((it) => it.envelopeId === id);
  return (await until(taken)).from.split('@')[1]!;
}
const probes = () =>
  [...one.emails, ...two.emails].filter((it) => it.recipients[0]!.startsWith('probe+'));

describe('the return path of a domain', () => {
  it('stays BOUNCE_DOMAIN while the relay knows no way to its own', async () => {
    await add('lost.example');
    await check('lost.example');
    await until(() => probes().length === 1);
    expect(probes()[0]!.recipients[0]).toMatch(/^probe\+[0-9a-f]{32}@sm-bounces\.lost\.example$/);
    expect(await returnPathOf('lost.example')).toBe('bounces.test');
  });

  it('is its own once a probe came back', async () => {
    leads.one = true;
    await add('found.example');
    await check('found.example');
    await until(async () => (await returnPathOf('found.example')) === 'sm-bounces.found.example');
    // The one that was lost is found by the next check.
    await check('lost.example');
    await until(async () => (await returnPathOf('lost.example')) === 'sm-bounces.lost.example');
  });

  it('is given up when no probe came back for three days, or the CNAME is gone', async () => {
    leads.one = false;
    const old = `UPDATE domains SET return_path_proved_at = now() - interval '4 days' WHERE domain = $1`;
    await service.database.query(old, ['lost.example']);
    await check('lost.example');
    await until(async () => (await returnPathOf('lost.example')) === 'bounces.test');
    dns.zone.delete('CNAME sm-bounces.found.example');
    await check('found.example');
    await until(async () => (await returnPathOf('found.example')) === 'bounces.test');
  });

  it('is BOUNCE_DOMAIN again with a relay that is added, until a probe came back through it', async () => {
    leads.one = true;
    await add('later.example');
    await check('later.example');
    await until(async () => (await returnPathOf('later.example')) === 'sm-bounces.later.example');
    const isProbe = ({ recipients }: TakenEmail) =>
      recipients[0]!.startsWith('probe+') && recipients[0]!.endsWith('@sm-bounces.later.example');
    await addRelay(service, { name: 'two', url: two.url });
    await haveRelays(service, ['default', 'two']);
    // Nobody asked for a check.
    await until(() => two.emails.some(isProbe));
    await until(async () => (await returnPathOf('later.example')) === 'bounces.test');
    leads.two = true;
    await changeRelays(service, { two: { enabled: false } });
    // Without the one that loses them, reports find the way.
    await until(async () => (await returnPathOf('later.example')) === 'sm-bounces.later.example');
    const before = two.emails.filter(isProbe).length;
    await changeRelays(service, { two: { enabled: true } });
    await until(() => two.emails.filter(isProbe).length > before);
    await until(async () => (await returnPathOf('later.example')) === 'sm-bounces.later.example');
    leads.one = false;
    leads.two = false;
  });

  it('with two relays: only when both bring it back', async () => {
    leads.one = true;
    await add('both.example');
    await check('both.example');
    await until(async () => {
      const rows = await service.database.query(
        `SELECT FROM return_path_probes WHERE of_domain = 'both.example' AND returned_at IS NOT NULL`,
      );
      return rows.length === 1;
    });
    expect(await returnPathOf('both.example')).toBe('bounces.test');
    leads.two = true;
    await check('both.example');
    await until(async () => (await returnPathOf('both.example')) === 'sm-bounces.both.example');
  });
});

it('doctor sends a probe through each relay, and asks for the SPF record that all include', async () => {
  const doctor = async () => {
    const { stdout } = await runInProcess(registerDoctor, ['doctor', '--json'], {
      ...{ DATABASE_URL: service.databaseUrl, PORT: '1', FEEDBACK_PORT: '1' },
      ...settings(one.url),
    });
    const findings: { check: string; ok: boolean; detail: string }[] = JSON.parse(stdout);
    return (check: string) => findings.find((it) => it.check === check)!;
  };
  const before = await doctor();
  for (const relay of ['default', 'two']) expect(before(`probe ${relay}`).ok).toBe(true);
  expect(before('SPF')).toMatchObject({ ok: true, warning: true });
  expect(before('SPF').detail).toContain('bounces.test has no SPF record');
  dns.publish('TXT', 'bounces.test', 'v=spf1 ip4:192.0.2.1 ~all');
  expect((await doctor())('SPF')).not.toHaveProperty('warning');
  dns.publish('TXT', 'bounces.test', 'v=spf1 mx -all');
  expect((await doctor())('SPF').detail).toContain('bounces.test has 2 SPF records');
});

it('nobody makes up a probe', async () => {
  const url = `smtp://127.0.0.1:${service.feedbackPort}?tls=off`;
  const relay = createRelay({ url, name: 'stranger', maxConnections: 1 });
  for (const local of ['probe+', `probe+${'0'.repeat(32)}`, 'probe+x']) {
    const to = `${local}@sm-bounces.lost.example`;
    const envelope = { from: '', recipients: [to], envelopeId: 'x', smtputf8: false };
    const { recipients } = await relay.hand(envelope, [Buffer.from('Subject: x\r\n\r\nx\r\n')]);
    expect(recipients[0]).toMatchObject({ result: 'refused', code: 550 });
  }
  await relay.close();
});

describe('RELAY_URL that a restart changes', () => {
  const ownPath = 'sm-bounces.moved.example';
  const isInUse = async (): Promise<boolean> => {
    const [row] = await test.database.query<{ seen: boolean }>(
      `SELECT return_path_seen AS seen FROM domains WHERE domain = 'moved.example'`,
    );
    return row!.seen;
  };
  beforeAll(async () => {
    await removeRelay(service, 'two');
    leads.one = true;
    await restartWith(undefined);
    await add('moved.example');
    await check('moved.example');
    // In the sandbox reports always find the way.
    expect(await isInUse()).toBe(true);
  });

  it('from the sandbox to a relay: proved again, without anyone asking', async () => {
    leads.one = false;
    await restartWith(one.url);
    expect(await returnPathOf('moved.example')).toBe('bounces.test');
    leads.one = true;
    await check('moved.example');
    await until(async () => (await returnPathOf('moved.example')) === ownPath);
    // The same address with another login is the same way.
    await restartWith(one.url.replace('smtp://', 'smtp://user:secret@'));
    expect(await isInUse()).toBe(true);
    await restartWith(two.url);
    expect(await returnPathOf('moved.example')).toBe('bounces.test');
    leads.two = true;
    await restartWith(one.url);
    await until(async () => (await returnPathOf('moved.example')) === ownPath);
  });

  it('a command that knows another, or none, proves nothing', async () => {
    leads.one = false;
    await restartWith(two.url);
    leads.two = false;
    await test.database.query(
      `UPDATE domains SET return_path_seen = false, return_path_proved_at = NULL`,
    );
    for (const relayUrl of [undefined, one.url]) {
      await runInProcess(registerIdentity, ['identity', 'check', 'moved.example'], {
        ...{ DATABASE_URL: service.databaseUrl, ...settings(relayUrl) },
      });
      expect(await isInUse()).toBe(false);
    }
  });
});
