// A line in which owners take turns: whoever has much waiting delays only themselves. Used by group
// commits, where what one account sends must not keep others from the next group.

export interface Line<Entry> {
  count(): number;
  add(owner: unknown, entry: Entry): void;
  /** Whose turn it is; undefined: nothing waits. */
  first(): Entry | undefined;
  /** Takes the first, whose owner goes to the end. */
  take(): Entry;
}

interface Lane<Entry> {
  entries: Entry[];
  /** Those before it were taken: shifting 50,000 for each one taken would be slow. */
  at: number;
}

export function createLine<Entry>(): Line<Entry> {
  // In the order of their turns.
  const lanes = new Map<unknown, Lane<Entry>>();
  let count = 0;
  return {
    count: () => count,
    add(owner, entry) {
      const lane = lanes.get(owner);
      if (lane === undefined) lanes.set(owner, { entries: [entry], at: 0 });
      else lane.entries.push(entry);
      count++;
    },
    first() {
      for (const { entries, at } of lanes.values()) return entries[at];
      return undefined;
    },
    take() {
      const [owner, lane] = lanes.entries().next().value!;
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
