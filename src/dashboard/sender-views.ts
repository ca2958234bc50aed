// Senders as their page shows them: domains with every DNS record and what the last check found, addresses with their links.
import { type Domain, getDomain } from '../accounts/domains.ts';
import { getIdentity, type Identity, listIdentities } from '../accounts/identities.ts';
import { Problem } from '../errors.ts';
import type { Queryable } from '../store/pool.ts';
import type { DashboardDeps } from './deps.ts';
import type { SenderAddress, SenderDomain, SenderRecord, Senders } from './views/senders.ts';

type SenderDeps = Pick<DashboardDeps, 'database' | 'service'>;

export async function listSenderViews(deps: SenderDeps, accountId: number): Promise<Senders> {
  const identities = await listIdentities(deps.database, accountId);
  const links = await readLinks(deps.database, accountId);
  const domains: SenderDomain[] = [];
  for (const identity of identities.filter(({ kind }) => kind === 'domain')) {
    domains.push(await toDomainView(deps, identity));
  }
  return {
    domains,
    addresses: identities
      .filter(({ kind }) => kind === 'address')
      .map((identity) => toAddressView(identity, links)),
  };
}

export async function readDomainView(
  deps: SenderDeps,
  accountId: number,
  domain: string,
): Promise<SenderDomain> {
  return await toDomainView(deps, await getIdentity(deps.database, accountId, domain));
}

export async function readAddressView(
  { database }: SenderDeps,
  accountId: number,
  address: string,
): Promise<SenderAddress> {
  const identity = await getIdentity(database, accountId, address);
  return toAddressView(identity, await readLinks(database, accountId));
}

async function toDomainView(deps: SenderDeps, identity: Identity): Promise<SenderDomain> {
  const domain = await domainOf(deps, identity);
  return {
    domain: identity.value,
    verified: identity.verified,
    verifiedBy: identity.verifiedBy,
    createdAt: identity.createdAt,
    records: domain === undefined ? [] : recordsOf(domain),
    checkedAt: domain?.checkedAt ?? null,
  };
}

/** Undefined: an identity from before domains had keys, or one that an operator vouched for without. */
async function domainOf(
  { database, service }: SenderDeps,
  { accountId, value }: Identity,
): Promise<Domain | undefined> {
  try {
    return await getDomain({ database, bounceDomain: service().bounceDomain }, accountId, value);
  } catch (error) {
    if (error instanceof Problem && error.code === 'not-found') return undefined;
    throw error;
  }
}

const recordsOf = ({ records, findings }: Domain): SenderRecord[] =>
  records.map((record) => {
    const found = findings?.find(({ purpose }) => purpose === record.purpose);
    return {
      ...record,
      check:
        found === undefined
          ? null
          : {
              state: found.ok ? 'ok' : found.unknown ? 'unknown' : 'missing',
              seen: found.seen,
              note: found.note,
            },
    };
  });

const toAddressView = (identity: Identity, links: Map<string, string>): SenderAddress => ({
  address: identity.value,
  verified: identity.verified,
  verifiedBy: identity.verifiedBy,
  createdAt: identity.createdAt,
  linkUntil: links.get(identity.value) ?? null,
});

/** Until when the links that were mailed can be used, by address. */
async function readLinks(database: Queryable, accountId: number): Promise<Map<string, string>> {
  const rows = await database.query<{ address: string; until: Date }>(
    `SELECT address, expires_at AS until FROM address_verifications
     WHERE account_id = $1 AND expires_at > now()`,
    [accountId],
  );
  return new Map(rows.map(({ address, until }) => [address, until.toISOString()]));
}
