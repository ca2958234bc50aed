// Group commit: what arrives while the last write is in flight is written together in the next one.
// Used where many small statements meet PostgreSQL: accepting sends, recording what happened to
// them, opens and clicks; and the checks of every send by an agent.

export interface GroupCommit<Item, Result> {
  add(item: Item): Promise<Result>;
  /** Waits until everything added is written. */
  drain(): Promise<void>;
}

export interface GroupOptions<Item, Result> {
  /** Writes a group in one statement; returns one result per item, in order. */
  write: (items: Item[]) => Promise<Result[]>;
  mostItems: number;
  mostBytes?: number;
  sizeOf?: (item: Item) => number;
  mostInFlight: number;
  /**
   * While a group is in flight, another starts only if this many wait, 1 by default: every group
   * costs the server the same half millisecond, and items that wait a little longer share one.
   */
  worthAnother?: number;
  /**
   * A group smaller than this waits for more items, at most this many milliseconds, as long as
   * `moreToCome` says that there will be some. It is told how many wait, and the first of them.
   */
  company?: {
    items: number;
    withinMs: () => number;
    moreToCome: (waiting: number, first: Item) => boolean;
  };
  /** Items with the same value share a group, others never: each such group waits separately. */
  apart?: (item: Item) => unknown;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

export function createGroupCommit<Item, Result>(
  options: GroupOptions<Item, Result>,
): GroupCommit<Item, Result> {
  const { apart } = options;
  if (apart === undefined) return createOne(options);
  const groups = new Map<unknown, GroupCommit<Item, Result>>();
  return {
    add(item) {
      const key = apart(item);
      const group = groups.get(key) ?? createOne(options);
      groups.set(key, group);
      return group.add(item);
    },
    async drain() {
      await Promise.all([...groups.values()].map((group) => group.drain()));
    },
  };
}

function createOne<Item, Result>(options: GroupOptions<Item, Result>): GroupCommit<Item, Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let scheduled = false;
  const inFlight = new Set<Promise<void>>();
  let patience: NodeJS.Timeout | undefined;
  let waitedLongEnough = false;

  function schedule(): void {
    if (scheduled || !mayStart()) return;
    scheduled = true;
    // What arrived during this turn of the event loop is committed together.
    setImmediate(() => {
      scheduled = false;
      if (!mayStart()) return;
      if (waitsForCompany()) {
        patience ??= setTimeout(() => {
          patience = undefined;
          waitedLongEnough = true;
          schedule();
        }, options.company!.withinMs());
        return;
      }
      clearTimeout(patience);
      patience = undefined;
      waitedLongEnough = false;
      const work = write(takeGroup()).finally(() => {
        inFlight.delete(work);
        schedule();
      });
      inFlight.add(work);
      schedule();
    });
  }

  function mayStart(): boolean {
    const enough = inFlight.size === 0 ? 1 : (options.worthAnother ?? 1);
    return waiting.length >= enough && inFlight.size < options.mostInFlight;
  }

  function waitsForCompany(): boolean {
    const { company } = options;
    if (company === undefined || waitedLongEnough || waiting.length >= company.items) return false;
    return company.moreToCome(waiting.length, waiting[0]!.item);
  }

  function takeGroup(): Waiting<Item, Result>[] {
    let bytes = 0;
    let count = 0;
    while (count < waiting.length && count < options.mostItems) {
      bytes += options.sizeOf?.(waiting[count]!.item) ?? 0;
      if (count > 0 && bytes > (options.mostBytes ?? Number.POSITIVE_INFINITY)) break;
      count++;
    }
    const group = waiting.slice(0, count);
    waiting = waiting.slice(count);
    return group;
  }

  async function write(group: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await options.write(group.map((entry) => entry.item));
      for (const [index, entry] of group.entries()) entry.resolve(results[index]!);
    } catch (error) {
      if (group.length > 1 && isDataFault(error)) {
        // The statement failed as a whole, so nothing was written. One at a time, a bad item fails
        // alone.
        for (const entry of group) await write([entry]);
      } else {
        for (const entry of group) entry.reject(error);
      }
    }
  }

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        schedule();
      });
    },
    async drain() {
      while (waiting.length > 0 || inFlight.size > 0) {
        await Promise.all(inFlight);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

/**
 * SQLSTATE classes 22 (data), 23 (constraints) and 54 (limits): the fault of what was written, not
 * of the connection.
 */
export function isDataFault(error: unknown): boolean {
  const state = (error as { code?: unknown } | null)?.code;
  return typeof state === 'string' && /^(22|23|54)...$/.test(state);
}
