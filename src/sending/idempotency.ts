// Idempotency: a key the caller chooses makes a repeated send answer as the first did, for 24
// hours. Without one, an agent's identical send within a minute is taken for a repeat: agents retry
// what they did already.
import { hash } from 'node:crypto';
import { Problem } from '../errors.ts';
import type { SendRequest } from './request.ts';

export interface IdempotencyClaim {
  key: string;
  /** Tells a repeat from another request under the same key. */
  requestHash: Buffer;
  keptSeconds: number;
}

const KEPT_SECONDS = 24 * 3600;
const GUARD_SECONDS = 60;

export function readIdempotencyKey(
  key: string | undefined,
  request: SendRequest,
): IdempotencyClaim | null {
  if (key === undefined) return null;
  if (key.length < 1 || key.length > 255 || /\p{Cc}/u.test(key)) {
    throw new Problem(
      'invalid',
      'Idempotency-Key: use 1 to 255 characters without control characters, such as a UUID.',
    );
  }
  return { key, requestHash: hashOf(request), keptSeconds: KEPT_SECONDS };
}

/** Under a key that nobody can choose: control characters are refused above. */
export function guardAgainstRepeat(keyId: string, request: SendRequest): IdempotencyClaim {
  const requestHash = hashOf(request, keyId);
  return {
    key: `\u0001${requestHash.toString('base64')}`,
    requestHash,
    keptSeconds: GUARD_SECONDS,
  };
}

/**
 * Of the parsed request, in the schema's order of fields: white space and field order make no other
 * request.
 */
const hashOf = (request: SendRequest, keyId = ''): Buffer =>
  hash('sha256', `${keyId}${asJson(withHashes(request))}`, 'buffer');

/**
 * Integers of any size may stand in variables, and JSON.stringify does not take those that are
 * bigints.
 */
function asJson(request: object): string {
  try {
    return JSON.stringify(request);
  } catch {
    return JSON.stringify(request, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
  }
}

const LONG = 64 * 1024;

/**
 * Long texts stand for themselves by their hash: 25 MB of them take JSON.stringify 100 ms, and
 * hashing 30.
 */
function withHashes(request: SendRequest): object {
  const { html, text, attachments } = request;
  if (!isLong(html) && !isLong(text) && !attachments?.some((it) => isLong(it.content_base64))) {
    return request;
  }
  return {
    ...request,
    html: shorten(html),
    text: shorten(text),
    attachments: attachments?.map((it) => ({
      ...it,
      content_base64: shorten(it.content_base64),
    })),
  };
}

const isLong = (text: string | undefined): boolean => text !== undefined && text.length > LONG;

const shorten = (text: string | undefined) =>
  text !== undefined && isLong(text) ? { sha256: hash('sha256', text) } : text;
