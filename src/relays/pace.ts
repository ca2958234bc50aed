// How many emails per second an operator allows a relay, shared evenly by the delivery processes.
// Before it: delivery/handing.ts has a copy for the relay. After it: the copy waits here for its
// turn. Few wait: a process has limited room for the emails of all relays, and one with a low limit
// must not fill it. The others are told when to try again, so that they come one after the other.

/** Unused time that may be caught up on. */
const CATCH_UP_MS = 100;
/** How many may wait here: the emails of half a second, or these few. */
const WAIT_HERE_SECONDS = 0.5;
const WAIT_HERE_AT_LEAST = 4;
/** They come slightly sooner than the limit allows; otherwise the relay would wait for them. */
const SOONER = 0.9;
/** If the limit is raised in the meantime, they learn of it by then. */
const COME_AGAIN_WITHIN_MS = 120_000;

export interface Pace {
  /** Waits until the next email may be handed over; not at all once it is closed. */
  next(): Promise<void>;
  /**
   * 0: it may wait here, and `leave` follows. Otherwise the milliseconds until it should try again.
   */
  enter(wish: { urgent: boolean }): number;
  leave(): void;
  /** If there are other relays, they are faster. */
  isFull(): boolean;
  /** The relay is given up: waiting emails continue, and are handed to another. */
  close(): void;
}

/** `share`: how many of the emails per second this process may hand over. */
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
      // Urgent emails overtake those that wait, and so have extra room.
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
