// Whether email from a domain can pass DMARC: a signature, or a return path, of a domain that
// aligns with the one in From (RFC 9989 4.4). Gmail, Yahoo and Microsoft require it. Determined
// when a domain is checked (domains.ts), and reported with every send (sending/accept.ts), in the
// dashboard and by `doctor`.

import type { Queryable } from '../store/pool.ts';
import { DnsSilent, findDmarc, organizationOf, type Policy } from './dmarc.ts';
import type { Dns } from './dns.ts';
import { type Finding, returnPathHost } from './domain-records.ts';

export interface Alignment {
  /** A signature of the domain that receivers can verify. */
  dkim: boolean;
  /** The return path in use is of the same organization. */
  spf: boolean;
  /** So is the domain's own, which is used once a probe came back through it. */
  ownPathAligns: boolean;
  /** What receivers are asked to do with email that does not align; null: no record says. */
  policy: Policy | null;
  /** Where that record is. */
  policyAt: string | null;
  organization: string;
}

/**
 * With BOUNCE_DOMAIN as the return path; domains.ts knows whether the domain's own is used. Null:
 * DNS did not answer, so nothing is known.
 */
export async function findAlignment(
  dns: Dns,
  domain: string,
  findings: readonly Finding[],
  bounceDomain: string,
): Promise<Alignment | null> {
  const isThere = (purpose: Finding['purpose']) =>
    findings.some((finding) => finding.purpose === purpose && finding.ok);
  if (findings.some(({ purpose, unknown }) => unknown && purpose !== 'ownership')) return null;
  try {
    const dmarc = await findDmarc(dns, domain);
    const aligns = async (path: string): Promise<boolean> => {
      if (path === domain || dmarc.record?.spfStrict) return path === domain;
      return (await organizationOf(dns, path)) === dmarc.organization;
    };
    return {
      // We sign as the exact domain in From, so strict and relaxed alignment are the same.
      dkim: isThere('dkim-rsa'),
      spf: await aligns(bounceDomain),
      ownPathAligns: await aligns(returnPathHost(domain)),
      policy: dmarc.policy,
      policyAt: dmarc.at,
      organization: dmarc.organization,
    };
  } catch (error) {
    if (error instanceof DnsSilent) return null;
    throw error;
  }
}

export const canAlign = ({ dkim, spf }: Alignment): boolean => dkim || spf;

/**
 * Why email from a sender cannot pass DMARC; null: it can, or nobody knows. For a domain with keys,
 * its last check decides. A domain without keys signs nothing, so only a return path of the same
 * organization could align; while BOUNCE_DOMAIN is local, there is no one to warn.
 */
export function faultOf(
  { hasKeys, alignment }: { hasKeys: boolean; alignment: Alignment | null },
  domain: string,
  bounceDomain: string,
): string | null {
  if (hasKeys) {
    if (alignment === null || canAlign(alignment)) return null;
    return `Email from ${domain} cannot pass DMARC: DNS shows neither its DKIM key nor a return path of its own. ${WHAT_HAPPENS} Publish the records of the domain, then check it.`;
  }
  if (isLocal(bounceDomain) || areRelated(domain, bounceDomain)) return null;
  return `Email from ${domain} cannot pass DMARC: the account has no keys for that domain, so nothing is signed by it. ${WHAT_HAPPENS} Add the domain and publish its records.`;
}

export interface UnalignedSender {
  value: string;
  accountId: number;
  /** It has records that DNS should show; otherwise nobody was ever asked to publish any. */
  hasKeys: boolean;
}

/** Verified senders of all accounts whose email cannot pass DMARC; the first twenty. */
export async function unalignedSenders(
  database: Queryable,
  bounceDomain: string,
): Promise<UnalignedSender[]> {
  // A verified domain covers its addresses.
  const rows = await database.query<UnalignedSender & { alignment: Alignment | null }>(
    `SELECT i.value, i.account_id AS "accountId", d.selector IS NOT NULL AS "hasKeys", d.alignment
     FROM identities i LEFT JOIN domains d ON d.account_id = i.account_id AND d.domain = i.value
     WHERE i.verified_at IS NOT NULL
       AND (d.selector IS NULL OR d.alignment @> '{"dkim": false, "spf": false}')
       AND NOT EXISTS (SELECT FROM identities o WHERE o.account_id = i.account_id
         AND o.value = split_part(i.value, '@', 2) AND o.verified_at IS NOT NULL)
     ORDER BY 1, 2 LIMIT 1000`,
  );
  const domainOf = (value: string) => value.slice(value.indexOf('@') + 1);
  return rows
    .filter((row) => faultOf(row, domainOf(row.value), bounceDomain) !== null)
    .slice(0, 20);
}

const WHAT_HAPPENS = 'Gmail, Yahoo and Microsoft reject such email or file it as spam.';

const isLocal = (domain: string): boolean =>
  domain === 'localhost' || domain.endsWith('.localhost');

/** They are the same, or one is below the other: they may belong to one organization. */
const areRelated = (one: string, other: string): boolean =>
  one === other || one.endsWith(`.${other}`) || other.endsWith(`.${one}`);
