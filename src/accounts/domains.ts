// Domains an account sends from: keys made when added, records to publish, checked through DNS at
// once and then daily. Adding goes together with the identity (identities.ts); delivery signs with
// the keys (mail/senders.ts).
import { randomBytes } from 'node:crypto';
import { Problem } from '../errors.ts';
import type { Database, Queryable } from '../store/pool.ts';
import type { Vault } from '../store/vault.ts';
import type { Dns } from './dns.ts';
import { keyLabel, makeDomainKeys } from './domain-keys.ts';
import {
  type DnsRecord,
  type Finding,
  judge,
  type PublishedDomain,
  recordsOf,
  returnPathHost,
} from './domain-records.ts';
import { addIdentity, type Identity, noIdentity, normaliseIdentity } from './identities.ts';

export interface Domain {
  accountId: number;
  domain: string;
  verified: boolean;
  verifiedBy: Identity['verifiedBy'];
  createdAt: string;
  /** Empty: it has no keys, since it was added by other means; adding it again makes them. */
  records: DnsRecord[];
  /** What the last check saw; null before the first. */
  findings: Finding[] | null;
  checkedAt: string | null;
}

export interface DomainDeps {
  database: Database;
  bounceDomain: string;
}

/**
 * What DNS vouched for and no longer shows stays good for this long: a slip at a provider must not
 * stop the mail.
 */
const GRACE_DAYS = 3;
/** A new domain is looked at whenever maintenance runs; people wait for it. */
const NEW_FOR_DAYS = 3;
const MOST_RECHECKED = 50;

/**
 * Adds the domain with keys, or gives an existing one the keys it lacks. Records and keys stay the
 * same when called again.
 */
export async function addDomain(
  deps: DomainDeps & { vault: Vault },
  accountId: number,
  text: string,
  verified: boolean,
): Promise<Domain> {
  const { database } = deps;
  const domain = normaliseIdentity(text);
  const present = (await readRow(database, accountId, domain))?.selector;
  const selector = `sm${randomName(6)}`;
  const keys = present ? undefined : await makeDomainKeys();
  await database.transaction(async (client) => {
    await addIdentity(client, accountId, domain, verified);
    if (keys === undefined) return;
    const seal = (kind: 'rsa' | 'ed25519') =>
      deps.vault.seal(client, keyLabel(kind, { accountId, domain, selector }), keys[kind].private);
    await client.query(
      `INSERT INTO domains (account_id, domain, challenge, selector, rsa_public, rsa_private, ed25519_public, ed25519_private)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
      [
        accountId,
        domain,
        randomName(32),
        selector,
        keys.rsa.public,
        await seal('rsa'),
        keys.ed25519.public,
        await seal('ed25519'),
      ],
    );
  });
  return await getDomain(deps, accountId, domain);
}

export async function getDomain(
  deps: DomainDeps,
  accountId: number,
  text: string,
): Promise<Domain> {
  const row = await readRow(deps.database, accountId, normaliseIdentity(text));
  return toDomain(row ?? noIdentity(accountId, text), deps.bounceDomain);
}

/** By name; `after` is the one that the last page ended with. */
export async function listDomains(
  { database, bounceDomain }: DomainDeps,
  accountId: number,
  page: { after?: string | undefined; limit: number },
): Promise<Domain[]> {
  const rows = await database.query<DomainRow>(
    `${SELECT} WHERE i.account_id = $1 AND position('@' IN i.value) = 0 AND ($2::text IS NULL OR i.value > $2)
     ORDER BY i.value LIMIT $3`,
    [accountId, page.after ?? null, page.limit],
  );
  return rows.map((row) => toDomain(row, bounceDomain));
}

/** The accounts that have this domain. */
export async function accountsWithDomain(database: Queryable, text: string): Promise<number[]> {
  const rows = await database.query<{ id: number }>(
    'SELECT account_id AS id FROM domains WHERE domain = $1 ORDER BY 1',
    [normaliseIdentity(text)],
  );
  return rows.map((row) => row.id);
}

/**
 * Asks DNS for every record and keeps what it saw. The ownership record decides whether the account
 * may send from it.
 */
export async function checkDomain(
  deps: DomainDeps & { dns: Dns },
  accountId: number,
  text: string,
): Promise<Domain> {
  const domain = await getDomain(deps, accountId, text);
  if (domain.records.length === 0) {
    throw new Problem(
      'conflict',
      `${domain.domain} has no signing keys yet, so there is nothing to look for in DNS. Add it again to get its records.`,
    );
  }
  const findings = await Promise.all(
    domain.records.map(async (record) =>
      judge(
        record,
        record.type === 'TXT' ? await deps.dns.txt(record.name) : await deps.dns.cname(record.name),
      ),
    ),
  );
  await deps.database.transaction((client) => keepFindings(client, domain, findings));
  return await getDomain(deps, accountId, domain.domain);
}

async function keepFindings(
  client: Queryable,
  { accountId, domain }: Domain,
  findings: readonly Finding[],
): Promise<void> {
  const of = (purpose: Finding['purpose']) => findings.find((it) => it.purpose === purpose)!;
  const ownership = of('ownership');
  const returnPath = of('return-path');
  const key = [accountId, domain];
  await client.query(
    `UPDATE domains SET checked_at = now(), findings = $3,
       return_path_seen = CASE WHEN $4 THEN return_path_seen ELSE $5 END,
       missing_since = CASE WHEN $6 THEN NULL WHEN $7 THEN missing_since ELSE coalesce(missing_since, now()) END
     WHERE account_id = $1 AND domain = $2`,
    [
      ...key,
      JSON.stringify(findings),
      returnPath.unknown,
      returnPath.ok,
      ownership.ok,
      ownership.unknown,
    ],
  );
  if (ownership.ok) {
    await client.query(
      `UPDATE identities SET verified_at = now(), verified_by = 'dns'
       WHERE account_id = $1 AND value = $2 AND verified_at IS NULL`,
      key,
    );
  } else if (!ownership.unknown) {
    await client.query(
      `UPDATE identities i SET verified_at = NULL, verified_by = NULL FROM domains d
       WHERE i.account_id = $1 AND i.value = $2 AND i.verified_by = 'dns'
         AND d.account_id = $1 AND d.domain = $2 AND d.missing_since < now() - interval '${GRACE_DAYS} days'`,
      key,
    );
  }
}

/**
 * The daily look at every domain. Several processes share it: each domain is taken by the first
 * that comes.
 */
export async function recheckDomains(
  deps: DomainDeps & { dns: Dns; stopped?: () => boolean },
): Promise<Domain[]> {
  const checked: Domain[] = [];
  while (checked.length < MOST_RECHECKED && !deps.stopped?.()) {
    const [due] = await deps.database.query<{ accountId: number; domain: string }>(CLAIM_DUE);
    if (due === undefined) break;
    checked.push(await checkDomain(deps, due.accountId, due.domain));
  }
  return checked;
}

const CLAIM_DUE = `
  UPDATE domains SET checked_at = now() WHERE (account_id, domain) IN (
    SELECT d.account_id, d.domain FROM domains d
    JOIN identities i ON i.account_id = d.account_id AND i.value = d.domain
    WHERE d.checked_at IS NULL OR d.checked_at < now() - interval '24 hours'
       OR (i.verified_at IS NULL AND d.created_at > now() - interval '${NEW_FOR_DAYS} days'
           AND d.checked_at < now() - interval '5 minutes')
    ORDER BY d.checked_at NULLS FIRST LIMIT 1 FOR UPDATE OF d SKIP LOCKED)
  RETURNING account_id AS "accountId", domain`;

/** Whether a host is the return path of one of the account's domains: reports may come to it. */
export async function isReturnPathOf(
  database: Database,
  accountId: number,
  host: string,
): Promise<boolean> {
  const rows = await database.prepared(
    'return-path-of',
    'SELECT FROM domains WHERE account_id = $1 AND $2 = $3 || domain',
    [accountId, host, returnPathHost('')],
  );
  return rows.length > 0;
}

/** What stands in `domains` is null for one without keys. */
interface DomainRow extends Omit<PublishedDomain, 'selector'> {
  accountId: number;
  verified: boolean;
  verifiedBy: Identity['verifiedBy'];
  createdAt: Date;
  selector: string | null;
  findings: Finding[] | null;
  checkedAt: Date | null;
}

const SELECT = `SELECT i.account_id AS "accountId", i.value AS domain, i.verified_at IS NOT NULL AS verified,
    i.verified_by AS "verifiedBy", i.created_at AS "createdAt", d.challenge, d.selector, d.rsa_public AS "rsaPublic",
    d.ed25519_public AS "ed25519Public", d.findings, d.checked_at AS "checkedAt"
  FROM identities i LEFT JOIN domains d ON d.account_id = i.account_id AND d.domain = i.value`;

async function readRow(
  database: Queryable,
  accountId: number,
  domain: string,
): Promise<DomainRow | undefined> {
  const [row] = await database.query<DomainRow>(
    `${SELECT} WHERE i.account_id = $1 AND i.value = $2 AND position('@' IN i.value) = 0`,
    [accountId, domain],
  );
  return row;
}

const toDomain = ({ selector, ...row }: DomainRow, bounceDomain: string): Domain => ({
  accountId: row.accountId,
  domain: row.domain,
  verified: row.verified,
  verifiedBy: row.verifiedBy,
  createdAt: row.createdAt.toISOString(),
  records: selector === null ? [] : recordsOf({ ...row, selector }, bounceDomain),
  findings: row.findings,
  checkedAt: row.checkedAt?.toISOString() ?? null,
});

const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567';

/** 5 bits of chance a letter. */
const randomName = (length: number): string =>
  Array.from(randomBytes(length), (byte) => LETTERS[byte & 31]).join('');
