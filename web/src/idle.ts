// Moments in which the browser has nothing else to do, and what waits for one.

export const idle = (): Promise<unknown> =>
  new Promise((done) => {
    // Safari has no such thing.
    if ('requestIdleCallback' in globalThis) requestIdleCallback(done);
    else setTimeout(done, 200);
  });

const waiting = new Set<() => void>();

/** One after the other, a moment each; answers how to give up one's place. */
export function inTurn(act: () => void): () => void {
  waiting.add(act);
  if (waiting.size === 1) void takeTurns();
  return () => void waiting.delete(act);
}

async function takeTurns(): Promise<void> {
  for (const act of waiting) {
    await idle();
    if (waiting.delete(act)) act();
  }
}
