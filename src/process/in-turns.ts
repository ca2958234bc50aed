// Long work in pieces, with a turn of the event loop for everyone else after each. The work is a
// generator that yields where a piece ends.

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs to the end, giving everyone else a turn after each piece. */
export async function inTurns<Result>(work: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    await turn();
  }
}

/** The same if pieces are mostly small: a turn only if the last was a few milliseconds ago. */
export async function inLongTurns<Result>(work: Generator<void, Result>): Promise<Result> {
  const turns = takeTurns();
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    await turns();
  }
}

/**
 * The same, returned without a promise if it ends within its first turn. The size does not predict
 * that: 64 KB of nested parts take 75 ms.
 */
export function soonOrInTurns<Result>(work: Generator<void, Result>): Result | Promise<Result> {
  const startedMs = performance.now();
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    if (performance.now() - startedMs >= LONGEST_TURN_MS) {
      return turn().then(() => inLongTurns(work));
    }
  }
}

const LONGEST_TURN_MS = 5;

/** For loops: await it after each step. */
export function takeTurns(): () => Promise<void> | undefined {
  let sinceMs = performance.now();
  return () => {
    if (performance.now() - sinceMs < LONGEST_TURN_MS) return undefined;
    return turn().then(() => {
      sinceMs = performance.now();
    });
  };
}

/**
 * For short work that many callers may want at once: one per turn, so that it does not add up.
 * Callbacks that many pass to setImmediate all run in the same turn.
 */
export function oneATurn(): <Result>(work: () => Result) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(turn).then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
}

/** Runs to the end without a turn: for work known to be small. */
export function atOnce<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
