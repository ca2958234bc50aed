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
  owner: unknown;
  entries: Entry[];
  /** Those before it were taken: shifting 50,000 for each one taken would be slow. */
  at: number;
}

export function createLine<Entry>(): Line<Entry> {
  const ofOwner = new Map<unknown, Lane<Entry>>();
  // Each in its turn, from the one at `turn` on and round again.
  const lanes: Lane<Entry>[] = [];
  let turn = 0;
  let count = 0;
  return {
    count: () => count,
    add(owner, entry) {
      count++;
      const known = ofOwner.get(owner);
      if (known !== undefined) {
        known.entries.push(entry);
        return;
      }
      const lane = { owner, entries: [entry], at: 0 };
      ofOwner.set(owner, lane);
      // Behind all others: just before whoever has the turn.
      lanes.splice(turn, 0, lane);
      turn = (turn + 1) % lanes.length;
    },
    first() {
      const lane = lanes[turn];
      return lane?.entries[lane.at];
    },
    take() {
      const lane = lanes[turn]!;
      const entry = lane.entries[lane.at++]!;
      count--;
      if (lane.at === lane.entries.length) {
        ofOwner.delete(lane.owner);
        lanes.splice(turn, 1);
        if (turn === lanes.length) turn = 0;
        return entry;
      }
      if (lane.at > 1000 && lane.at * 2 > lane.entries.length) {
        lane.entries = lane.entries.slice(lane.at);
        lane.at = 0;
      }
      turn = (turn + 1) % lanes.length;
      return entry;
    },
  };
}
