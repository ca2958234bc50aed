// The DNS records a domain needs, exactly as they are to be published, and whether what DNS shows
// is them. Used by domains.ts.
import type { DnsAnswer } from './dns.ts';

export type RecordPurpose =
  | 'ownership'
  | 'dkim-rsa'
  | 'dkim-ed25519'
  | 'spf'
  | 'dmarc'
  | 'return-path';

export interface DnsRecord {
  purpose: RecordPurpose;
  type: 'TXT' | 'CNAME';
  name: string;
  value: string;
}

export interface Finding extends Omit<DnsRecord, 'value'> {
  expected: string;
  seen: string[];
  ok: boolean;
  /** Nobody could be asked, so it says nothing. */
  unknown: boolean;
  /** What is wrong and what to do; null when all is well. */
  note: string | null;
}

export interface PublishedDomain {
  domain: string;
  challenge: string;
  selector: string;
  rsaPublic: string;
  ed25519Public: string;
}

/** Left of the domain; not `bounces`, which many have already. */
const RETURN_PATH_LABEL = 'sm-bounces';

export const returnPathHost = (domain: string): string => `${RETURN_PATH_LABEL}.${domain}`;

export const selectorsOf = (selector: string): { rsa: string; ed25519: string } => ({
  rsa: `${selector}-r`,
  ed25519: `${selector}-e`,
});

export function recordsOf(domain: PublishedDomain, bounceDomain: string): DnsRecord[] {
  const name = domain.domain;
  const selectors = selectorsOf(domain.selector);
  const txt = (purpose: RecordPurpose, at: string, value: string): DnsRecord => ({
    purpose,
    type: 'TXT',
    name: at,
    value,
  });
  return [
    txt('ownership', `_sandmartin.${name}`, `sandmartin-verification=${domain.challenge}`),
    txt('dkim-rsa', `${selectors.rsa}._domainkey.${name}`, `v=DKIM1; k=rsa; p=${domain.rsaPublic}`),
    txt(
      'dkim-ed25519',
      `${selectors.ed25519}._domainkey.${name}`,
      `v=DKIM1; k=ed25519; p=${domain.ed25519Public}`,
    ),
    // The operator says once, at BOUNCE_DOMAIN, which hosts send; the domains include it.
    txt('spf', name, `v=spf1 include:${bounceDomain} ~all`),
    txt('dmarc', `_dmarc.${name}`, 'v=DMARC1; p=none'),
    { purpose: 'return-path', type: 'CNAME', name: returnPathHost(name), value: bounceDomain },
  ];
}

export function judge(record: DnsRecord, answer: DnsAnswer): Finding {
  const ok = answer.values.some((value) => fits(record, value));
  const { value: expected, ...rest } = record;
  return {
    ...rest,
    expected,
    seen: answer.values,
    ok,
    unknown: answer.unknown,
    note: ok ? null : (answer.fault ?? noteOn(record, answer.values)),
  };
}

function fits(record: DnsRecord, seen: string): boolean {
  switch (record.purpose) {
    case 'ownership':
      return seen.trim() === record.value;
    case 'dkim-rsa':
    case 'dkim-ed25519':
      return keyIn(seen) === keyIn(record.value);
    case 'spf':
      return isSpf(seen) && seen.toLowerCase().split(/\s+/).includes(includeOf(record));
    case 'dmarc':
      // RFC 7489 6.3: the policy is the domain's own business.
      return /^v=DMARC1\s*(;|$)/i.test(seen.trim());
    case 'return-path':
      return seen.replace(/\.$/, '').toLowerCase() === record.value;
  }
}

function noteOn(record: DnsRecord, seen: readonly string[]): string {
  if (record.purpose === 'spf' && seen.some(isSpf)) {
    return `a domain has one SPF record: add ${includeOf(record)} to the one that is there`;
  }
  if (record.purpose.startsWith('dkim')) return 'the record holds another key, or a part of ours';
  return 'there are records, but not this one';
}

const isSpf = (text: string): boolean => /^v=spf1(\s|$)/i.test(text.trim());

const includeOf = (record: DnsRecord): string => record.value.split(' ')[1]!.toLowerCase();

/** RFC 6376 3.6.1: blanks in p= mean nothing; people fold long keys. */
const keyIn = (text: string): string | undefined =>
  /(?:^|;)\s*p\s*=([^;]*)/.exec(text)?.[1]?.replace(/\s+/g, '');
