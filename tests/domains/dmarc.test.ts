// DMARC by RFC 9989: the examples of its text through a real resolver on a DNS server of the test's
// own, and what is made of it: alignment of senders, warnings with sends, and refusals where an
// account wants them.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { changeAccount } from '../../src/accounts/accounts.ts';
import { unalignedSenders } from '../../src/accounts/alignment.ts';
import { findDmarc, namesAbove, organizationOf, readDmarc } from '../../src/accounts/dmarc.ts';
import { adviceOnDmarc } from '../../src/accounts/dmarc-reports.ts';
import { createDns, type Dns } from '../../src/accounts/dns.ts';
import { addDomain, checkDomain, getDomain } from '../../src/accounts/domains.ts';
import { proveReturnPath } from '../../src/accounts/return-path-proof.ts';
import { openSecret } from '../../src/roles/secrets.ts';
import type { Vault } from '../../src/store/vault.ts';
import { startDns, type TestDns } from '../support/dns-server.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

let zone: TestDns;
let dns: Dns;
beforeAll(async () => {
  zone = await startDns();
  dns = createDns([zone.address]);
});
afterAll(() => zone.close());
beforeEach(() => zone.zone.clear());
const records = (of: Record<string, string>) => {
  for (const [domain, text] of Object.entries(of)) zone.publish('TXT', `_dmarc.${domain}`, text);
};

describe('the walk up the tree', () => {
  it('asks eight names at most (4.10)', () => {
    expect(namesAbove('a.b.c.d.e.f.g.h.i.j.mail.example.com')).toEqual([
      'a.b.c.d.e.f.g.h.i.j.mail.example.com',
      'g.h.i.j.mail.example.com',
      'h.i.j.mail.example.com',
      'i.j.mail.example.com',
      'j.mail.example.com',
      'mail.example.com',
      'example.com',
      'com',
    ]);
    expect(namesAbove('example.com')).toEqual(['example.com', 'com']);
  });

  it.each<[string, Record<string, string>, string]>([
    [
      'the highest record',
      { 'mail.example.com': 'v=DMARC1; p=none', 'example.com': 'v=DMARC1; p=none' },
      'example.com',
    ],
    [
      'the one that says psd=n',
      { 'mail.example.com': 'v=DMARC1; p=none; psd=n', 'example.com': 'v=DMARC1; p=none' },
      'mail.example.com',
    ],
    ['one below a public suffix', { com: 'v=DMARC1; p=none; psd=y' }, 'example.com'],
    ['itself, where nothing is there', {}, 'a.mail.example.com'],
  ])('finds the organization of a.mail.example.com: %s (4.10.2)', async (_, of, organization) => {
    records(of);
    expect(await organizationOf(dns, 'a.mail.example.com')).toBe(organization);
  });

  it('keeps customers of a public suffix apart, and one customer together', async () => {
    records({ 'bank.example': 'v=DMARC1; p=reject; psd=y' });
    expect(await organizationOf(dns, 'mail.giant.bank.example')).toBe('giant.bank.example');
    expect(await organizationOf(dns, 'giant.bank.example')).toBe('giant.bank.example');
    expect(await organizationOf(dns, 'mega.bank.example')).toBe('mega.bank.example');
    // The suffix itself is no customer of its own, whatever stands above it.
    records({ example: 'v=DMARC1; p=none' });
    expect(await organizationOf(dns, 'bank.example')).toBe('bank.example');
  });
});

describe('the policy', () => {
  it.each<[string, Record<string, string>, string, object]>([
    [
      'is the domain’s own',
      { 'mail.example.com': 'v=DMARC1; p=reject', 'example.com': 'v=DMARC1; p=none' },
      'mail.example.com',
      { policy: 'reject', at: 'mail.example.com' },
    ],
    [
      'is its parent’s, in sp',
      { 'example.com': 'v=DMARC1; p=reject; sp=quarantine; np=reject' },
      'mail.example.com',
      { policy: 'quarantine', at: 'example.com' },
    ],
    [
      'is its parent’s p where sp is not there',
      { 'example.com': 'v=DMARC1; p=reject' },
      'mail.example.com',
      { policy: 'reject', at: 'example.com' },
    ],
    [
      'is np where the name does not exist',
      { 'example.com': 'v=DMARC1; p=none; sp=quarantine; np=reject' },
      'nobody.example.com',
      { policy: 'reject', at: 'example.com' },
    ],
    [
      'is the public suffix’s where the organization has none',
      { example: 'v=DMARC1; p=none; np=reject; psd=y' },
      'nobody.example',
      { policy: 'reject', at: 'example', organization: 'nobody.example' },
    ],
    [
      'is a step milder while it is tried out',
      { 'example.com': 'v=DMARC1; p=reject; t=y' },
      'example.com',
      { policy: 'quarantine' },
    ],
    [
      'does not know pct',
      { 'example.com': 'v=DMARC1; p=reject; pct=0' },
      'example.com',
      { policy: 'reject' },
    ],
    [
      'is none where p is not understood and reports are asked for',
      { 'example.com': 'v=DMARC1; p=block; adkim=s; rua=mailto:dmarc@example.com!10m' },
      'example.com',
      { policy: 'none', record: { dkimStrict: true } },
    ],
    [
      'is none where sp is not understood and reports are asked for',
      { 'example.com': 'v=DMARC1; p=reject; sp=bounce; rua=mailto:a@example.com' },
      'mail.example.com',
      { policy: 'none', at: 'example.com' },
    ],
    [
      'asks for nothing where p is not there and no reports are asked for',
      { 'mail.example.com': 'v=DMARC1; adkim=s', 'example.com': 'v=DMARC1; p=reject' },
      'mail.example.com',
      { policy: null, at: 'mail.example.com' },
    ],
    [
      'asks for nothing where rua is no address',
      { 'example.com': 'v=DMARC1; p=reject; np=nope; rua=dmarc@example.com' },
      'example.com',
      { policy: null, at: 'example.com' },
    ],
    [
      'is a step milder for names below too',
      { 'example.com': 'v=DMARC1; p=reject; sp=quarantine; t=Y' },
      'mail.example.com',
      { policy: 'none' },
    ],
    [
      'is as it is with t=n',
      { 'example.com': 'v=DMARC1; p=reject; t=n' },
      'example.com',
      { policy: 'reject' },
    ],
    [
      'is not that of a name between: the highest record has it',
      { 'mail.example.com': 'v=DMARC1; p=none', 'example.com': 'v=DMARC1; p=reject' },
      'a.mail.example.com',
      { policy: 'reject', at: 'example.com' },
    ],
    [
      'is the organization’s, not its public suffix’s',
      { example: 'v=DMARC1; p=reject; psd=y', 'foo.example': 'v=DMARC1; p=none' },
      'foo.example',
      { policy: 'none', organization: 'foo.example' },
    ],
    [
      'is the public suffix’s own where it writes itself',
      { example: 'v=DMARC1; p=reject; sp=none; psd=y' },
      'example',
      { policy: 'reject', organization: 'example' },
    ],
    [
      'needs the version as it is written',
      { 'example.com': 'v=dmarc1; p=reject' },
      'example.com',
      { policy: null, at: null },
    ],
    [
      'is above two records, which are none, though one says psd=n',
      { 'example.com': 'v=DMARC1; p=quarantine' },
      'a.two.example.com',
      { policy: 'quarantine', organization: 'example.com' },
    ],
    ['is not there', {}, 'example.com', { policy: null, at: null }],
  ])('%s', async (_, of, domain, expected) => {
    records(of);
    zone.publish('TXT', 'mail.example.com', 'x');
    zone.publish('TXT', '_dmarc.two.example.com', 'v=DMARC1; p=reject; psd=n');
    zone.publish('TXT', '_dmarc.two.example.com', 'v=DMARC1; p=none');
    expect(await findDmarc(dns, domain)).toMatchObject(expected);
  });

  it('is nobody’s when two records stand there, or one that is none', async () => {
    records({ 'example.com': 'v=DMARC1; p=reject' });
    zone.publish('TXT', '_dmarc.example.com', 'v=DMARC1; p=none');
    expect((await findDmarc(dns, 'example.com')).policy).toBeNull();
    zone.publish('TXT', '_dmarc.other.com', 'p=reject; v=DMARC1');
    expect((await findDmarc(dns, 'other.com')).policy).toBeNull();
    zone.publish('TXT', '_dmarc.third.com', 'v=spf1 -all');
    zone.publish('TXT', '_dmarc.third.com', 'v=DMARC1;p=quarantine');
    expect((await findDmarc(dns, 'third.com')).policy).toBe('quarantine');
  });

  it('reads strict alignment, blanks and the first of two tags', () => {
    expect(readDmarc('v=DMARC1 ; p = Reject; adkim=s; aspf=s; p=none; sp=')).toMatchObject({
      ...{ policies: null, dkimStrict: true, spfStrict: true },
    });
    expect(readDmarc('v = DMARC1;p = Reject; ADKIM=S; p=none')).toMatchObject({
      ...{ policies: { p: 'reject', sp: 'reject', np: 'reject' }, dkimStrict: true },
    });
    expect(readDmarc('v=DMARC1x; p=reject')).toBeUndefined();
  });
});

describe('the examples of appendix B.4', () => {
  const relaxed = async (from: string, other: string) =>
    (await organizationOf(dns, from)) === (await organizationOf(dns, other));
  const both = { 'example.com': 'v=DMARC1; p=none', 'signing.example.com': 'v=DMARC1; p=none' };

  it('B.4.1: a simple hierarchy', async () => {
    records(both);
    expect(await findDmarc(dns, 'example.com')).toMatchObject({
      ...{ at: 'example.com', organization: 'example.com' },
    });
    expect(await relaxed('example.com', 'signing.example.com')).toBe(true);
  });

  it('B.4.2: a deep name', async () => {
    records(both);
    const deep = 'a.b.c.d.e.f.g.h.i.j.k.example.com';
    expect(await findDmarc(dns, deep)).toMatchObject({
      ...{ at: 'example.com', organization: 'example.com' },
    });
    expect(await relaxed(deep, 'signing.example.com')).toBe(true);
    expect(namesAbove(deep).slice(0, 2)).toEqual([deep, 'g.h.i.j.k.example.com']);
    expect(namesAbove(deep)).toHaveLength(8);
    // Of exactly eight labels one goes, of nine two.
    expect(namesAbove('a.b.c.d.e.f.example.com')[1]).toBe('b.c.d.e.f.example.com');
    expect(namesAbove('x.a.b.c.d.e.f.example.com')[1]).toBe('b.c.d.e.f.example.com');
  });

  it('B.4.3: a public suffix', async () => {
    records({
      'bank.example': 'v=DMARC1; p=reject; psd=y; rua=mailto:psd@bank.example',
      'giant.bank.example': 'v=DMARC1; p=quarantine',
    });
    expect(await findDmarc(dns, 'giant.bank.example')).toMatchObject({
      ...{ at: 'giant.bank.example', organization: 'giant.bank.example', policy: 'quarantine' },
    });
    expect(await relaxed('giant.bank.example', 'mail.giant.bank.example')).toBe(true);
    expect(await relaxed('giant.bank.example', 'mail.mega.bank.example')).toBe(false);
  });
});

describe('reports that a record asks for (RFC 9990)', () => {
  const advice = (text: string, domain = 'shop.example') => {
    zone.publish('TXT', `_dmarc.${domain}`, text);
    return adviceOnDmarc(dns, domain);
  };

  it('nobody asks for them: how to', async () => {
    expect(await advice('v=DMARC1; p=none')).toMatch(
      /^it asks for no reports: add rua=mailto:ADDRESS/,
    );
  });

  it('within the organization: nothing to say', async () => {
    records({ 'mail.shop.example': 'v=DMARC1; p=none; rua=mailto:d@shop.example' });
    expect(await advice('v=DMARC1; p=none; rua=mailto:d@mail.shop.example')).toBeNull();
    expect(await adviceOnDmarc(dns, 'mail.shop.example')).toBeNull();
    // Covered by the record of another, whose business it is.
    expect(await adviceOnDmarc(dns, 'news.shop.example')).toBeNull();
  });

  it('to someone else: only with their consent', async () => {
    const record = 'v=DMARC1; p=none; rua=mailto:d@Reports.test!10m, mailto:e@reports.test';
    expect(await advice(record)).toBe(
      'receivers send no reports to reports.test until it publishes shop.example._report._dmarc.reports.test TXT v=DMARC1',
    );
    zone.publish('TXT', 'shop.example._report._dmarc.reports.test', 'v=DMARC1');
    expect(await adviceOnDmarc(dns, 'shop.example')).toBeNull();
  });

  it('and tags of before mean nothing', async () => {
    const record = 'v=DMARC1; p=quarantine; pct=50; ri=86400; rua=mailto:d@shop.example';
    expect(await advice(record)).toBe(
      'pct, ri mean nothing since RFC 9989: remove it. To try a policy out, write t=y',
    );
  });
});

describe('senders', () => {
  const bounceDomain = 'bounces.test';
  let service: TestService;
  let account: TestAccount;
  let vault: Vault;
  beforeAll(async () => {
    service = await startTestService({ DNS_SERVERS: zone.address, BOUNCE_DOMAIN: bounceDomain });
    account = await service.account({ identities: ['ada@single.example'] });
    ({ vault } = await openSecret(service.database, undefined));
  });
  afterAll(() => service.stop());
  const deps = () => ({ database: service.database, bounceDomain, vault, dns });
  const check = (domain: string) =>
    checkDomain({ ...deps(), probeReturnPath: async () => undefined }, account.id, domain);
  const send = async (from: string) => {
    const { status, headers, body } = await service.send(
      account.key,
      anEmail({ from_email: from }),
    );
    return { status, warning: headers.get('x-sm-warning'), detail: body.detail };
  };
  /** A process learns within a second what another one changed. */
  const answers = (from: string, is: (answer: Awaited<ReturnType<typeof send>>) => boolean) =>
    until(async () => {
      const answer = await send(from);
      return is(answer) ? answer : undefined;
    });

  it('are warned of while they cannot align, and refused where the account wants that', async () => {
    const domain = await addDomain(deps(), account.id, 'mail.shop.example', true);
    expect(await send('a@mail.shop.example')).toEqual({ status: 202, warning: null });
    records({ 'shop.example': 'v=DMARC1; p=reject' });
    const lacking = await check('mail.shop.example');
    expect(lacking.alignment).toEqual({
      ...{ dkim: false, spf: false, ownPathAligns: true, policy: 'reject' },
      ...{ policyAt: 'shop.example', organization: 'shop.example' },
    });
    expect(await unalignedSenders(service.database, bounceDomain)).toMatchObject([
      { value: 'ada@single.example', accountId: account.id, hasKeys: false },
      { value: 'mail.shop.example', accountId: account.id, hasKeys: true },
    ]);
    // Covered by the domain above it, so nothing is missing.
    expect(lacking.findings!.find(({ purpose }) => purpose === 'dmarc')).toMatchObject({
      ...{ ok: true, note: 'covered by the record of shop.example' },
    });
    const warned = await answers('a@mail.shop.example', ({ warning }) => warning !== null);
    expect(warned.status).toBe(202);
    expect(warned.warning).toContain('unaligned: Email from mail.shop.example cannot pass DMARC');

    await changeAccount(service.database, account.id, { refuseUnaligned: true, name: 'Strict' });
    const refused = await answers('a@mail.shop.example', ({ status }) => status === 403);
    expect(refused.detail).toContain('cannot pass DMARC');

    // The return path alone will do once a probe came back through it, and so will the key alone.
    const publish = (purpose: string) => {
      for (const record of domain.records.filter((it) => it.purpose === purpose)) {
        zone.publish(record.type, record.name, record.value);
      }
    };
    publish('return-path');
    expect((await check('mail.shop.example')).alignment).toMatchObject({ dkim: false, spf: false });
    await proveReturnPath(service.database, account.id, 'mail.shop.example');
    const proved = await getDomain(deps(), account.id, 'mail.shop.example');
    expect(proved.alignment).toMatchObject({ dkim: false, spf: true });
    const passes = ({ status, warning }: { status: number; warning: string | null }) =>
      status === 202 && warning === null;
    await answers('a@mail.shop.example', passes);
    expect((await check('mail.shop.example')).alignment).toMatchObject({ dkim: false, spf: true });
    records({ 'mail.shop.example': 'v=DMARC1; p=reject; aspf=s' });
    expect((await check('mail.shop.example')).alignment).toMatchObject({ dkim: false, spf: false });
    publish('dkim-rsa');
    expect((await check('mail.shop.example')).alignment).toMatchObject({ dkim: true, spf: false });
    await answers('a@mail.shop.example', passes);
  });

  it('that are single addresses of a domain without keys cannot', async () => {
    await changeAccount(service.database, account.id, { refuseUnaligned: false, name: 'Mild' });
    const { warning } = await answers('ada@single.example', ({ status }) => status === 202);
    expect(warning).toContain('has no keys for that domain');
  });

  it('are linted where the account wants that', async () => {
    await changeAccount(service.database, account.id, { lintSends: true, name: 'Linted' });
    const request = { from_email: 'ada@single.example', html: '<a href="/x">Hi {{ name }}</a>' };
    const warning = await until(async () => {
      const { headers } = await service.send(account.key, anEmail(request));
      const told = headers.get('x-sm-warning');
      return told?.includes('broken-link') ? told : undefined;
    });
    for (const rule of ['unaligned: ', 'broken-link: ', 'unresolved-variable: ']) {
      expect(warning).toContain(rule);
    }
  });

  it('say nothing new while DNS is silent', async () => {
    zone.silent = true;
    const silent = await check('mail.shop.example');
    zone.silent = false;
    expect(silent.alignment).toMatchObject({ dkim: true });
  });
});
