// Idempotency: a key the caller chooses makes a repeated send answer as the first did, for 24 hours.
import { createHash } from 'node:crypto';
import { Problem } from '../errors.ts';
import type { SendRequest } from './request.ts';

export interface IdempotencyClaim {
  key: string;
  /** Tells a repeat from another request under the same key. */
  requestHash: Buffer;
}

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
  // The parsed request, in the schema's order of fields: white space and field order make no other request.
  const requestHash = createHash('sha256').update(JSON.stringify(request)).digest();
  return { key, requestHash };
}
