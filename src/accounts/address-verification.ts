// One-time links that prove an address: who has the link reads its mail. Sent by sending/verification-mail.ts,
// used on the page of inbound/verify.ts. Only a hash of the link is kept, and it works once, for two days.
import { createHash, randomBytes } from 'node:crypto';
import type { Queryable } from '../store/pool.ts';
import { noIdentity, normaliseIdentity } from './identities.ts';

/** Under BASE_URL, with the token behind it. */
export const VERIFY_PATH = '/verify/';

const VALID_HOURS = 48;
const ACCOUNT_BYTES = 6;
const CHANCE_BYTES = 24;

/** A new link for the address; older ones of it stop working. */
export async function makeAddressToken(
  database: Queryable,
  accountId: number,
  text: string,
): Promise<string> {
  const bytes = Buffer.concat([Buffer.alloc(ACCOUNT_BYTES), randomBytes(CHANCE_BYTES)]);
  bytes.writeUIntBE(accountId, 0, ACCOUNT_BYTES);
  const made = await database.query(
    `INSERT INTO address_verifications (account_id, address, token_hash, expires_at)
     SELECT account_id, value, $3, now() + interval '${VALID_HOURS} hours' FROM identities
     WHERE account_id = $1 AND value = $2
     ON CONFLICT (account_id, address) DO UPDATE SET token_hash = excluded.token_hash, expires_at = excluded.expires_at
     RETURNING 1`,
    [accountId, normaliseIdentity(text), hashOf(bytes)],
  );
  if (made.length === 0) noIdentity(accountId, text);
  return bytes.toString('base64url');
}

/** Which address the link is for; undefined when it is none of ours, too old or used. */
export async function findAddress(database: Queryable, token: string): Promise<string | undefined> {
  const bytes = readToken(token);
  if (bytes === undefined) return undefined;
  const [row] = await database.query<{ address: string }>(
    `SELECT address FROM address_verifications
     WHERE account_id = $1 AND token_hash = $2 AND expires_at > now()`,
    [bytes.readUIntBE(0, ACCOUNT_BYTES), hashOf(bytes)],
  );
  return row?.address;
}

/** Verifies the address and uses the link up. */
export async function verifyAddress(
  database: Queryable,
  token: string,
): Promise<{ accountId: number; address: string } | undefined> {
  const bytes = readToken(token);
  if (bytes === undefined) return undefined;
  const [row] = await database.query<{ accountId: number; address: string }>(
    `WITH used AS (
       DELETE FROM address_verifications WHERE account_id = $1 AND token_hash = $2 AND expires_at > now()
       RETURNING account_id, address)
     UPDATE identities i SET verified_at = coalesce(i.verified_at, now()), verified_by = coalesce(i.verified_by, 'link')
     FROM used WHERE i.account_id = used.account_id AND i.value = used.address
     RETURNING i.account_id AS "accountId", i.value AS address`,
    [bytes.readUIntBE(0, ACCOUNT_BYTES), hashOf(bytes)],
  );
  return row;
}

function readToken(token: string): Buffer | undefined {
  const bytes = /^[\w-]{40}$/.test(token) ? Buffer.from(token, 'base64url') : undefined;
  return bytes?.length === ACCOUNT_BYTES + CHANCE_BYTES ? bytes : undefined;
}

const hashOf = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();
