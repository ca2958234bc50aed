// Waiting for conditions: tests never sleep for a time, they ask until it is so.

/** Asks until the answer is truthy (or the check stops throwing); fails with the last answer after `withinMs`. */
export async function until<Value>(
  check: () => Promise<Value> | Value,
  withinMs = 15_000,
): Promise<Exclude<NonNullable<Value>, false>> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    let last: unknown;
    try {
      const value = await check();
      if (value) return value as Exclude<NonNullable<Value>, false>;
      last = value;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) {
      throw last instanceof Error
        ? last
        : new Error(`waited ${withinMs} ms; last: ${String(last)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
