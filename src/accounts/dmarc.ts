// DMARC as RFC 9989 defines it: the policy that receivers find for a domain, and which domains
// belong together. Found by walking up the DNS tree, not by a list of suffixes. Called by
// domains.ts when a domain is checked.
import type { Dns } from './dns.ts';

export type Policy = 'none' | 'quarantine' | 'reject';

export interface DmarcRecord {
  /**
   * For the domain itself, for names below it that exist, and for those that do not. Null: one of
   * them is not understood and no report is requested, so receivers do nothing (4.10.1).
   */
  policies: { p: Policy; sp: Policy; np: Policy } | null;
  /** The owner is trying it out: receivers act one step more leniently. */
  testing: boolean;
  /** y: a public suffix. n: an organization of its own. u: as the tree says. */
  psd: 'y' | 'n' | 'u';
  /** Whether a name below the domain in From is enough. */
  dkimStrict: boolean;
  spfStrict: boolean;
  /** The hosts that aggregate reports should be sent to (RFC 9990). */
  reportsTo: string[];
  /** Tags from before RFC 9989, which no longer mean anything. */
  historic: string[];
}

/** What receivers find for a domain in From. */
export interface Dmarc {
  /** Null: there is none, and nothing could be asked for. */
  record: DmarcRecord | null;
  /** Where the record is: at the domain itself or one above it. */
  at: string | null;
  /**
   * What receivers are asked to do with email that fails, with `testing` taken into account. Null:
   * there is no record, or it asks for nothing.
   */
  policy: Policy | null;
  organization: string;
}

/** A DNS server did not answer: nothing is known. */
export class DnsSilent extends Error {}

export async function findDmarc(dns: Dns, domain: string): Promise<Dmarc> {
  const found = await walk(dns, domain);
  const organization = organizationIn(found, domain);
  const applied = appliedRecord(found, domain, organization);
  if (applied === undefined) return { record: null, at: null, policy: null, organization };
  const { record, at } = applied;
  if (record.policies === null) return { record, at, policy: null, organization };
  const { p, sp, np } = record.policies;
  const asked = at === domain ? p : sp === np || (await exists(dns, domain)) ? sp : np;
  return { record, at, policy: record.testing ? MILDER[asked] : asked, organization };
}

/** With relaxed alignment, it matters which domains are one organization (4.10.2). */
export const organizationOf = async (dns: Dns, domain: string): Promise<string> =>
  organizationIn(await walk(dns, domain), domain);

const MILDER = { reject: 'quarantine', quarantine: 'none', none: 'none' } as const;

interface Found {
  at: string;
  record: DmarcRecord;
}

/**
 * RFC 9989 4.10: the domain, then up label by label; for long names, first the name with seven
 * labels, so that there are at most eight queries.
 */
async function walk(dns: Dns, domain: string): Promise<Found[]> {
  const found: Found[] = [];
  for (const at of namesAbove(domain)) {
    const record = await recordAt(dns, at);
    if (record === undefined) continue;
    found.push({ at, record });
    if (record.psd !== 'u') break;
  }
  return found;
}

const MOST_LABELS = 7;

export function namesAbove(domain: string): string[] {
  const labels = domain.split('.');
  const names = [domain];
  for (let rest = Math.min(labels.length - 1, MOST_LABELS); rest > 0; rest--) {
    names.push(labels.slice(-rest).join('.'));
  }
  return names;
}

async function recordAt(dns: Dns, domain: string): Promise<DmarcRecord | undefined> {
  const { values, unknown } = await dns.txt(`_dmarc.${domain}`);
  if (unknown) throw new DnsSilent(`DNS did not answer for _dmarc.${domain}`);
  const records = values.flatMap((value) => readDmarc(value) ?? []);
  // 4.10: two records count as none.
  return records.length === 1 ? records[0] : undefined;
}

/** Undefined: it is not a DMARC record. */
export function readDmarc(text: string): DmarcRecord | undefined {
  const [version, ...rest] = text.split(';').map((tag) => tag.trim());
  if (!/^v\s*=\s*DMARC1$/.test(version ?? '')) return undefined;
  const tags = new Map<string, string>();
  for (const tag of rest) {
    const at = tag.indexOf('=');
    const name = tag.slice(0, at).trim().toLowerCase();
    if (at > 0 && !tags.has(name))
      tags.set(
        name,
        tag
          .slice(at + 1)
          .trim()
          .toLowerCase(),
      );
  }
  // `pct` and every other unknown tag mean nothing (4.7).
  const psd = tags.get('psd');
  return {
    policies: policiesIn(tags),
    testing: tags.get('t') === 'y',
    psd: psd === 'y' || psd === 'n' ? psd : 'u',
    dkimStrict: tags.get('adkim') === 's',
    spfStrict: tags.get('aspf') === 's',
    reportsTo: reportHosts(tags),
    historic: HISTORIC.filter((name) => tags.has(name)),
  };
}

const HISTORIC = ['pct', 'rf', 'ri'];

/** Each once. A size may follow the address (`!10m`), an older notation. */
function reportHosts(tags: ReadonlyMap<string, string>): string[] {
  const hosts = (tags.get('rua') ?? '')
    .split(',')
    .flatMap((uri) => /^\s*mailto:[^\s@]+@([^\s@!?]+)/.exec(uri)?.[1] ?? []);
  return [...new Set(hosts)];
}

/** 4.10.1: receivers that can tell the owner treat what they do not understand as `none`. */
function policiesIn(tags: ReadonlyMap<string, string>): DmarcRecord['policies'] {
  const p = tags.get('p');
  const sp = tags.get('sp') ?? p;
  const np = tags.get('np') ?? sp;
  if (isPolicy(p) && isPolicy(sp) && isPolicy(np)) return { p, sp, np };
  return reportHosts(tags).length > 0 ? { p: 'none', sp: 'none', np: 'none' } : null;
}

const isPolicy = (text: string | undefined): text is Policy =>
  text === 'none' || text === 'quarantine' || text === 'reject';

/** RFC 9989 4.10.2, in its order. */
function organizationIn(found: readonly Found[], domain: string): string {
  const own = found.find(({ record }) => record.psd === 'n');
  if (own !== undefined) return own.at;
  const suffix = found.find(({ at, record }) => record.psd === 'y' && at !== domain);
  if (suffix !== undefined) {
    const labels = domain.split('.');
    return labels.slice(-(suffix.at.split('.').length + 1)).join('.');
  }
  return found.at(-1)?.at ?? domain;
}

/** RFC 9989 4.10.1: of the domain itself, else of its organization, else of its public suffix. */
function appliedRecord(
  found: readonly Found[],
  domain: string,
  organization: string,
): Found | undefined {
  const at = (name: string) => found.find((it) => it.at === name);
  return at(domain) ?? at(organization) ?? found.find(({ record }) => record.psd === 'y');
}

/** A name that does not exist at all (RFC 8020); one without records of its own exists. */
async function exists(dns: Dns, domain: string): Promise<boolean> {
  const { unknown, nonexistent } = await dns.txt(domain);
  if (unknown) throw new DnsSilent(`DNS did not answer for ${domain}`);
  return !nonexistent;
}
