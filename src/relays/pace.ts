// What an operator allows a relay a second, shared out evenly over the delivery processes. Before:
// delivery/handing.ts has a copy for the relay. After: it waits here for its moment. Few wait: what
// a process has in hand is for all relays, and one that is slow by its limit must not fill it. The
// others are told when to try again, so that they come one after the other.

/** What was not used for so long may be made up for. */
const CATCH_UP_MS = 100;
/** What may wait here: the emails of half a second, or these few. */
const WAIT_HERE_SECONDS = 0.5;
const WAIT_HERE_AT_LEAST = 4;
/** They come a little sooner than the limit allows, or the relay would wait for them. */
const SOONER = 0.9;
/** If the limit is raised in the meantime, they learn of it then. */
const COME_AGAIN_WITHIN_MS = 120_000;

export interface Pace {
  /** Waits until the next email may go; not at all once it is closed. */
  next(): Promise<void>;
  /** 0: it may wait here, and `leave` follows. Else in how many milliseconds it tries again. */
  enter(wish: { urgent: boolean }): number;
  leave(): void;
  /** Others, where there are any, are the quicker way. */
  isFull(): boolean;
  /** The relay is given up: whoever waits goes on, and is handed to another. */
  close(): void;
}

/** `share`: of the emails a second, how many are this process's. */
export function createPace(share: () => number): Pace {
  let nextAt = 0;
  let waiting = 0;
  let bookedUntil = 0;
  let close = () => {};
  let isClosed = false;
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  const room = () => Math.max(WAIT_HERE_AT_LEAST, share() * WAIT_HERE_SECONDS);

  function book(): number {
    const now = performance.now();
    const soonest = now + (room() * 1000) / share();
    bookedUntil = Math.max(bookedUntil + (SOONER * 1000) / share(), soonest);
    return Math.min(bookedUntil - now, COME_AGAIN_WITHIN_MS);
  }
  return {
    async next() {
      const now = performance.now();
      const at = Math.max(now - CATCH_UP_MS, nextAt);
      nextAt = at + 1000 / share();
      if (at <= now || isClosed) return;
      let timer: NodeJS.Timeout | undefined;
      const moment = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, at - now);
      });
      await Promise.race([moment, closed]);
      clearTimeout(timer);
    },
    enter({ urgent }) {
      // What is urgent passes those that wait, and so has room of its own.
      if (!isClosed && waiting >= room() * (urgent ? 2 : 1)) return book();
      waiting++;
      return 0;
    },
    leave() {
      waiting--;
    },
    isFull: () => waiting >= room(),
    close() {
      isClosed = true;
      close();
    },
  };
}
