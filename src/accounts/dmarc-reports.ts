// What the owner of a domain could improve in a DMARC record that is otherwise fine: reports that
// nobody requests or that receivers may not send (RFC 9990), and obsolete tags (RFC 9989). Called
// by domains.ts when a domain is checked, and shown beside the record.
import { type DmarcRecord, DnsSilent, findDmarc, organizationOf, readDmarc } from './dmarc.ts';
import type { Dns } from './dns.ts';

/** Null: there is nothing to improve, or the record is not the domain's own. */
export async function adviceOnDmarc(dns: Dns, domain: string): Promise<string | null> {
  try {
    const { record, at, organization } = await findDmarc(dns, domain);
    if (record === null || at !== domain) return null;
    const strangers = await withoutConsent(dns, domain, organization, record);
    const advice = [
      ...onHistoricTags(record),
      ...(record.reportsTo.length === 0 ? [`it asks for no reports: ${ASK_FOR_THEM}`] : []),
      ...strangers.map((host) => needsConsent(domain, host)),
    ];
    return advice.length === 0 ? null : advice.join('. ');
  } catch (error) {
    if (error instanceof DnsSilent) return null;
    throw error;
  }
}

const ASK_FOR_THEM =
  'add rua=mailto:ADDRESS to learn which servers send in its name, and whether their email passes';

function onHistoricTags({ historic }: DmarcRecord): string[] {
  if (historic.length === 0) return [];
  const instead = historic.includes('pct') ? ' To try a policy out, write t=y' : '';
  const verb = historic.length === 1 ? 'means' : 'mean';
  return [`${historic.join(', ')} ${verb} nothing since RFC 9989: remove it.${instead}`];
}

/**
 * RFC 9990, "Verifying External Destinations": receivers send reports to another organization only
 * if it says that it wants them. If it cannot be asked, nothing is reported.
 */
async function withoutConsent(
  dns: Dns,
  domain: string,
  organization: string,
  { reportsTo }: DmarcRecord,
): Promise<string[]> {
  const strangers: string[] = [];
  for (const host of reportsTo.slice(0, MOST_ASKED)) {
    if ((await organizationOf(dns, host)) === organization) continue;
    const { values, unknown } = await dns.txt(consentName(domain, host));
    const agrees = values.some((value) => readDmarc(value) !== undefined);
    if (!agrees && !unknown) strangers.push(host);
  }
  return strangers;
}

/** Receivers need not serve more than two addresses; a record may list any number. */
const MOST_ASKED = 4;

const consentName = (domain: string, host: string): string => `${domain}._report._dmarc.${host}`;

const needsConsent = (domain: string, host: string): string =>
  `receivers send no reports to ${host} until it publishes ${consentName(domain, host)} TXT v=DMARC1`;
