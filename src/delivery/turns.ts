// Turns: which email in hand is made next, and which is next at the relay. Before: attempt.ts has
// an email to hand over. After: relay.ts gives it to a session. The lanes take turns here as they
// do in the claim, so that an account with one email does not wait behind all that another has in
// hand; within a lane the better class goes first, and every fourth turn is for the others.
import type { ClaimedMessage } from '../queue/due.ts';

/** Called by the relay when the email is about to begin; returns whether it still may. */
export type StillWanted = () => boolean;

export interface Turns {
  /**
   * Waits for a turn, then works. The turn ends when the work is done, or earlier, when it calls
   * `stillWanted`: from then on it has begun. Undefined: it did not begin, because it no longer
   * may.
   */
  take<Result>(
    claimed: Pick<ClaimedMessage, 'accountId' | 'class'>,
    mayBegin: () => boolean,
    work: (stillWanted: StillWanted) => Promise<Result>,
  ): Promise<Result | undefined>;
  /** Nothing new is started. What has begun continues. */
  close(): void;
}

const CLASSES = ['urgent', 'normal', 'bulk'] as const;

interface Lane {
  waiting: Record<(typeof CLASSES)[number], (() => void)[]>;
  served: number;
}

/**
 * After this time without a session, an email no longer keeps others from being offered: its
 * destination may hang.
 */
const PATIENCE_MS = 100;

/**
 * `ahead`: how many have a turn at a time. Few, so that the better class is soon next. A lane
 * without a turn gets an extra one: it waits for nobody here, and the relay keeps places for such
 * lanes.
 */
export function createTurns(ahead: number, patienceMs = PATIENCE_MS): Turns {
  // Waiting lanes, in the order they are served; a lane that was served goes to the end.
  const lanes = new Map<number, Lane>();
  const dismissals = new Set<() => void>();
  /** How many have a turn, in total and per lane. */
  let given = 0;
  const givenTo = new Map<number, number>();
  let closed = false;

  function next(): void {
    for (;;) {
      const account = nextLane();
      if (account === undefined) return;
      const lane = lanes.get(account)!;
      const start = takeFrom(lane)!;
      lanes.delete(account);
      if (CLASSES.some((name) => lane.waiting[name].length > 0)) lanes.set(account, lane);
      given++;
      givenTo.set(account, (givenTo.get(account) ?? 0) + 1);
      start();
    }
  }

  function nextLane(): number | undefined {
    for (const account of lanes.keys()) {
      if (given < ahead || !givenTo.has(account)) return account;
    }
    return undefined;
  }

  function giveBack(account: number): void {
    given--;
    const left = givenTo.get(account)! - 1;
    if (left === 0) givenTo.delete(account);
    else givenTo.set(account, left);
    next();
  }

  function stand(account: number, name: (typeof CLASSES)[number], start: () => void): void {
    let lane = lanes.get(account);
    if (lane === undefined) {
      lane = { waiting: { urgent: [], normal: [], bulk: [] }, served: 0 };
      lanes.set(account, lane);
    }
    lane.waiting[name].push(start);
    next();
  }

  return {
    async take(claimed, mayBegin, work) {
      if (closed) return undefined;
      let dismiss = () => {};
      const dismissed = new Promise<undefined>((resolve) => {
        dismiss = () => resolve(undefined);
      });
      dismissals.add(dismiss);
      let patience: NodeJS.Timeout | undefined;
      let hasTurn = false;
      const endTurn = () => {
        if (!hasTurn) return;
        hasTurn = false;
        giveBack(claimed.accountId);
      };
      try {
        const turn = new Promise<true>((resolve) => {
          stand(claimed.accountId, claimed.class, () => {
            hasTurn = true;
            resolve(true);
          });
        });
        if ((await Promise.race([turn, dismissed])) === undefined || !mayBegin()) return undefined;
        if (patienceMs < Number.POSITIVE_INFINITY) patience = setTimeout(endTurn, patienceMs);
        const done = work(() => {
          const wanted = !closed && mayBegin();
          if (wanted) dismissals.delete(dismiss);
          else dismiss();
          clearTimeout(patience);
          endTurn();
          return wanted;
        });
        // Given to the relay, but not yet to a session: it can still be given back at once.
        return await Promise.race([done, dismissed]);
      } finally {
        clearTimeout(patience);
        dismissals.delete(dismiss);
        endTurn();
      }
    },
    close() {
      closed = true;
      for (const dismiss of dismissals) dismiss();
    },
  };
}

const IN_ORDER = CLASSES;
const NORMAL_FIRST = ['normal', 'urgent', 'bulk'] as const;
const BULK_FIRST = ['bulk', 'normal', 'urgent'] as const;

function takeFrom(lane: Lane): (() => void) | undefined {
  lane.served++;
  const order =
    lane.served % 8 === 0 ? BULK_FIRST : lane.served % 4 === 0 ? NORMAL_FIRST : IN_ORDER;
  const name = order.find((it) => lane.waiting[it].length > 0);
  return name && lane.waiting[name].shift();
}
