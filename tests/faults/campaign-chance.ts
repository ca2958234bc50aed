// Chance that can be repeated: the same seed draws the same troubles in the same order.

export interface Chance {
  /** From 0 up to 1. */
  next(): number;
  between(low: number, high: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** Draws forever; each item once before any comes again. */
  deck<Item>(items: readonly Item[]): () => Item;
}

/** mulberry32. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const index = (count: number): number => Math.floor(next() * count);
  return {
    next,
    between: (low, high) => low + next() * (high - low),
    pick: (items) => items[index(items.length)]!,
    deck(items) {
      let left: (typeof items)[number][] = [];
      return () => {
        if (left.length === 0) left = [...items];
        return left.splice(index(left.length), 1)[0]!;
      };
    },
  };
}
