// How much one batch may hold, made and unmade: one email of 20 MB for 100 recipients is a small
// request and took 6 GB. Before it: batch-request.ts lists the emails, accept-batch.ts makes each.
import { Problem } from '../errors.ts';
import { MOST_BODY_BYTES } from '../http/body.ts';

/** Twice what a request can bring: templates write more than they are given. */
const MOST_BATCH_BYTES = 2 * MOST_BODY_BYTES;

/**
 * Before anything is made: what every recipient gets the same, as often as there are recipients.
 */
export function requireModestCopies(common: object, count: number): void {
  if (lengthIn(common) * count > MOST_BATCH_BYTES) throw tooMuch();
}

/** Counts the size of each email that is made; throws a Problem for those beyond the limit. */
export function countBytes(): (size: number) => void {
  let bytes = 0;
  return (size) => {
    if (bytes + size > MOST_BATCH_BYTES) throw tooMuch();
    bytes += size;
  };
}

/** Of all text in it, files included. */
function lengthIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + lengthIn(each), 0);
}

const tooMuch = (): Problem =>
  new Problem(
    'invalid',
    `The emails of this batch are larger than ${MOST_BATCH_BYTES / 1024 / 1024} MB together. Send them in several batches, or send links instead of files.`,
  );
