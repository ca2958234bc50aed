// A queue in which owners take turns: whoever has much waiting delays only themselves. Used by
// group commits, so that one account's sends do not keep others out of the next group.

export interface Line<Entry> {
  count(): number;
  add(owner: unknown, entry: Entry): void;
  /**
   * The first item of the owner whose turn it is, skipping these owners; undefined: nobody else
   * waits.
   */
  first(except?: Owners): Entry | undefined;
  /** Takes the first item; its owner moves to the end. */
  take(except?: Owners): Entry;
}

export type Owners = Pick<ReadonlySet<unknown>, 'has'>;

interface Lane<Entry> {
  owner: unknown;
  entries: Entry[];
  /** Items before this were taken: shifting 50,000 for each one would be slow. */
  at: number;
}

export function createLine<Entry>(): Line<Entry> {
  const ofOwner = new Map<unknown, Lane<Entry>>();
  // Owners in turn, starting at `turn` and wrapping around.
  const lanes: Lane<Entry>[] = [];
  let turn = 0;
  let count = 0;

  /** The position of the next owner that is not skipped; -1: there is none. */
  function next(except?: Owners): number {
    for (let n = 0; n < lanes.length; n++) {
      const place = (turn + n) % lanes.length;
      if (!except?.has(lanes[place]!.owner)) return place;
    }
    return -1;
  }

  /** After all others: just before the owner whose turn it is. */
  function putLast(lane: Lane<Entry>): void {
    lanes.splice(turn, 0, lane);
    turn = (turn + 1) % lanes.length;
  }

  function remove(place: number): void {
    lanes.splice(place, 1);
    if (place < turn) turn--;
    else if (turn === lanes.length) turn = 0;
  }

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
      putLast(lane);
    },
    first(except) {
      const lane = lanes[next(except)];
      return lane?.entries[lane.at];
    },
    take(except) {
      const place = next(except);
      const lane = lanes[place]!;
      const entry = lane.entries[lane.at++]!;
      count--;
      if (lane.at === lane.entries.length) {
        ofOwner.delete(lane.owner);
        remove(place);
        return entry;
      }
      if (lane.at > 1000 && lane.at * 2 > lane.entries.length) {
        lane.entries = lane.entries.slice(lane.at);
        lane.at = 0;
      }
      if (place === turn) turn = (turn + 1) % lanes.length;
      else {
        remove(place);
        putLast(lane);
      }
      return entry;
    },
  };
}
