// Waiting for conditions: tests never sleep for a time, they ask until it is so.

/**
 * Soon at first, then less and less often: asking costs a service and a database work that other
 * tests are waiting for.
 */
const SHORTEST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 200;

/**
 * Asks until the answer is truthy (or the check stops throwing); fails with the last answer after
 * `withinMs`.
 */
export async function until<Value>(
  check: () => Promise<Value> | Value,
  withinMs = 60_000,
): Promise<Exclude<NonNullable<Value>, false>> {
  const started = performance.now();
  for (;;) {
    let last: unknown;
    try {
      const value = await check();
      if (value) return value as Exclude<NonNullable<Value>, false>;
      last = value;
    } catch (error) {
      last = error;
    }
    const waitedMs = performance.now() - started;
    if (waitedMs > withinMs) {
      throw last instanceof Error
        ? last
        : new Error(`waited ${withinMs} ms; last: ${String(last)}`);
    }
    const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, waitedMs / 10));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
