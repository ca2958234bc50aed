// The DNS records a domain needs, exactly as they must be published, and whether DNS shows them.
// Used by domains.ts.
import { readDmarc } from './dmarc.ts';
import type { DnsReply } from './dns.ts';
import { isSpf, mergedSpf, saysAllOf } from './spf.ts';

export type RecordPurpose =
  | 'ownership'
  | 'dkim-rsa'
  | 'dkim-ed25519'
  | 'dkim-rsa-next'
  | 'dkim-ed25519-next'
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
  /** DNS could not be asked, so nothing is known. */
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
  /** The keys that will sign next; see key-rotation.ts. */
  nextSelector: string | null;
  nextRsaPublic: string | null;
  nextEd25519Public: string | null;
}

/** The label in front of the domain; not `bounces`, which many already use. */
const RETURN_PATH_LABEL = 'sm-bounces';

export const returnPathHost = (domain: string): string => `${RETURN_PATH_LABEL}.${domain}`;

export const selectorsOf = (selector: string): { rsa: string; ed25519: string } => ({
  rsa: `${selector}-r`,
  ed25519: `${selector}-e`,
});

export function recordsOf(domain: PublishedDomain, bounceDomain: string): DnsRecord[] {
  const name = domain.domain;
  const txt = (purpose: RecordPurpose, at: string, value: string): DnsRecord => ({
    purpose,
    type: 'TXT',
    name: at,
    value,
  });
  return [
    txt('ownership', `_sandmartin.${name}`, `sandmartin-verification=${domain.challenge}`),
    ...keyRecords(domain, domain.selector, domain.rsaPublic, domain.ed25519Public),
    ...(domain.nextSelector === null
      ? []
      : keyRecords(
          domain,
          domain.nextSelector,
          domain.nextRsaPublic!,
          domain.nextEd25519Public!,
          '-next',
        )),
    // The operator lists the sending hosts once, at BOUNCE_DOMAIN; the domains include it.
    txt('spf', name, `v=spf1 include:${bounceDomain} ~all`),
    txt('dmarc', `_dmarc.${name}`, 'v=DMARC1; p=none'),
    { purpose: 'return-path', type: 'CNAME', name: returnPathHost(name), value: bounceDomain },
  ];
}

function keyRecords(
  { domain }: PublishedDomain,
  selector: string,
  rsa: string,
  ed25519: string,
  which: '' | '-next' = '',
): DnsRecord[] {
  const at = (kind: 'rsa' | 'ed25519') => `${selectorsOf(selector)[kind]}._domainkey.${domain}`;
  const record = (kind: 'rsa' | 'ed25519', key: string): DnsRecord => ({
    ...{ purpose: `dkim-${kind}${which}`, type: 'TXT', name: at(kind) },
    value: `v=DKIM1; k=${kind}; p=${key}`,
  });
  return [record('rsa', rsa), record('ed25519', ed25519)];
}

export function judge(asked: DnsRecord, reply: DnsReply): Finding {
  const value = asked.purpose === 'spf' ? mergedSpf(asked.value, reply.values) : asked.value;
  const record = { ...asked, value };
  // In this order: otherwise each of thousands of SPF records would be compared with all of them.
  const ok = !isPermError(record, reply) && reply.values.some((value) => fits(record, value));
  const { value: expected, ...rest } = record;
  return {
    ...rest,
    expected,
    seen: reply.values,
    ok,
    unknown: reply.unknown,
    note: ok ? null : (reply.fault ?? noteOn(record, reply.values)),
  };
}

function fits(record: DnsRecord, seen: string): boolean {
  switch (record.purpose) {
    case 'ownership':
      return seen.trim() === record.value;
    case 'dkim-rsa':
    case 'dkim-ed25519':
    case 'dkim-rsa-next':
    case 'dkim-ed25519-next':
      return keyIn(seen) === keyIn(record.value);
    case 'spf':
      return isSpf(seen) && saysAllOf(record.value, seen);
    case 'dmarc':
      // The owner of the domain decides about the policy.
      return readDmarc(seen) !== undefined;
    case 'return-path':
      return seen.replace(/\.$/, '').toLowerCase() === record.value;
  }
}

/** RFC 7208 4.5: with more than one record receivers judge nothing, and DMARC fails. */
const isPermError = ({ purpose }: DnsRecord, { values }: DnsReply): boolean =>
  purpose === 'spf' && values.filter(isSpf).length > 1;

function noteOn(record: DnsRecord, seen: readonly string[]): string {
  if (record.purpose === 'spf' && seen.filter(isSpf).length > 1) {
    return `there are several SPF records, and receivers ignore them all (PermError). Replace them with one: “${record.value}”`;
  }
  if (record.purpose === 'spf' && seen.some(isSpf)) {
    return `a domain can have only one SPF record: change the existing one to “${record.value}”`;
  }
  if (record.purpose.startsWith('dkim'))
    return 'the record has another key, or only a part of ours';
  return 'there are records, but not this one';
}

/** RFC 6376 3.6.1: white space in p= is ignored; people fold long keys. */
const keyIn = (text: string): string | undefined =>
  /(?:^|;)\s*p\s*=([^;]*)/.exec(text)?.[1]?.replace(/\s+/g, '');
