// Idempotency: a key the caller chooses makes a repeated send answer as the first did, for 24 hours
// after it was to go out. Without one, an agent's identical send within a minute is taken for a
// repeat: agents retry what they did already.
import { hash } from 'node:crypto';
import { Problem } from '../errors.ts';
import type { Door } from '../messages/door.ts';
import type { Database } from '../store/pool.ts';
import type { SendRequest } from './request.ts';
import { hashOfRequest } from './request-hash.ts';

export const KEY_HEADER = 'Idempotency-Key';
/** As each door has it; a header of HTTP where it does not say. */
const KEY_NAMES: Partial<Record<Door, string>> = {
  mcp: 'idempotency_key',
  smtp: 'X-SM-Idempotency-Key',
};

/** What the caller knows the key by: of an email in a batch, a field of it. */
export const keyNameAt = (door: Door): string => KEY_NAMES[door] ?? KEY_HEADER;

export interface IdempotencyClaim {
  key: string;
  /** What the caller knows the key by. */
  name: string;
  /** Tells a repeat from another request under the same key. */
  requestHash: Buffer;
  keptSeconds: number;
}

const KEPT_SECONDS = 24 * 3600;
const GUARD_SECONDS = 60;

export function readIdempotencyKey(
  { key, name }: Pick<IdempotencyClaim, 'key' | 'name'>,
  request: SendRequest,
  /** How long the email waits before it goes out. */
  waitsMs = 0,
): IdempotencyClaim {
  requireGoodKey(key, name);
  return keepFor({ key, name, requestHash: hashOfRequest(request) }, waitsMs);
}

function requireGoodKey(key: string, name: string): void {
  if (key.length < 1 || key.length > 255 || /\p{Cc}/u.test(key)) {
    throw new Problem(
      'invalid',
      `${name}: use 1 to 255 characters without control characters, such as a UUID.`,
      { at: name, kind: 'bad-key' },
    );
  }
}

/** One day after the email goes out. */
export const keepFor = (claim: BatchClaim, waitsMs: number): IdempotencyClaim => ({
  ...claim,
  keptSeconds: KEPT_SECONDS + Math.ceil(Math.max(0, waitsMs) / 1000),
});

export type BatchClaim = Omit<IdempotencyClaim, 'keptSeconds'>;

/**
 * One key for a whole batch: each email has a claim under its place, so that what was taken answers
 * as it did and what was not is tried again. accept_sends knows these keys by how they begin: where
 * one email differs, the request does. Null: not readable.
 */
export function* claimBatch(
  key: string,
  requests: readonly (SendRequest | null)[],
): Generator<void, BatchClaim[]> {
  requireGoodKey(key, KEY_HEADER);
  const hashes: Buffer[] = [];
  for (const request of requests) {
    hashes.push(request === null ? UNREADABLE : hashOfRequest(request));
    yield;
  }
  const requestHash = hash('sha256', Buffer.concat(hashes), 'buffer');
  return requests.map((_, place) => ({
    ...{ key: `\u0002${key}\u0002${place}`, name: KEY_HEADER, requestHash },
  }));
}

const UNREADABLE = Buffer.alloc(32);

/**
 * The message that an identical send under the same key made. Batches find it by themselves; this
 * is for a send that does not come so far, because the time it is scheduled for has passed.
 */
export async function findEarlier(
  database: Database,
  accountId: number,
  { key, requestHash }: IdempotencyClaim,
): Promise<string | undefined> {
  const [row] = await database.query<{ uuid: string }>(
    `SELECT message_id AS uuid FROM idempotency_keys
     WHERE account_id = $1 AND key = $2 AND request_hash = $3
       AND created_at >= now() - make_interval(secs => kept_seconds)`,
    [accountId, key, requestHash],
  );
  return row?.uuid;
}

/** Under a key that no caller can choose: control characters are refused above. */
export function guardAgainstRepeat(keyId: string, request: SendRequest): IdempotencyClaim {
  const requestHash = hashOfRequest(request, keyId);
  return {
    key: `\u0001${requestHash.toString('base64')}`,
    name: KEY_HEADER,
    requestHash,
    keptSeconds: GUARD_SECONDS,
  };
}
