// Changing the signing keys of a domain step by step, the operator's second signature, and the
// headers that receivers sort by; all as mailauth sees them through a DNS server of the test's own.
import { Resolver } from 'node:dns/promises';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDns } from '../../src/accounts/dns.ts';
import { addDomain, checkDomain, type Domain, rotateDomain } from '../../src/accounts/domains.ts';
import { dueRotations } from '../../src/accounts/key-rotation.ts';
import { checkSealed, openSecret } from '../../src/roles/secrets.ts';
import type { Secret } from '../../src/store/installation.ts';
import { captured } from '../support/captured.ts';
import { startDns, type TestDns } from '../support/dns-server.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

const bounceDomain = 'bounces.test';
const operator = 'bounces.test';
let service: TestService;
let dns: TestDns;
let account: TestAccount;
let secret: Secret;

beforeAll(async () => {
  dns = await startDns();
  service = await startTestService({
    DNS_SERVERS: dns.address,
    BOUNCE_DOMAIN: bounceDomain,
    OPERATOR_DOMAIN: operator,
  });
  account = await service.account({ identities: ['one@address.example'] });
  secret = await openSecret(service.database, undefined);
  const house = await service.account({ identities: [] });
  publish(await addDomain(deps(), house.id, operator, true));
});
afterAll(async () => {
  await service.stop();
  await dns.close();
});

const deps = () => ({
  database: service.database,
  bounceDomain,
  vault: secret.vault,
  dns: createDns([dns.address]),
  probeReturnPath: async () => undefined,
});
const add = (domain: string) => addDomain(deps(), account.id, domain, true);
const check = (domain: string) => checkDomain(deps(), account.id, domain);
const rotate = (domain: string) => rotateDomain(deps(), account.id, domain);
const publish = ({ records }: Domain) => {
  for (const record of records) dns.publish(record.type, record.name, record.value);
};
const ago = (domain: string, column: string, hours: number) =>
  service.database.query(
    `UPDATE domains SET ${column} = now() - $2 * interval '1 hour' WHERE domain = $1`,
    [domain, hours],
  );
const selectorOf = ({ records }: Domain, purpose: string): string | undefined =>
  records.find((record) => record.purpose === purpose)?.name.split('.')[0];

async function sent(request: Record<string, unknown>): Promise<string> {
  const { body } = await service.send(account.key, anEmail(request));
  return (await captured(service.database, body.id)).raw.toString();
}

async function verdicts(raw: string) {
  const resolver = new Resolver();
  resolver.setServers([dns.address]);
  const { results } = await dkimVerify(Buffer.from(raw), {
    resolver: (name: string, type: string) => resolver.resolve(name, type) as Promise<string[][]>,
  });
  return results.map(({ selector, signingDomain, status }) => ({
    domain: signingDomain,
    selector,
    result: status.result,
  }));
}

describe('a change of keys', () => {
  it('publishes, waits, switches and retires, and every email verifies on the way', async () => {
    const before = await add('turn.example');
    publish(before);
    expect(before.rotation).toBeNull();
    const old = selectorOf(before, 'dkim-rsa');

    const begun = await rotate('turn.example');
    expect(begun.rotation).toMatchObject({ step: 'publish', until: null });
    expect(begun.records.map(({ purpose }) => purpose)).toContain('dkim-ed25519-next');
    const next = selectorOf(begun, 'dkim-rsa-next');
    expect(next).not.toBe(old);
    expect((await rotate('turn.example')).records).toEqual(begun.records);
    expect((await check('turn.example')).rotation).toMatchObject({ step: 'publish' });

    // Half of it published is not published.
    const [rsa, ed25519] = begun.records.filter(({ purpose }) => purpose.endsWith('-next'));
    dns.publish('TXT', rsa!.name, rsa!.value);
    expect((await check('turn.example')).rotation).toMatchObject({ step: 'publish' });
    dns.publish('TXT', ed25519!.name, ed25519!.value);
    expect((await check('turn.example')).rotation).toMatchObject({ step: 'wait' });
    await ago('turn.example', 'next_seen_at', 23);
    const waiting = await check('turn.example');
    expect(waiting.rotation).toMatchObject({ step: 'wait' });
    expect(selectorOf(waiting, 'dkim-rsa')).toBe(old);
    expect(await verdicts(await sent({ from_email: 'a@turn.example' }))).toContainEqual({
      ...{ domain: 'turn.example', selector: old, result: 'pass' },
    });

    await ago('turn.example', 'next_seen_at', 25);
    const switched = await check('turn.example');
    expect(switched.rotation).toMatchObject({ step: 'retire' });
    expect(selectorOf(switched, 'dkim-rsa')).toBe(next);
    expect(switched.findings!.filter(({ ok }) => !ok)).toEqual([]);
    const after = await verdicts(await sent({ from_email: 'a@turn.example' }));
    expect(after.filter(({ domain }) => domain === 'turn.example')).toEqual([
      { domain: 'turn.example', selector: next, result: 'pass' },
      { domain: 'turn.example', selector: next!.replace(/-r$/, '-e'), result: 'pass' },
    ]);

    // The old records stay for a week, and are not asked for again once they are gone.
    await expect(rotate('turn.example')).rejects.toThrow(/still in DNS/);
    for (const end of ['r', 'e']) {
      dns.zone.delete(`TXT ${old!.replace(/-r$/, `-${end}`)}._domainkey.turn.example`);
    }
    expect((await check('turn.example')).rotation).toMatchObject({ step: 'retire' });
    await ago('turn.example', 'retired_at', 8 * 24);
    expect((await check('turn.example')).rotation).toBeNull();
    expect((await rotate('turn.example')).rotation).toMatchObject({ step: 'publish' });
  });

  it('starts to wait again when a record is lost, and stands still while DNS is silent', async () => {
    publish(await add('slip.example'));
    publish(await rotate('slip.example'));
    await check('slip.example');
    await ago('slip.example', 'next_seen_at', 25);
    dns.silent = true;
    const silent = await check('slip.example');
    dns.silent = false;
    expect(silent.rotation).toMatchObject({ step: 'wait' });
    const lost = silent.records.find(({ purpose }) => purpose === 'dkim-rsa-next')!;
    dns.zone.delete(`TXT ${lost.name}`);
    expect((await check('slip.example')).rotation).toMatchObject({ step: 'publish' });
    dns.publish('TXT', lost.name, lost.value);
    expect((await check('slip.example')).rotation).toMatchObject({ step: 'wait' });
  });

  it('is told by the doctor, and so are keys that are a year old', async () => {
    await add('aged.example');
    await ago('aged.example', 'created_at', 370 * 24);
    const due = (await dueRotations(service.database)).join('\n');
    expect(due).toContain('identity rotate aged.example');
    expect(due).toContain('DNS shows the next DKIM records of “slip.example”');
    expect(due).not.toContain(`The keys of ${operator}`);
  });

  it('keeps the next keys sealed like those in force', async () => {
    const { stranded } = await checkSealed(service.database, secret);
    expect(stranded).toEqual([]);
    await service.database.query(
      `UPDATE domains SET next_rsa_private = next_ed25519_private WHERE domain = 'slip.example'`,
    );
    expect((await checkSealed(service.database, secret)).stranded).toEqual([
      `The next DKIM key of slip.example (rsa, account ${account.id})`,
    ]);
  });
});

describe('what receivers sort by', () => {
  it('has the operator sign as well, once, also for a sender without keys', async () => {
    publish(await add('own.example'));
    const domainsOf = async (from: string) =>
      (await verdicts(await sent({ from_email: from }))).map(({ domain, result }) => [
        domain,
        result,
      ]);
    expect(await domainsOf('a@own.example')).toEqual([
      ['own.example', 'pass'],
      ['own.example', 'pass'],
      [operator, 'pass'],
    ]);
    expect(await domainsOf('one@address.example')).toEqual([[operator, 'pass']]);
  });

  it('names template, stream and account in Feedback-ID, unless the sender does', async () => {
    const inline = await sent({ from_email: 'a@own.example' });
    expect(inline).toContain(`\r\nFeedback-ID: inline:transactional:${account.id}:sandmartin\r\n`);
    const own = await sent({
      from_email: 'a@own.example',
      headers: { 'feedback-id': 'a:b:c:mine1' },
    });
    expect(own.match(/^feedback-id: .*$/gim)).toEqual(['feedback-id: a:b:c:mine1']);
  });

  it('has no CFBL-Address where the domain in From does not sign, though the operator does', async () => {
    expect(await sent({ from_email: 'one@address.example' })).not.toContain('CFBL-Address');
  });

  it('has a CFBL-Address that is signed, at which a report about this copy counts', async () => {
    const raw = await sent({ from_email: 'a@own.example' });
    const [, address] =
      /\r\nCFBL-Address:\s+(bounce\+[a-z2-7]{53}@bounces\.test);\s+report=arf\r\n/.exec(raw)!;
    expect(raw.replace(/\s/g, '')).toMatch(/h=[^;]*cfbl-address/);
    const id = /X-SM-Message-Id: (\S+)/.exec(raw)![1]!;
    const transport = createTransport({
      ...{ host: '127.0.0.1', port: service.feedbackPort },
      tls: { rejectUnauthorized: false },
    });
    await transport.sendMail({ envelope: { from: '', to: address! }, raw: ARF });
    transport.close();
    await until(
      async () =>
        (await service.get(account.key, `/v1/messages/${id}`)).body.status === 'complained',
    );
  });
});

const ARF = [
  'From: <fbl@provider.example>',
  'Subject: complaint',
  'MIME-Version: 1.0',
  'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
  '',
  '--b',
  'Content-Type: text/plain',
  '',
  'A complaint.',
  '--b',
  'Content-Type: message/feedback-report',
  '',
  'Feedback-Type: abuse',
  'User-Agent: Provider/1',
  'Version: 1',
  '',
  '--b--',
  '',
].join('\r\n');
