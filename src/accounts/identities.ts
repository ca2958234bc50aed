// Identities: addresses and domains an account may send from. A verified domain covers addresses at
// it, not at its subdomains.
import { addressKey, type Mailbox, parseAddress, parseMailbox } from '../addresses.ts';
import { Problem } from '../errors.ts';
import type { Queryable } from '../store/pool.ts';
import { raising } from './version.ts';

export interface Identity {
  accountId: number;
  value: string;
  kind: 'address' | 'domain';
  verified: boolean;
  /** Vouched for by the operator, by the domain's DNS, or by whoever reads the address's email. */
  verifiedBy: 'operator' | 'dns' | 'link' | null;
  createdAt: string;
}

interface IdentityRow {
  accountId: number;
  value: string;
  verified: boolean;
  verifiedBy: Identity['verifiedBy'];
  createdAt: Date;
}

const COLUMNS =
  'account_id AS "accountId", value, verified_at IS NOT NULL AS verified, verified_by AS "verifiedBy", created_at AS "createdAt"';

/**
 * `Sales@Bücher.example` → `sales@xn--bcher-kva.example`; `Example.COM` → `example.com`. `at` is
 * the field it came in, where that is neither `domain` nor `address`.
 */
export function normaliseIdentity(text: string, at?: string): string {
  const isDomain = !text.includes('@');
  // A domain is read with the rules for addresses: what follows the @ must be one.
  const read = parseAddress(isDomain ? `a@${text.trim()}` : text.trim());
  if ('fault' in read) {
    throw new Problem(
      'invalid',
      `"${text.slice(0, 200)}" is neither a domain nor an address: ${read.fault}. Write example.com or name@example.com.`,
      { at: at ?? (isDomain ? 'domain' : 'address') },
    );
  }
  return isDomain ? read.domain : addressKey(read.address);
}

export async function addIdentity(
  database: Queryable,
  accountId: number,
  text: string,
  verified: boolean,
): Promise<Identity> {
  const [row] = await database.query<IdentityRow>(
    raising(`INSERT INTO identities AS kept (account_id, value, verified_at, verified_by)
     SELECT id, $2, CASE WHEN $3 THEN now() END, CASE WHEN $3 THEN 'operator' END FROM accounts WHERE id = $1
     ON CONFLICT (account_id, value) DO UPDATE
       SET verified_at = coalesce(kept.verified_at, excluded.verified_at),
           verified_by = coalesce(excluded.verified_by, kept.verified_by)
     RETURNING ${COLUMNS}`),
    [accountId, normaliseIdentity(text), verified],
  );
  if (row === undefined) {
    throw new Problem('not-found', `There is no account ${accountId}.`, { see: 'list_accounts' });
  }
  return toIdentity(row);
}

export async function getIdentity(
  database: Queryable,
  accountId: number,
  text: string,
): Promise<Identity> {
  const [row] = await database.query<IdentityRow>(
    `SELECT ${COLUMNS} FROM identities WHERE account_id = $1 AND value = $2`,
    [accountId, normaliseIdentity(text)],
  );
  return toIdentity(row ?? noIdentity(accountId, text));
}

export async function verifyIdentity(
  database: Queryable,
  accountId: number,
  text: string,
): Promise<Identity> {
  const [row] = await database.query<IdentityRow>(
    raising(`UPDATE identities SET verified_at = least(verified_at, now()), verified_by = 'operator'
             WHERE account_id = $1 AND value = $2 RETURNING ${COLUMNS}`),
    [accountId, normaliseIdentity(text)],
  );
  return toIdentity(row ?? noIdentity(accountId, text));
}

export async function removeIdentity(
  database: Queryable,
  accountId: number,
  text: string,
): Promise<Identity> {
  const [row] = await database.query<IdentityRow>(
    raising(`DELETE FROM identities WHERE account_id = $1 AND value = $2 RETURNING ${COLUMNS}`),
    [accountId, normaliseIdentity(text)],
  );
  return toIdentity(row ?? noIdentity(accountId, text));
}

export async function listIdentities(database: Queryable, accountId?: number): Promise<Identity[]> {
  const rows = await database.query<IdentityRow>(
    `SELECT ${COLUMNS} FROM identities WHERE $1::bigint IS NULL OR account_id = $1 ORDER BY account_id, value`,
    [accountId ?? null],
  );
  return rows.map(toIdentity);
}

/** What the account may send from. */
export async function verifiedSenders(database: Queryable, accountId: number): Promise<string[]> {
  const rows = await database.query<{ value: string }>(
    `SELECT value FROM identities WHERE account_id = $1 AND verified_at IS NOT NULL
     ORDER BY position('@' IN value) = 0, value LIMIT 50`,
    [accountId],
  );
  return rows.map(({ value }) => value);
}

/** This exact address, not only its domain. */
export async function isVerified(
  database: Queryable,
  accountId: number,
  address: string,
): Promise<boolean> {
  const rows = await database.query(
    'SELECT FROM identities WHERE account_id = $1 AND value = $2 AND verified_at IS NOT NULL',
    [accountId, addressKey(address)],
  );
  return rows.length > 0;
}

/**
 * For emails of the service itself in the sandbox, where nothing leaves: a verified sender, of this
 * account before others.
 */
export async function findSandboxSender(
  database: Queryable,
  accountId: number,
): Promise<Mailbox | undefined> {
  const [row] = await database.query<{ value: string }>(
    `SELECT i.value FROM identities i JOIN accounts a ON a.id = i.account_id
     WHERE i.verified_at IS NOT NULL AND a.plan = 'paid'
     ORDER BY i.account_id <> $1, i.account_id, i.value LIMIT 1`,
    [accountId],
  );
  if (row === undefined) return undefined;
  const read = parseMailbox(row.value.includes('@') ? row.value : `no-reply@${row.value}`);
  return 'fault' in read ? undefined : read;
}

function toIdentity(row: IdentityRow): Identity {
  return {
    ...row,
    kind: row.value.includes('@') ? 'address' : 'domain',
    createdAt: row.createdAt.toISOString(),
  };
}

export function noIdentity(accountId: number, text: string): never {
  throw new Problem('not-found', `Account ${accountId} has no sender ${text.slice(0, 320)}.`, {
    see: text.includes('@') ? 'list_addresses' : 'list_domains',
  });
}
