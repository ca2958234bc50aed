// Recovery codes: ten, shown once, each works once, for a person who lost phone and keys. Each has
// 80 random bits, so a plain hash is enough.
import { createHash, randomBytes } from 'node:crypto';
import { readUuid } from '../ids.ts';
import type { Queryable } from '../store/pool.ts';

const HOW_MANY = 10;
const LENGTH = 16;
/** No two look alike. */
const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789';

/** New ones; the previous ones stop working. */
export async function makeRecoveryCodes(client: Queryable, userId: string): Promise<string[]> {
  const codes = Array.from({ length: HOW_MANY }, () =>
    Array.from(randomBytes(LENGTH), (byte) => LETTERS[byte % LETTERS.length]).join(''),
  );
  const uuid = readUuid('usr_', userId);
  await client.query('DELETE FROM recovery_codes WHERE user_id = $1', [uuid]);
  await client.query('INSERT INTO recovery_codes (user_id, hash) SELECT $1, unnest($2::bytea[])', [
    uuid,
    codes.map(hashOf),
  ]);
  return codes.map((code) => code.replace(/.{4}(?!$)/g, '$&-'));
}

/** Whether it was one of theirs; this call uses it up. */
export async function takeRecoveryCode(
  client: Queryable,
  userId: string,
  code: string,
): Promise<boolean> {
  const rows = await client.query(
    'DELETE FROM recovery_codes WHERE user_id = $1 AND hash = $2 RETURNING user_id',
    [readUuid('usr_', userId), hashOf(code.toLowerCase().replace(/[^a-z2-9]/g, ''))],
  );
  return rows.length > 0;
}

const hashOf = (code: string): Buffer => createHash('sha256').update(code).digest();
