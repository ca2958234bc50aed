// SPF records (RFC 7208): what a domain's one record should say, and whether receivers can use the
// one that is there. Asked by domain-records.ts and domains.ts; `doctor` asks for BOUNCE_DOMAIN's.
import type { Dns } from './dns.ts';

export const isSpf = (text: string): boolean => /^v=spf1(\s|$)/i.test(text.trim());

const isAll = (term: string): boolean => /^[-~?+]?all$/i.test(term);

/** Not `all`, and no modifier such as `redirect=`. */
const isMechanism = (term: string): boolean => !isAll(term) && !/^[a-z][\w.-]*=/i.test(term);

/** A plus is the default qualifier. */
const plain = (term: string): string => term.toLowerCase().replace(/^\+/, '');

const termsOf = (record: string): string[] => record.trim().split(/\s+/).slice(1);

/** What receivers evaluate: they never see what follows `all` (5.1). */
function mechanismsOf(record: string): string[] {
  const terms = termsOf(record);
  const end = terms.findIndex(isAll);
  return (end < 0 ? terms : terms.slice(0, end)).filter(isMechanism).map(plain);
}

/** Whether it contains everything that is wanted; how it ends is up to the domain. */
export function saysAllOf(wanted: string, record: string): boolean {
  const there = new Set(mechanismsOf(record));
  return mechanismsOf(wanted).every((mechanism) => there.has(mechanism));
}

/**
 * What the domain's one record should say: all that stands there already, and ours. `all` comes
 * behind it; where there is one, `redirect` means nothing (6.1).
 */
export function mergedSpf(ours: string, seen: readonly string[]): string {
  const terms = seen.filter(isSpf).flatMap(termsOf);
  if (!seen.some(isSpf)) return ours;
  const known = new Map(terms.filter(isMechanism).map((term) => [plain(term), term]));
  for (const term of termsOf(ours).filter(isMechanism)) known.set(plain(term), term);
  const redirect = terms.find((term) => /^redirect=/i.test(term));
  const explanation = terms.find((term) => /^exp=/i.test(term));
  const ends = [terms.find(isAll) ?? redirect ?? '~all', ...(explanation ? [explanation] : [])];
  return ['v=spf1', ...known.values(), ...ends].join(' ');
}

/** 4.6.4: with more, receivers give up on the whole record. */
const MOST_LOOKUPS = 10;

const TOO_MANY =
  'receivers look up at most ten names for an SPF record, and this one needs more, so they ignore it (PermError). Remove what no longer sends, or name hosts by ip4: and ip6:';

/**
 * Why receivers ignore a record although it is well written; null: they do not, or a server did not
 * answer. `trusted` is not looked into: it is not the domain's owner who could fix it.
 */
export async function spfFault(dns: Dns, record: string, trusted: string): Promise<string | null> {
  let lookups = 0;
  async function look(text: string): Promise<string | null> {
    for (const term of asking(text)) {
      if (++lookups > MOST_LOOKUPS) return TOO_MANY;
      const name = /^(?:include:|redirect=)([^%]+)$/.exec(term)?.[1];
      if (name === undefined || name === trusted) continue;
      const { values, unknown } = await dns.txt(name);
      if (unknown) return null;
      const [inner, second] = values.filter(isSpf);
      if (inner === undefined || second !== undefined) return unusable(term, name);
      const fault = await look(inner);
      if (fault !== null) return fault;
    }
    return null;
  }
  return await look(record);
}

const unusable = (term: string, name: string): string =>
  `${term} leads to no usable SPF record at ${name}, so receivers ignore the whole record (PermError). Remove it, or have ${name} publish one`;

/** The terms for which receivers ask DNS. */
function asking(record: string): string[] {
  const redirects = termsOf(record).some(isAll)
    ? []
    : termsOf(record).filter((term) => /^redirect=/i.test(term));
  const mechanisms = mechanismsOf(record).map((it) => it.replace(/^[-~?]/, ''));
  return [
    ...mechanisms.filter((it) => /^(include|a|mx|ptr|exists)(?=[:/]|$)/.test(it)),
    ...redirects.map((it) => it.toLowerCase()),
  ];
}
