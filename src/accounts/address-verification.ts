// One-time links that prove an address: whoever has the link reads its email. Sent by
// notices/verification-email.ts, used on the page of inbound/verify.ts. Only a hash of the link is
// kept, and it works once, for two days.

import type { Queryable } from '../store/pool.ts';
import { type Identity, noIdentity, normaliseIdentity } from './identities.ts';
import { makeToken, readToken } from './one-time-token.ts';
import { RAISE_VERSION } from './version.ts';

/** Under BASE_URL, followed by the token. */
export const VERIFY_PATH = '/verify/';

const VALID_HOURS = 48;

/** A new link for the address; older ones of it stop working. */
export async function makeAddressToken(
  database: Queryable,
  accountId: number,
  text: string,
): Promise<string> {
  const { token, hash } = makeToken(accountId);
  const made = await database.query(
    `INSERT INTO address_verifications (account_id, address, token_hash, expires_at)
     SELECT account_id, value, $3, now() + interval '${VALID_HOURS} hours' FROM identities
     WHERE account_id = $1 AND value = $2 FOR KEY SHARE
     ON CONFLICT (account_id, address) DO UPDATE SET token_hash = excluded.token_hash, expires_at = excluded.expires_at
     RETURNING 1`,
    [accountId, normaliseIdentity(text), hash],
  );
  if (made.length === 0) noIdentity(accountId, text);
  return token;
}

export interface SenderAddress extends Pick<Identity, 'verified' | 'verifiedBy' | 'createdAt'> {
  address: string;
  /** A link was emailed and works until then. */
  linkUntil: string | null;
}

/** By address; `after` is the last one on the previous page. */
export async function listAddresses(
  database: Queryable,
  accountId: number,
  page: { after?: string | undefined; limit: number },
): Promise<SenderAddress[]> {
  const rows = await database.query<AddressRow>(
    `${SELECT} WHERE i.account_id = $1 AND position('@' IN i.value) > 0 AND ($2::text IS NULL OR i.value > $2)
     ORDER BY i.value LIMIT $3`,
    [accountId, page.after ?? null, page.limit],
  );
  return rows.map(toAddress);
}

export async function getAddress(
  database: Queryable,
  accountId: number,
  text: string,
): Promise<SenderAddress> {
  const [row] = await database.query<AddressRow>(
    `${SELECT} WHERE i.account_id = $1 AND i.value = $2 AND position('@' IN i.value) > 0`,
    [accountId, normaliseIdentity(text)],
  );
  return toAddress(row ?? noIdentity(accountId, text));
}

interface AddressRow extends Omit<SenderAddress, 'createdAt' | 'linkUntil'> {
  createdAt: Date;
  linkUntil: Date | null;
}

const SELECT = `SELECT i.value AS address, i.verified_at IS NOT NULL AS verified, i.verified_by AS "verifiedBy",
    i.created_at AS "createdAt", v.expires_at AS "linkUntil"
  FROM identities i LEFT JOIN address_verifications v
    ON v.account_id = i.account_id AND v.address = i.value AND v.expires_at > now()`;

const toAddress = ({ createdAt, linkUntil, ...row }: AddressRow): SenderAddress => ({
  ...row,
  createdAt: createdAt.toISOString(),
  linkUntil: linkUntil?.toISOString() ?? null,
});

/** The address the link is for; undefined if the link is not ours, has expired or was used. */
export async function findAddress(database: Queryable, token: string): Promise<string | undefined> {
  const key = readToken(token);
  if (key === undefined) return undefined;
  const [row] = await database.query<{ address: string }>(
    `SELECT address FROM address_verifications
     WHERE account_id = $1 AND token_hash = $2 AND expires_at > now()`,
    [key.accountId, key.hash],
  );
  return row?.address;
}

/** Verifies the address; the link then no longer works. */
export async function verifyAddress(
  database: Queryable,
  token: string,
): Promise<{ accountId: number; address: string } | undefined> {
  const key = readToken(token);
  if (key === undefined) return undefined;
  const [row] = await database.query<{ accountId: number; address: string }>(
    `WITH used AS (
       DELETE FROM address_verifications WHERE account_id = $1 AND token_hash = $2 AND expires_at > now()
       RETURNING account_id, address
     ), raised AS (${RAISE_VERSION})
     UPDATE identities i SET verified_at = least(i.verified_at, now()), verified_by = coalesce(i.verified_by, 'link')
     FROM used WHERE i.account_id = used.account_id AND i.value = used.address
     RETURNING i.account_id AS "accountId", i.value AS address`,
    [key.accountId, key.hash],
  );
  return row;
}
