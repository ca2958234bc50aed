// Domains with keys, through a real resolver and a DNS server of the test's own: published,
// checked, used for signing, lost again.
import { createPublicKey } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeAccount } from '../../src/accounts/accounts.ts';
import { createDns } from '../../src/accounts/dns.ts';
import { openDomainKey } from '../../src/accounts/domain-keys.ts';
import { addDomain, checkDomain, type Domain, recheckDomains } from '../../src/accounts/domains.ts';
import { getIdentity, removeIdentity } from '../../src/accounts/identities.ts';
import { proveReturnPath } from '../../src/accounts/return-path-proof.ts';
import { openSecret } from '../../src/roles/secrets.ts';
import type { Vault } from '../../src/store/vault.ts';
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
let service: TestService;
let dns: TestDns;
let account: TestAccount;
let vault: Vault;

beforeAll(async () => {
  dns = await startDns();
  service = await startTestService({ DNS_SERVERS: dns.address, BOUNCE_DOMAIN: bounceDomain });
  account = await service.account({ identities: [] });
  ({ vault } = await openSecret(service.database, undefined));
});
afterAll(async () => {
  await service.stop();
  await dns.close();
});

const deps = () => ({
  database: service.database,
  bounceDomain,
  vault,
  dns: createDns([dns.address]),
  // The sandbox brings every report: nothing has to be probed (tests/relays/return-path.test.ts).
  probeReturnPath: ({ accountId, domain }: { accountId: number; domain: string }) =>
    proveReturnPath(service.database, accountId, domain),
});
const add = (domain: string, verified = false) => addDomain(deps(), account.id, domain, verified);
const check = (domain: string) => checkDomain(deps(), account.id, domain);
const publish = ({ records }: Domain, ...purposes: string[]) => {
  for (const record of records) {
    if (purposes.length > 0 && !purposes.includes(record.purpose)) continue;
    dns.publish(record.type, record.name, record.value);
  }
};
const faults = (domain: Domain) => domain.findings!.filter((it) => !it.ok).map((it) => it.purpose);

describe('adding', () => {
  it('makes two key pairs and the records to publish, once', async () => {
    const domain = await add('Example.COM');
    expect(domain).toMatchObject({ domain: 'example.com', verified: false });
    expect(domain.records.map(({ purpose, type, name }) => [purpose, type, name])).toEqual([
      ['ownership', 'TXT', '_sandmartin.example.com'],
      ['dkim-rsa', 'TXT', expect.stringMatching(/^sm[a-z2-7]{6}-r\._domainkey\.example\.com$/)],
      ['dkim-ed25519', 'TXT', expect.stringMatching(/^sm[a-z2-7]{6}-e\._domainkey\.example\.com$/)],
      ['spf', 'TXT', 'example.com'],
      ['dmarc', 'TXT', '_dmarc.example.com'],
      ['return-path', 'CNAME', 'sm-bounces.example.com'],
    ]);
    const rsa = domain.records[1]!.value.split('p=')[1]!;
    const key = createPublicKey({ key: Buffer.from(rsa, 'base64'), format: 'der', type: 'spki' });
    expect(key.asymmetricKeyDetails?.modulusLength).toBe(2048);
    expect(Buffer.from(domain.records[2]!.value.split('p=')[1]!, 'base64')).toHaveLength(32);
    expect(await add('example.com')).toEqual(domain);
  });

  it('keeps the private keys encrypted, bound to their row', async () => {
    const [row] = await service.database.query<{ selector: string; rsa: Buffer; ed: Buffer }>(
      `SELECT selector, rsa_private AS rsa, ed25519_private AS ed FROM domains WHERE domain = 'example.com'`,
    );
    // PKCS #8 begins with a sequence and version 0; nothing of that is to be seen.
    expect(row!.rsa.includes(Buffer.from('020100300d06092a864886f7', 'hex'))).toBe(false);
    const owner = { accountId: account.id, domain: 'example.com', selector: row!.selector };
    expect(openDomainKey(vault, 'rsa', owner, row!.rsa).asymmetricKeyType).toBe('rsa');
    expect(openDomainKey(vault, 'ed25519', owner, row!.ed).asymmetricKeyType).toBe('ed25519');
    const other = { ...owner, accountId: account.id + 1 };
    expect(() => openDomainKey(vault, 'rsa', other, row!.rsa)).toThrow(/SECRET_KEY/);
    const tampered = Buffer.from(row!.rsa);
    tampered[40]! ^= 1;
    expect(() => openDomainKey(vault, 'rsa', owner, tampered)).toThrow(/SECRET_KEY/);
  });
});

describe('checking', () => {
  it('says of each record what it expected and saw, and verifies by the ownership record', async () => {
    const before = await check('example.com');
    expect(before.verified).toBe(false);
    expect(faults(before)).toHaveLength(6);
    expect(before.findings![0]).toMatchObject({
      expected: before.records[0]!.value,
      seen: [],
      note: 'the name does not exist',
    });
    const refused = await service.send(account.key, anEmail({ from_email: 'a@example.com' }));
    expect(refused.status).toBe(403);

    publish(before);
    const after = await check('example.com');
    expect(after.verified).toBe(true);
    expect(faults(after)).toEqual([]);
    expect(await getIdentity(service.database, account.id, 'example.com')).toMatchObject({
      verified: true,
      verifiedBy: 'dns',
    });
    const accepted = await service.send(account.key, anEmail({ from_email: 'a@example.com' }));
    expect(accepted.status).toBe(202);
  });

  it('tells what is wrong with records that are nearly right', async () => {
    const domain = await add('nearly.example');
    const rsa = domain.records.find((record) => record.purpose === 'dkim-rsa')!;
    dns.publish('TXT', '_sandmartin.nearly.example', 'sandmartin-verification=other');
    dns.publish('TXT', rsa.name, rsa.value.slice(0, 250));
    dns.publish('TXT', 'nearly.example', 'google-site-verification=x');
    dns.publish('TXT', 'nearly.example', 'v=spf1 include:_spf.other.example -all');
    dns.publish('CNAME', 'sm-bounces.nearly.example', 'elsewhere.example');
    const { verified, findings } = await check('nearly.example');
    expect(verified).toBe(false);
    const noteOf = (purpose: string) => findings!.find((it) => it.purpose === purpose);
    expect(noteOf('ownership')).toMatchObject({ seen: ['sandmartin-verification=other'] });
    expect(noteOf('dkim-rsa')?.note).toContain('another key, or only a part of ours');
    expect(noteOf('spf')?.note).toBe(
      'a domain can have only one SPF record: change the existing one to “v=spf1 include:_spf.other.example include:bounces.test -all”',
    );
    expect(noteOf('return-path')).toMatchObject({ ok: false, seen: ['elsewhere.example'] });
  });

  it('two SPF records are a PermError, and the one that replaces them is told', async () => {
    await add('twice.example');
    dns.publish('TXT', 'twice.example', 'v=spf1 include:bounces.test ~all');
    dns.publish('TXT', 'twice.example', 'v=spf1 ip4:192.0.2.1 include:_spf.other.example -all');
    const found = (await check('twice.example')).findings!.find(
      ({ purpose }) => purpose === 'spf',
    )!;
    expect(found).toMatchObject({ ok: false });
    expect(found.note).toContain('PermError');
    const merged = found.expected;
    expect(merged.split(' ').sort()).toEqual(
      [
        ...['v=spf1', 'include:bounces.test', 'ip4:192.0.2.1', 'include:_spf.other.example'],
        merged.endsWith(' ~all') ? '~all' : '-all',
      ].sort(),
    );
    dns.zone.delete('TXT twice.example');
    dns.publish('TXT', 'twice.example', merged);
    dns.publish('TXT', '_spf.other.example', 'v=spf1 ip4:192.0.2.2 -all');
    const again = (await check('twice.example')).findings!.find(({ purpose }) => purpose === 'spf');
    expect(again).toMatchObject({ ok: true, note: null });
  });

  it.each([
    // Receivers look no further than `all`.
    ['v=spf1 mx -all include:bounces.test', 'v=spf1 mx include:bounces.test -all'],
    ['v=spf1 redirect=_spf.x.example -all', 'v=spf1 include:bounces.test -all'],
    ['v=spf1 redirect=_spf.x.example', 'v=spf1 include:bounces.test redirect=_spf.x.example'],
    ['v=spf1 mx ?all exp=why.x.example', 'v=spf1 mx include:bounces.test ?all exp=why.x.example'],
    ['v=spf1', 'v=spf1 include:bounces.test ~all'],
  ])('SPF: instead of %s, %s is told, and is right', async (there, told) => {
    await add('spf.example');
    dns.zone.set('TXT _spf.x.example', ['v=spf1 ip4:192.0.2.2 -all']);
    const spf = async (text: string) => {
      dns.zone.delete('TXT spf.example');
      dns.publish('TXT', 'spf.example', text);
      return (await check('spf.example')).findings!.find(({ purpose }) => purpose === 'spf')!;
    };
    expect(await spf(there)).toMatchObject({ ok: false, expected: told });
    expect(await spf(told)).toMatchObject({ ok: true, note: null });
  });

  it.each<[string, Record<string, string[]>, string]>([
    [
      'v=spf1 include:bounces.test include:gone.example -all',
      {},
      'include:gone.example leads to no usable SPF record',
    ],
    [
      'v=spf1 include:bounces.test ?include:two.example -all',
      { 'two.example': ['v=spf1 -all', 'v=spf1 mx -all'] },
      'include:two.example leads to no usable SPF record',
    ],
    [`v=spf1 include:bounces.test${' a:h.example'.repeat(10)} -all`, {}, 'at most ten names'],
    [
      'v=spf1 include:bounces.test redirect=round.example',
      { 'round.example': ['v=spf1 include:round.example ~all'] },
      'at most ten names',
    ],
  ])('SPF that receivers ignore: %s', async (record, others, said) => {
    await add('ignored.example');
    for (const [name, values] of Object.entries(others)) dns.zone.set(`TXT ${name}`, values);
    dns.zone.set('TXT ignored.example', [record]);
    const { findings } = await check('ignored.example');
    const found = findings!.find(({ purpose }) => purpose === 'spf')!;
    expect(found.ok).toBe(false);
    expect(found.note).toContain(said);
    expect(found.note).toContain('PermError');
  });

  it('SPF that needs ten lookups, no more, is right', async () => {
    await add('ten.example');
    dns.zone.set('TXT nine.example', [`v=spf1${' mx:h.example'.repeat(8)} ip4:192.0.2.1 -all a`]);
    dns.zone.set('TXT ten.example', ['v=spf1 include:bounces.test include:nine.example -all']);
    const { findings } = await check('ten.example');
    expect(findings!.find(({ purpose }) => purpose === 'spf')).toMatchObject({ ok: true });
  });

  it('SPF with a plus before our name, which means the same, is right', async () => {
    await add('plus.example');
    dns.publish('TXT', 'plus.example', 'v=spf1 +mx +include:bounces.test -all');
    const { findings } = await check('plus.example');
    expect(findings!.find(({ purpose }) => purpose === 'spf')).toMatchObject({ ok: true });
  });

  it('takes keys in other wording, SPF with more in it, and any DMARC policy', async () => {
    const domain = await add('worded.example');
    publish(domain, 'ownership', 'return-path');
    for (const record of domain.records) {
      if (!record.purpose.startsWith('dkim')) continue;
      const [head, key] = record.value.split('p=');
      dns.publish('TXT', record.name, `${head}p=${key!.slice(0, 20)} ${key!.slice(20)}; t=s`);
    }
    dns.publish(
      'TXT',
      'worded.example',
      'v=spf1 ip4:192.0.2.1 include:Bounces.Test include:x.example -all',
    );
    dns.publish('TXT', 'x.example', 'v=spf1 ip4:192.0.2.3 -all');
    dns.publish('TXT', '_dmarc.worded.example', 'v=DMARC1; p=reject; rua=mailto:d@worded.example');
    expect(faults(await check('worded.example'))).toEqual([]);
  });
});

describe('signing', () => {
  const resolver = new Resolver();
  beforeAll(() => resolver.setServers([dns.address]));
  // mailauth's types leave these out.
  interface Verdict {
    signingDomain: string;
    algo: string;
    status: { result: string; aligned: string };
    signingHeaders: { keys: string };
  }
  const verdicts = async (raw: Buffer) => {
    const resolve = (name: string, type: string) =>
      resolver.resolve(name, type) as Promise<string[][]>;
    const { results } = await dkimVerify(raw, { resolver: resolve });
    return (results as unknown as Verdict[]).map(
      ({ signingDomain, algo, status, signingHeaders }) => ({
        domain: signingDomain,
        algo,
        result: status.result,
        aligned: status.aligned,
        headers: signingHeaders.keys.toLowerCase().split(/:\s*/),
      }),
    );
  };

  it('every email of the domain with both keys, as an independent verifier sees through DNS', async () => {
    await changeAccount(service.database, account.id, { oneClickUnsubscribe: true });
    const sent = await service.send(
      account.key,
      anEmail({
        from_email: 'Jürgen <a@example.com>',
        subject: 'Grüße',
        html: '<p>Ü <a href="https://x.example/">x</a></p>',
        attachments: [
          { filename: 'a.bin', content_type: 'application/x-a', content_base64: 'AAECAw==' },
        ],
      }),
    );
    const { raw } = await captured(service.database, sent.body.id);
    const found = await verdicts(raw);
    expect(
      found.map(({ algo, result, domain, aligned }) => [algo, result, domain, aligned]),
    ).toEqual([
      ['rsa-sha256', 'pass', 'example.com', 'example.com'],
      ['ed25519-sha256', 'pass', 'example.com', 'example.com'],
    ]);
    for (const { headers } of found) {
      for (const name of [
        'list-unsubscribe',
        'list-unsubscribe-post',
        'x-sm-token',
        'x-sm-message-id',
      ]) {
        expect(headers).toContain(name);
      }
    }
    await changeAccount(service.database, account.id, { oneClickUnsubscribe: false });
  });

  it('breaks when a word is changed', async () => {
    const sent = await service.send(account.key, anEmail({ from_email: 'a@example.com' }));
    const { raw } = await captured(service.database, sent.body.id);
    const changed = Buffer.from(raw.toString('latin1').replace('Hello!', 'Hullo!'), 'latin1');
    expect((await verdicts(changed)).map((it) => it.result)).toEqual(['neutral', 'neutral']);
  });

  it('uses the return path of the domain, and reports come to it', async () => {
    const sent = await service.send(account.key, anEmail({ from_email: 'a@example.com' }));
    const { envelopeFrom } = await captured(service.database, sent.body.id);
    expect(envelopeFrom).toMatch(/^bounce\+[a-z2-7]{53}@sm-bounces\.example\.com$/);
    await until(
      async () =>
        (await service.get(account.key, `/v1/messages/${sent.body.id}`)).body.status ===
        'delivered',
    );
  });

  it('starts with the first email after the domain was added, also when the account was just used', async () => {
    await service.send(account.key, anEmail({ from_email: 'a@example.com' }));
    await add('quick.example', true);
    const sent = await service.send(account.key, anEmail({ from_email: 'a@quick.example' }));
    const { raw } = await captured(service.database, sent.body.id);
    expect(raw.toString()).toContain('d=quick.example;');
    await removeIdentity(service.database, account.id, 'quick.example');
  });

  it('is not left out when a key cannot be opened: the email waits', async () => {
    await add('locked.example', true);
    await service.database.query(
      `UPDATE domains SET rsa_private = ed25519_private WHERE domain = 'locked.example'`,
    );
    const sent = await service.send(account.key, anEmail({ from_email: 'a@locked.example' }));
    const [row] = await until(async () => {
      const rows = await service.database.query<{ reason: string }>(
        `SELECT reason FROM due_messages WHERE state = 'set aside'`,
      );
      return rows.length > 0 ? rows : undefined;
    });
    expect(row!.reason).toContain('SECRET_KEY');
    const timeline = await service.get(account.key, `/v1/messages/${sent.body.id}`);
    expect(timeline.body).toMatchObject({ status: 'queued', events: [] });
  });
});

describe('the daily look', () => {
  const daysAgo = (domain: string, column: string, days: number) =>
    service.database.query(
      `UPDATE domains SET ${column} = now() - $2 * interval '1 day' WHERE domain = $1`,
      [domain, days],
    );
  const stateOf = async (domain: string) =>
    (await getIdentity(service.database, account.id, domain)).verified;

  it('takes each domain once a day', async () => {
    await recheckDomains(deps());
    expect(await recheckDomains(deps())).toEqual([]);
    await daysAgo('example.com', 'checked_at', 1.1);
    expect((await recheckDomains(deps())).map((it) => it.domain)).toEqual(['example.com']);
  });

  it('forgives a lost record for three days, then the domain is no longer verified', async () => {
    const domain = await add('lost.example');
    publish(domain, 'ownership');
    expect((await check('lost.example')).verified).toBe(true);
    dns.zone.delete('TXT _sandmartin.lost.example');
    expect((await check('lost.example')).verified).toBe(true);
    await daysAgo('lost.example', 'missing_since', 2);
    expect((await check('lost.example')).verified).toBe(true);
    await daysAgo('lost.example', 'missing_since', 4);
    expect((await check('lost.example')).verified).toBe(false);
    publish(domain, 'ownership');
    expect((await check('lost.example')).verified).toBe(true);
  });

  it('takes back nothing while the DNS server is silent, and nothing an operator vouched for', async () => {
    await add('vouched.example', true);
    await daysAgo('vouched.example', 'missing_since', 30);
    expect((await check('vouched.example')).verified).toBe(true);
    await daysAgo('lost.example', 'missing_since', 30);
    dns.silent = true;
    const checked = await check('lost.example');
    dns.silent = false;
    expect(checked.findings![0]).toMatchObject({ unknown: true, ok: false });
    expect(await stateOf('lost.example')).toBe(true);
  });

  it('goes back to the common return path when the CNAME is gone', async () => {
    dns.zone.delete('CNAME sm-bounces.example.com');
    await check('example.com');
    const sent = await service.send(account.key, anEmail({ from_email: 'a@example.com' }));
    const { envelopeFrom } = await captured(service.database, sent.body.id);
    expect(envelopeFrom).toMatch(/@bounces\.test$/);
  });
});
