// Idempotency: with a key of the caller's choice, a repeated send gets the same answer as the
// first, for 24 hours after the email was due to go out. Without a key, an agent's identical send
// within a minute counts as a repeat: agents retry what they have already done.
import { hash } from 'node:crypto';
import { Problem } from '../errors.ts';
import type { Door } from '../messages/door.ts';
import type { Database } from '../store/pool.ts';
import type { SendRequest } from './request.ts';
import { hashOfRequest } from './request-hash.ts';

export const KEY_HEADER = 'Idempotency-Key';
/** As each door has it; by default an HTTP header. */
const KEY_NAMES: Partial<Record<Door, string>> = {
  mcp: 'idempotency_key',
  smtp: 'X-SM-Idempotency-Key',
};

/** The name by which the caller knows the key: for an email in a batch, a field. */
export const keyNameAt = (door: Door): string => KEY_NAMES[door] ?? KEY_HEADER;

export interface IdempotencyClaim {
  key: string;
  /** The name by which the caller knows the key. */
  name: string;
  /** Distinguishes a repeat from another request under the same key. */
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
 * One key for a whole batch: each email has a claim under its position, so that what was accepted
 * answers as before and what was not is tried again. accept_sends recognises these keys by their
 * beginning: if one email differs, the whole request does. Null: not readable.
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
 * The message that an identical send under the same key created. Batches find it by themselves;
 * this is for a send that does not get that far, because its scheduled time has passed.
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
