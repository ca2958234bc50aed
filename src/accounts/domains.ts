// Domains that an account sends from: keys are created when one is added, its records are
// published, and DNS is checked at once and then daily. A domain is added together with its
// identity (identities.ts); delivery signs with the keys (mail/senders.ts).
import { randomBytes } from 'node:crypto';
import { Problem } from '../errors.ts';
import type { Database, Queryable } from '../store/pool.ts';
import type { Vault } from '../store/vault.ts';
import { type Alignment, canAlign, findAlignment } from './alignment.ts';
import { adviceOnDmarc } from './dmarc-reports.ts';
import type { Dns } from './dns.ts';
import { keyLabel, makeDomainKeys } from './domain-keys.ts';
import {
  type DnsRecord,
  type Finding,
  judge,
  type PublishedDomain,
  recordsOf,
} from './domain-records.ts';
import { addIdentity, type Identity, noIdentity, normaliseIdentity } from './identities.ts';
import {
  areGone,
  moveRotationOn,
  ROTATION_COLUMNS,
  type Rotation,
  type RotationRow,
  rotationOf,
  startRotation,
} from './key-rotation.ts';
import { isSpf, spfFault } from './spf.ts';
import { raiseVersion, raising } from './version.ts';

export interface Domain {
  accountId: number;
  domain: string;
  verified: boolean;
  verifiedBy: Identity['verifiedBy'];
  createdAt: string;
  /** Empty: it has no keys, because it was added another way; adding it again creates them. */
  records: DnsRecord[];
  /** What the last check saw; null before the first. */
  findings: Finding[] | null;
  checkedAt: string | null;
  /** Its keys are being changed; null: they are not. */
  rotation: Rotation | null;
  /** Whether its email can pass DMARC, as the last check found; null: not known. */
  alignment: Alignment | null;
}

export interface DomainDeps {
  database: Database;
  bounceDomain: string;
}

export interface CheckDeps extends DomainDeps {
  dns: Dns;
  /** Finds out whether reports come back through the domain's own return path. */
  probeReturnPath: (of: { accountId: number; domain: string }) => Promise<void>;
}

/**
 * What DNS once showed counts for this long after it disappears: a slip at a provider must not stop
 * email.
 */
const GRACE_DAYS = 3;
/** A new domain is checked whenever maintenance runs, because people are waiting for it. */
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
  const selector = newSelector();
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

/** Creates the next keys, whose records are published beside the current ones. */
export async function rotateDomain(
  deps: DomainDeps & { vault: Vault },
  accountId: number,
  text: string,
): Promise<Domain> {
  const { domain, records } = await getDomain(deps, accountId, text);
  if (records.length === 0) throw noKeys(domain);
  await startRotation(deps, { accountId, domain, selector: newSelector() });
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

/** By name; `after` is the last one on the previous page. */
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

/** The accounts that have this domain, with keys. */
export async function accountsWithDomain(
  database: Queryable,
  text: string,
  which: 'any' | 'verified' = 'any',
): Promise<number[]> {
  const rows = await database.query<{ id: number }>(
    `SELECT d.account_id AS id FROM domains d
     JOIN identities i ON i.account_id = d.account_id AND i.value = d.domain
     WHERE d.domain = $1 AND ($2 = 'any' OR i.verified_at IS NOT NULL) ORDER BY 1`,
    [normaliseIdentity(text), which],
  );
  return rows.map((row) => row.id);
}

/**
 * Looks up every record in DNS and keeps what it found. The ownership record decides whether the
 * account may send from it.
 */
export async function checkDomain(
  deps: CheckDeps,
  accountId: number,
  text: string,
): Promise<Domain> {
  const row =
    (await readRow(deps.database, accountId, normaliseIdentity(text))) ??
    noIdentity(accountId, text);
  const domain = toDomain(row, deps.bounceDomain);
  if (domain.records.length === 0) throw noKeys(domain.domain);
  const { dns, bounceDomain } = deps;
  const findings = await Promise.all(
    domain.records.map(async (record) => {
      const { type, name } = record;
      const found = judge(record, type === 'TXT' ? await dns.txt(name) : await dns.cname(name));
      return await asReceiversUse(found, deps);
    }),
  );
  const alignment = await findAlignment(dns, domain.domain, findings, bounceDomain);
  const advice = await adviceOnDmarc(dns, domain.domain);
  const judged =
    alignment === null ? findings : findings.map((it) => byTheTree(it, alignment, advice));
  const oldKeysAreGone = await areGone(dns, row, domain.domain);
  await deps.database.transaction(async (client) => {
    const key = [accountId, domain.domain] as const;
    const kept = await moveRotationOn(client, key, judged, oldKeysAreGone);
    await keepFindings(client, domain, kept, alignment);
  });
  // A CNAME says where reports should go, not that they arrive: a relay may route them elsewhere.
  if (findings.some(({ purpose, ok }) => purpose === 'return-path' && ok)) {
    await deps.probeReturnPath(domain);
  }
  return await getDomain(deps, accountId, domain.domain);
}

/** An SPF record may be well formed and still useless. */
async function asReceiversUse(
  finding: Finding,
  { dns, bounceDomain }: CheckDeps,
): Promise<Finding> {
  const record = finding.purpose === 'spf' && finding.ok ? finding.seen.find(isSpf) : undefined;
  const fault = record === undefined ? null : await spfFault(dns, record, bounceDomain);
  return fault === null ? finding : { ...finding, ok: false, note: fault };
}

/** A subdomain is covered by the policy above it; two records at one name are none. */
function byTheTree(
  finding: Finding,
  { policyAt, policy }: Alignment,
  advice: string | null,
): Finding {
  if (finding.purpose !== 'dmarc') return finding;
  if (policyAt !== null && policy === null) {
    const note = `receivers ignore the record of ${policyAt}: its p, sp or np is not understood`;
    return { ...finding, ok: false, note };
  }
  if (policyAt === null) {
    const two =
      'receivers ignore what is there: publish one valid record that begins with v=DMARC1';
    return { ...finding, ok: false, note: finding.ok ? two : finding.note };
  }
  const covered = finding.name !== `_dmarc.${policyAt}`;
  return { ...finding, ok: true, note: covered ? `covered by the record of ${policyAt}` : advice };
}

const noKeys = (domain: string): Problem =>
  new Problem(
    'conflict',
    `${domain} has no signing keys yet, so there is nothing to look for in DNS. Add it again to get its records.`,
  );

/**
 * Since when DNS has not shown that the domain is theirs; if DNS could not be asked, nothing
 * changes.
 */
const missingSince = ({ ok, unknown }: Finding): string =>
  ok ? 'NULL' : unknown ? 'missing_since' : 'least(missing_since, now())';

async function keepFindings(
  client: Queryable,
  { accountId, domain, alignment: before }: Domain,
  findings: readonly Finding[],
  alignment: Alignment | null,
): Promise<void> {
  const of = (purpose: Finding['purpose']) => findings.find((it) => it.purpose === purpose)!;
  const ownership = of('ownership');
  const returnPath = of('return-path');
  const key = [accountId, domain];
  const [was] = await client.query<{ inUse: boolean; stays: boolean }>(
    `SELECT return_path_seen AS "inUse", return_path_seen AND ($3 OR ($4 AND
         return_path_proved_at IS NOT NULL
         AND return_path_proved_at > now() - interval '${GRACE_DAYS} days')) AS stays
     FROM domains WHERE account_id = $1 AND domain = $2 FOR UPDATE`,
    [...key, returnPath.unknown, returnPath.ok],
  );
  const inUse = was?.stays === true;
  const now = alignment && { ...alignment, ...(inUse && { spf: alignment.ownPathAligns }) };
  await client.query(
    `UPDATE domains SET checked_at = now(), findings = $3, return_path_seen = $4,
       alignment = coalesce($5, alignment), missing_since = ${missingSince(ownership)}
     WHERE account_id = $1 AND domain = $2`,
    [...key, JSON.stringify(findings), inUse, now && JSON.stringify(now)],
  );
  // Processes remember both with the sender (directory.ts, mail/senders.ts). A daily check that
  // finds everything as it was changes nothing of that.
  const alignsAnew = now !== null && (before === null || canAlign(before) !== canAlign(now));
  if (alignsAnew || was?.inUse !== inUse) await raiseVersion(client, accountId);
  if (ownership.ok) {
    await client.query(
      raising(`UPDATE identities SET verified_at = now(), verified_by = 'dns'
               WHERE account_id = $1 AND value = $2 AND verified_at IS NULL RETURNING value`),
      key,
    );
  } else if (!ownership.unknown) {
    await client.query(
      raising(`UPDATE identities i SET verified_at = NULL, verified_by = NULL FROM domains d
               WHERE i.account_id = $1 AND i.value = $2 AND i.verified_by = 'dns'
                 AND d.account_id = $1 AND d.domain = $2
                 AND d.missing_since < now() - interval '${GRACE_DAYS} days' RETURNING i.value`),
      key,
    );
  }
}

/**
 * The daily check of every domain. Several processes share it: each domain is taken by whichever
 * comes first.
 */
export async function recheckDomains(
  deps: CheckDeps & { stopped?: () => boolean },
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

/** What is in `domains` is null for one without keys. */
interface DomainRow extends Omit<PublishedDomain, 'selector'>, RotationRow {
  accountId: number;
  verified: boolean;
  verifiedBy: Identity['verifiedBy'];
  createdAt: Date;
  selector: string | null;
  findings: Finding[] | null;
  checkedAt: Date | null;
  alignment: Alignment | null;
}

const SELECT = `SELECT i.account_id AS "accountId", i.value AS domain, i.verified_at IS NOT NULL AS verified,
    i.verified_by AS "verifiedBy", i.created_at AS "createdAt", d.challenge, d.selector, d.rsa_public AS "rsaPublic",
    d.ed25519_public AS "ed25519Public", ${ROTATION_COLUMNS}, d.alignment, d.findings, d.checked_at AS "checkedAt"
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
  rotation: rotationOf(row, row.domain) ?? null,
  alignment: row.alignment,
});

const newSelector = (): string => `sm${randomName(6)}`;

const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567';

/** 5 random bits a letter. */
const randomName = (length: number): string =>
  Array.from(randomBytes(length), (byte) => LETTERS[byte & 31]).join('');
