// Group commit: what arrives while the last write is in flight is written together in the next one.
// Used where many small statements meet PostgreSQL: accepting sends, recording what happened to
// them, opens and clicks; and the checks of every send by an agent.
import { createLine, type Owners } from './line.ts';

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
   * `moreToCome` expects some. It is passed how many wait, and the first of them.
   */
  company?: {
    items: number;
    withinMs: () => number;
    moreToCome: (waiting: number, first: Item) => boolean;
  };
  /**
   * Whose item it is: if not all fit into a group, owners take turns. An owner with nothing in
   * flight does not wait for another's crowd: its items form a group beside it.
   */
  ownerOf?: (item: Item) => unknown;
  /** Items with the same value share a group, others never do: each such group waits separately. */
  apart?: (item: Item) => unknown;
}

/**
 * From this many of one owner on, a group takes noticeably longer than that owner's share of it.
 */
const CROWD = 8;

interface Waiting<Item, Result> {
  item: Item;
  owner: unknown;
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
  const waiting = createLine<Waiting<Item, Result>>();
  const inFlight = new Set<Promise<void>>();
  /** How many items of each owner are in flight, and how many owners have a crowd. */
  const flying = new Map<unknown, number>();
  let crowds = 0;
  let scheduled = false;
  let patience: NodeJS.Timeout | undefined;
  let waitedLongEnough = false;

  function schedule(): void {
    if (scheduled || !(mayStart() || isKeptWaiting())) return;
    scheduled = true;
    // What arrived during this turn of the event loop is committed together.
    setImmediate(() => {
      scheduled = false;
      if (!mayStart()) {
        if (isKeptWaiting()) start(flying);
        return;
      }
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
      start();
      schedule();
    });
  }

  function mayStart(): boolean {
    const enough = inFlight.size === 0 ? 1 : (options.worthAnother ?? 1);
    return waiting.count() >= enough && inFlight.size < options.mostInFlight;
  }

  /**
   * An owner has nothing in flight while another has a crowd. One group at a time is for such
   * owners.
   */
  const isKeptWaiting = (): boolean =>
    crowds > 0 && inFlight.size <= options.mostInFlight && waiting.first(flying) !== undefined;

  function start(except?: Owners): void {
    const group = takeGroup(except);
    count(group, 1);
    const work = write(group).finally(() => {
      inFlight.delete(work);
      count(group, -1);
      schedule();
    });
    inFlight.add(work);
  }

  function count(group: readonly Waiting<Item, Result>[], by: 1 | -1): void {
    if (options.ownerOf === undefined) return;
    for (const { owner } of group) {
      const before = flying.get(owner) ?? 0;
      if (Math.max(before, before + by) === CROWD) crowds += by;
      if (before + by === 0) flying.delete(owner);
      else flying.set(owner, before + by);
    }
  }

  function waitsForCompany(): boolean {
    const { company } = options;
    const count = waiting.count();
    if (company === undefined || waitedLongEnough || count >= company.items) return false;
    return company.moreToCome(count, waiting.first()!.item);
  }

  function takeGroup(except?: Owners): Waiting<Item, Result>[] {
    const group: Waiting<Item, Result>[] = [];
    let bytes = 0;
    while (group.length < options.mostItems) {
      const next = waiting.first(except);
      if (next === undefined) break;
      bytes += options.sizeOf?.(next.item) ?? 0;
      if (group.length > 0 && bytes > (options.mostBytes ?? Number.POSITIVE_INFINITY)) break;
      group.push(waiting.take(except));
    }
    return group;
  }

  async function write(group: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await options.write(group.map((entry) => entry.item));
      group.forEach(({ resolve }, index) => {
        resolve(results[index]!);
      });
    } catch (error) {
      if (group.length > 1 && (isDataFault(error) || isOfSeveralShards(error))) {
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
        const owner = options.ownerOf?.(item);
        waiting.add(owner, { item, owner, resolve, reject });
        schedule();
      });
    },
    async drain() {
      while (waiting.count() > 0 || inFlight.size > 0) {
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
  const state = stateOf(error);
  return typeof state === 'string' && /^(22|23|54)...$/.test(state);
}

/** Citus does not support it (0A000): the shard was split since the map of places was read. */
const isOfSeveralShards = (error: unknown): boolean => stateOf(error) === '0A000';

const stateOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;
