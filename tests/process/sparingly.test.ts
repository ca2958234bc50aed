// How long the database is left alone after a figure was read.
import { expect, it } from 'vitest';
import { pauseAfter } from '../../src/process/sparingly.ts';

// Without a limit, a count that takes 1.3 s on a busy machine leaves a full queue "full" for a
// minute after it is empty, one of ten seconds for eight.
it.each([
  [0, 0],
  [100, 5_000],
  [1_300, 10_000],
  [60_000, 10_000],
])('a figure that took %i ms is read again after %i', (tookMs, pauseMs) => {
  expect(pauseAfter(tookMs)).toBe(pauseMs);
});
