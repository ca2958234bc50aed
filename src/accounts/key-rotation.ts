// Changing the signing keys of a domain without sending one email that cannot be verified: publish
// the next keys, wait until every resolver has them, switch, and keep the old records while email
// signed with them is in transit. Started by operations/domains.ts; every check in domains.ts moves
// it on; `doctor` says which step is due.
import { Problem } from '../errors.ts';
import type { Database, Queryable } from '../store/pool.ts';
import type { Vault } from '../store/vault.ts';
import type { Dns } from './dns.ts';
import { type DomainKeys, keyLabel, makeDomainKeys } from './domain-keys.ts';
import { type Finding, selectorsOf } from './domain-records.ts';
import { raiseVersion } from './version.ts';

/** Longer than resolvers remember that a name did not exist (RFC 2308 5: hours). */
export const WAIT_HOURS = 24;
/** Relays retry for five days; what they deliver late is verified late. */
export const KEEP_DAYS = 7;
/** M3AAWG: change keys twice a year; a reminder, not an error. */
const OLD_MONTHS = 12;

/** What `domains` holds about it. */
export interface RotationRow {
  keysSince: Date;
  nextSelector: string | null;
  nextRsaPublic: string | null;
  nextEd25519Public: string | null;
  nextSeenAt: Date | null;
  retiredSelector: string | null;
  retiredAt: Date | null;
}

export const ROTATION_COLUMNS = `coalesce(d.keys_since, d.created_at) AS "keysSince",
    d.next_selector AS "nextSelector", d.next_rsa_public AS "nextRsaPublic",
    d.next_ed25519_public AS "nextEd25519Public", d.next_seen_at AS "nextSeenAt",
    d.retired_selector AS "retiredSelector", d.retired_at AS "retiredAt"`;

export interface Rotation {
  /** publish, wait: of the next keys. retire: of the last ones, whose records stay until then. */
  step: 'publish' | 'wait' | 'retire';
  until: string | null;
  /** What to do, for people. */
  note: string;
}

/** Undefined: none is in progress. */
export function rotationOf(row: RotationRow, domain: string): Rotation | undefined {
  if (row.nextSelector !== null) {
    if (row.nextSeenAt === null) {
      const note = `Publish the next DKIM records of “${domain}”; the old ones stay. Email is signed with the next keys ${WAIT_HOURS} hours after DNS shows them.`;
      return { step: 'publish', until: null, note };
    }
    const until = later(row.nextSeenAt, WAIT_HOURS);
    const note = `DNS shows the next DKIM records of “${domain}”. Nothing to do: email is signed with them at the first check after ${until}. The old records stay.`;
    return { step: 'wait', until, note };
  }
  if (row.retiredSelector === null || row.retiredAt === null) return undefined;
  const until = later(row.retiredAt, KEEP_DAYS * 24);
  const names = retiredNames(row.retiredSelector, domain).join('” and “');
  const note =
    Date.parse(until) > Date.now()
      ? `The new keys of “${domain}” are in force. Keep the old records until ${until}, since email signed with them is still in transit; then remove “${names}” from DNS.`
      : `Remove “${names}” from DNS: nothing has been signed with the old keys of “${domain}” for ${KEEP_DAYS} days.`;
  return { step: 'retire', until, note };
}

const later = (date: Date, hours: number): string =>
  new Date(date.getTime() + hours * 3_600_000).toISOString();

const retiredNames = (selector: string, domain: string): string[] =>
  Object.values(selectorsOf(selector)).map((label) => `${label}._domainkey.${domain}`);

/** Creates the next keys. A rotation that is under way stays as it is. */
export async function startRotation(
  { database, vault }: { database: Database; vault: Vault },
  { accountId, domain, selector }: { accountId: number; domain: string; selector: string },
): Promise<void> {
  const keys = await makeDomainKeys();
  await database.transaction(async (client) => {
    const [row] = await client.query<{ next: string | null; retired: string | null }>(
      `SELECT next_selector AS next, retired_selector AS retired FROM domains
       WHERE account_id = $1 AND domain = $2 FOR UPDATE`,
      [accountId, domain],
    );
    if (row === undefined || row.next !== null) return;
    if (row.retired !== null) {
      const names = retiredNames(row.retired, domain).join(' and ');
      const detail = `The last change of keys is not finished: ${names} are still in DNS. Remove them ${KEEP_DAYS} days after the change and check the domain, then change the keys again.`;
      throw new Problem('conflict', detail);
    }
    await writeNext(client, vault, { accountId, domain, selector }, keys);
  });
}

async function writeNext(
  client: Queryable,
  vault: Vault,
  of: { accountId: number; domain: string; selector: string },
  keys: DomainKeys,
): Promise<void> {
  const seal = (kind: 'rsa' | 'ed25519') =>
    vault.seal(client, keyLabel(kind, of), keys[kind].private);
  await client.query(
    `UPDATE domains SET next_selector = $3, next_rsa_public = $4, next_rsa_private = $5,
       next_ed25519_public = $6, next_ed25519_private = $7, next_seen_at = NULL
     WHERE account_id = $1 AND domain = $2`,
    [
      ...[of.accountId, of.domain, of.selector],
      ...[keys.rsa.public, await seal('rsa'), keys.ed25519.public, await seal('ed25519')],
    ],
  );
}

/** Takes the step that DNS makes due. Returns the findings as they are afterwards. */
export async function moveRotationOn(
  client: Queryable,
  key: readonly [accountId: number, domain: string],
  findings: readonly Finding[],
  oldOnesAreGone: boolean,
): Promise<readonly Finding[]> {
  const next = findings.filter(({ purpose }) => purpose.endsWith('-next'));
  if (next.length > 0 && next.every(({ unknown }) => !unknown)) {
    const seen = next.every(({ ok }) => ok);
    await client.query(
      `UPDATE domains SET next_seen_at = ${seen ? 'least(next_seen_at, now())' : 'NULL'}
       WHERE account_id = $1 AND domain = $2 AND next_selector IS NOT NULL`,
      [...key],
    );
    const switched = seen && (await client.query<{ switched: true }>(SWITCH, [...key])).length > 0;
    if (switched) {
      await raiseVersion(client, key[0]);
      return inForce(findings);
    }
  }
  if (oldOnesAreGone) {
    await client.query(
      `UPDATE domains SET retired_selector = NULL, retired_at = NULL
       WHERE account_id = $1 AND domain = $2 AND retired_at < now() - interval '${KEEP_DAYS} days'`,
      [...key],
    );
  }
  return findings;
}

/**
 * Every email composed from now on is signed with the new keys: the old private keys are deleted.
 */
const SWITCH = `
  UPDATE domains SET retired_selector = selector, retired_at = now(), keys_since = now(),
    selector = next_selector, rsa_public = next_rsa_public, rsa_private = next_rsa_private,
    ed25519_public = next_ed25519_public, ed25519_private = next_ed25519_private,
    next_selector = NULL, next_rsa_public = NULL, next_rsa_private = NULL,
    next_ed25519_public = NULL, next_ed25519_private = NULL, next_seen_at = NULL
  WHERE account_id = $1 AND domain = $2 AND next_seen_at <= now() - interval '${WAIT_HOURS} hours'
  RETURNING true AS switched`;

/** What was found for the next keys now applies to the current ones. */
function inForce(findings: readonly Finding[]): Finding[] {
  return findings
    .filter(({ purpose }) => purpose !== 'dkim-rsa' && purpose !== 'dkim-ed25519')
    .map((finding) => ({
      ...finding,
      purpose: finding.purpose.replace(/-next$/, '') as Finding['purpose'],
    }));
}

/** Whether the records of the old keys are gone from DNS; no answer counts as no. */
export async function areGone(
  dns: Dns,
  { retiredSelector }: RotationRow,
  domain: string,
): Promise<boolean> {
  if (retiredSelector === null) return false;
  const answers = await Promise.all(
    retiredNames(retiredSelector, domain).map((name) => dns.txt(name)),
  );
  return answers.every(({ values, unknown }) => !unknown && values.length === 0);
}

/** What is due for the keys of all domains, for `doctor`; at most the first hundred. */
export async function dueRotations(database: Queryable): Promise<string[]> {
  const rows = await database.query<RotationRow & { accountId: number; domain: string }>(
    `SELECT d.account_id AS "accountId", d.domain, ${ROTATION_COLUMNS} FROM domains d
     WHERE d.next_selector IS NOT NULL OR d.retired_selector IS NOT NULL
        OR coalesce(d.keys_since, d.created_at) < now() - interval '${OLD_MONTHS} months'
     ORDER BY d.domain, d.account_id LIMIT 100`,
  );
  return rows.map((row) => {
    const { domain, accountId } = row;
    const old = `The keys of ${domain} date from ${row.keysSince.toISOString().slice(0, 10)}. Change them with the command: identity rotate ${domain} --account ${accountId}`;
    return rotationOf(row, domain)?.note ?? old;
  });
}
