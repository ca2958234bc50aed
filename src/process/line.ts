// A line in which owners take turns: whoever has much waiting delays only themselves. Used by group
// commits, where what one account sends must not keep others from the next group.

export interface Line<Entry> {
  count(): number;
  add(owner: unknown, entry: Entry): void;
  /** Whose turn it is, passing over these owners; undefined: nobody else waits. */
  first(except?: Owners): Entry | undefined;
  /** Takes the first, whose owner goes to the end. */
  take(except?: Owners): Entry;
}

export type Owners = Pick<ReadonlySet<unknown>, 'has'>;

interface Lane<Entry> {
  entries: Entry[];
  /** Those before it were taken: shifting 50,000 for each one taken would be slow. */
  at: number;
}

export function createLine<Entry>(): Line<Entry> {
  // In the order of their turns.
  const lanes = new Map<unknown, Lane<Entry>>();
  let count = 0;

  function next(except?: Owners): [owner: unknown, lane: Lane<Entry>] | undefined {
    for (const turn of lanes) if (!except?.has(turn[0])) return turn;
    return undefined;
  }

  return {
    count: () => count,
    add(owner, entry) {
      const lane = lanes.get(owner);
      if (lane === undefined) lanes.set(owner, { entries: [entry], at: 0 });
      else lane.entries.push(entry);
      count++;
    },
    first(except) {
      const lane = next(except)?.[1];
      return lane?.entries[lane.at];
    },
    take(except) {
      const [owner, lane] = next(except)!;
      const entry = lane.entries[lane.at++]!;
      count--;
      lanes.delete(owner);
      if (lane.at === lane.entries.length) return entry;
      if (lane.at > 1000 && lane.at * 2 > lane.entries.length) {
        lane.entries = lane.entries.slice(lane.at);
        lane.at = 0;
      }
      lanes.set(owner, lane);
      return entry;
    },
  };
}
