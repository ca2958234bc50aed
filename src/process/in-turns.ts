// Long work in pieces, with a turn of the event loop for everybody else after each. Its steps are a
// generator that stops where a piece ends.

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** To its end, letting everybody else have a turn after each piece. */
export async function inTurns<Result>(work: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    await turn();
  }
}

/** The same, where pieces are mostly small: a turn only when the last was some milliseconds ago. */
export async function inLongTurns<Result>(work: Generator<void, Result>): Promise<Result> {
  const turns = takeTurns();
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    await turns();
  }
}

/**
 * The same, answered without a promise where it ends within its first turn. Its size does not tell:
 * 64 KB of parts in one another take 75 ms.
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

/** For loops: to be awaited after each of their steps. */
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
 * For short work that many callers may want at once: one a turn, so that it does not add up. What
 * setImmediate was asked for by many all runs in the same turn.
 */
export function oneATurn(): <Result>(work: () => Result) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(turn).then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
}

/** To its end without a turn: for what is known to be small. */
export function atOnce<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
