// Work that waits for a thread, in one lane per share (an account, the previews of an account, the
// reports): lanes take turns, so a flood delays only its own lane. Before it: pool.ts takes an
// order. After it: a batch for one thread.

/** Whose work it is. Orders of one share wait in one queue. */
export type Share = string;

export interface Waiting {
  share: Share;
  /** Roughly how many bytes are transferred. */
  size: number;
  /** By performance.now(). */
  sinceMs: number;
  /** It may have killed a thread already, so nothing shares a batch with it. */
  alone: boolean;
}

/** Ordinary emails take about half a millisecond: a batch of them is done within 20. */
const MOST_IN_BATCH = 24;
const MOST_BYTES_IN_BATCH = 1024 * 1024;
/**
 * By what orders of their share usually take. 24 of 20 ms each held a thread for half a second, and
 * another account's email waited for their end.
 */
const MOST_MS_IN_BATCH = 20;
const ORDINARY_MS = 0.5;
/**
 * From this usual time on, orders go one by one: a result that is ready after half a millisecond
 * would otherwise wait for theirs.
 */
const COSTLY_MS = 5;
/** How much the latest order counts: a pause of the machine is not what a share usually takes. */
const WEIGHT = 0.1;
/** Beyond this number, what is known is forgotten and learned again. */
const MANY_SHARES = 1000;
/**
 * From this time on a share counts as slow, for a while: its work runs one by one, and never takes
 * the last thread.
 */
const SLOW_MS = 25;
const SLOW_FOR_MS = 2000;

export function createLanes<Item extends Waiting>() {
  // In the order of their turns: a lane that had one goes to the end.
  const lanes = new Map<Share, Item[]>();
  const slowUntil = new Map<Share, number>();
  const held = new Set<Share>();
  /** Only for shares that take longer than ordinary emails. */
  const usualMs = new Map<Share, number>();
  let count = 0;

  const isSlow = (share: Share): boolean => (slowUntil.get(share) ?? 0) > performance.now();

  function takeFirst(share: Share, lane: Item[]): Item {
    const item = lane.shift()!;
    count--;
    lanes.delete(share);
    if (lane.length > 0) lanes.set(share, lane);
    return item;
  }

  function moveToEnd(share: Share): void {
    const lane = lanes.get(share);
    if (lane === undefined) return;
    lanes.delete(share);
    lanes.set(share, lane);
  }

  return {
    count: () => count,
    isSlow,

    /** A share could have the next turn, and has no order among those that are running. */
    isKeptWaiting(running: ReadonlySet<Share>): boolean {
      for (const share of lanes.keys()) {
        if (!running.has(share) && !held.has(share) && !isSlow(share)) return true;
      }
      return false;
    },

    /**
     * The latest order of the share that has by far the most waiting; undefined: that is this
     * share.
     */
    takeFromLongest(share: Share): Item | undefined {
      let longest = lanes.get(share) ?? [];
      const own = longest.length;
      for (const lane of lanes.values()) if (lane.length > longest.length) longest = lane;
      if (longest.length <= own + 1) return undefined;
      count--;
      return longest.pop();
    },

    add(item: Item): void {
      const lane = lanes.get(item.share);
      if (lane === undefined) lanes.set(item.share, [item]);
      else lane.push(item);
      count++;
    },

    /** What a thread did not get to comes before everything newer. */
    putBack(items: readonly Item[]): void {
      for (const item of items.toReversed()) {
        const lane = lanes.get(item.share);
        if (lane === undefined) lanes.set(item.share, [item]);
        else lane.unshift(item);
        count++;
      }
    },

    /**
     * The next batch: one order from each lane in turn, repeatedly, until one of them has nothing
     * left, so nobody waits for more orders of the others than one turn. Shares that already have
     * something in a thread come last. A costly, slow or suspect order goes alone.
     */
    take({ alsoSlow, running }: { alsoSlow: boolean; running: ReadonlySet<Share> }): Item[] {
      for (const share of running) moveToEnd(share);
      const batch: Item[] = [];
      let bytes = 0;
      let expectedMs = 0;
      const taken = new Set<Share>();
      let someHaveAll = false;
      // A lane that had its turn moves to the end, where this loop reaches it again.
      for (const [share, lane] of lanes) {
        if (held.has(share)) continue;
        if (someHaveAll && taken.has(share)) break;
        const first = lane[0]!;
        const isSuspect = first.alone || isSlow(share);
        if (isSuspect && !alsoSlow) continue;
        const takesMs = usualMs.get(share) ?? ORDINARY_MS;
        const goesAlone = isSuspect || takesMs > COSTLY_MS;
        if (goesAlone && batch.length > 0) continue;
        bytes += first.size;
        expectedMs += takesMs;
        const isFull = bytes > MOST_BYTES_IN_BATCH || expectedMs > MOST_MS_IN_BATCH;
        if (isFull && batch.length > 0) break;
        batch.push(takeFirst(share, lane));
        taken.add(share);
        someHaveAll ||= !lanes.has(share);
        if (goesAlone || batch.length === MOST_IN_BATCH) break;
      }
      return batch;
    },

    /** A share gets no other thread while one that was ended because of its work still runs. */
    hold: (share: Share) => void held.add(share),
    release: (share: Share) => void held.delete(share),

    /** How long work of a share took. */
    note(share: Share, ms: number): void {
      const usually = (usualMs.get(share) ?? ORDINARY_MS) * (1 - WEIGHT) + ms * WEIGHT;
      if (usualMs.size >= MANY_SHARES) usualMs.clear();
      if (usually > 2 * ORDINARY_MS) usualMs.set(share, usually);
      else usualMs.delete(share);
      if (ms < SLOW_MS) return;
      const nowMs = performance.now();
      for (const [other, untilMs] of slowUntil) if (untilMs <= nowMs) slowUntil.delete(other);
      slowUntil.set(share, nowMs + SLOW_FOR_MS);
    },

    /** Removes what has waited since before then. */
    takeOlderThan(sinceMs: number): Item[] {
      const old: Item[] = [];
      for (const [share, lane] of [...lanes]) {
        while (lane.length > 0 && lane[0]!.sinceMs < sinceMs) old.push(lane.shift()!);
        if (lane.length === 0) lanes.delete(share);
      }
      count -= old.length;
      return old;
    },
  };
}
