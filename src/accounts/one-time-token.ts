// Tokens of one-time links that belong to an account: an address to prove, an invitation. The link
// carries the account, so that looking it up asks one account's rows only; of the rest no more than
// a hash is kept.
import { createHash, randomBytes } from 'node:crypto';

const ACCOUNT_BYTES = 6;
const CHANCE_BYTES = 24;

export interface TokenKey {
  accountId: number;
  hash: Buffer;
}

export function makeToken(accountId: number): TokenKey & { token: string } {
  const bytes = Buffer.concat([Buffer.alloc(ACCOUNT_BYTES), randomBytes(CHANCE_BYTES)]);
  bytes.writeUIntBE(accountId, 0, ACCOUNT_BYTES);
  return { accountId, hash: hashOf(bytes), token: bytes.toString('base64url') };
}

/** Undefined: it cannot be one of ours. */
export function readToken(token: string): TokenKey | undefined {
  const bytes = /^[\w-]{40}$/.test(token) ? Buffer.from(token, 'base64url') : undefined;
  return bytes && { accountId: bytes.readUIntBE(0, ACCOUNT_BYTES), hash: hashOf(bytes) };
}

const hashOf = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();
