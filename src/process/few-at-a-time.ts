// What arrives together starts a few at a time, owners in turn, and the event loop looks for more
// in between. Sockets are read in the order they became readable: behind 500 calls of one account,
// that of another waited until all of them had been parsed. Used by the door for sends.
import { createLine } from './line.ts';

/** Undefined: it may start now. */
export type Start = (owner: unknown) => Promise<void> | undefined;

export function fewAtATime(most: number): Start {
  const waiting = createLine<() => void>();
  let started = 0;

  function startMore(): void {
    started = Math.min(most, waiting.count());
    for (let n = 0; n < started; n++) waiting.take()();
    if (started > 0) setImmediate(startMore);
  }

  return (owner) => {
    if (started === 0) setImmediate(startMore);
    if (started < most) {
      started++;
      return undefined;
    }
    return new Promise((resolve) => waiting.add(owner, resolve));
  };
}
