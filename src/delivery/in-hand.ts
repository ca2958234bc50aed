// What a worker has claimed, by account, and how much more it may claim. Used by worker.ts before
// every claim. Half of the places are filled at once, so that a claim is worth its cost. The rest
// is only for newcomers: accounts with little claimed do not wait until another's emails are gone.
// An email that was tried needs no place while its outcome is being recorded, unless as many as
// there are places wait for that: then the database is what is slow.
import type { ClaimedMessage, Room } from '../queue/due.ts';
import type { Database } from '../store/pool.ts';

export interface InHand {
  add(rows: readonly ClaimedMessage[]): void;
  /** Its place is free; its outcome is yet to be recorded. */
  tried(row: ClaimedMessage): void;
  remove(row: ClaimedMessage): void;
  count(): number;
  /** Whether emails of accounts in the same shard as this one are being tried. */
  triesBeside(account: number): boolean;
  all(): readonly ClaimedMessage[];
  isHalfEmpty(): boolean;
  /** All of them have enough. */
  areFull(accounts: ReadonlySet<number>): boolean;
  /** Undefined: none. */
  room(): Pick<Room, 'most' | 'full'> | undefined;
}

/** `places`: how many at a time, which changes with the relays. */
export function createInHand(places: () => number, shardOf: Database['shardOf']): InHand {
  /** Those that have a place, by account and by shard. */
  const byAccount = new Map<number, number>();
  const byShard = new Map<number, number>();
  let placed = 0;
  /** With the shard it was in when it was claimed; undefined: it was tried. */
  const all = new Map<ClaimedMessage, number | undefined>();

  const taken = () => Math.max(placed, all.size - places());
  const isHalfEmpty = () => taken() <= places() / 2;
  const isFull = (account: number) => (byAccount.get(account) ?? 0) >= Math.ceil(places() / 16);

  function leavePlace(row: ClaimedMessage): void {
    const shard = all.get(row);
    if (shard === undefined) return;
    count(byShard, shard, -1);
    count(byAccount, row.accountId, -1);
    placed--;
  }

  return {
    add(rows) {
      for (const row of rows) {
        const shard = shardOf(row.accountId);
        all.set(row, shard);
        count(byShard, shard, 1);
        count(byAccount, row.accountId, 1);
      }
      placed += rows.length;
    },
    tried(row) {
      leavePlace(row);
      all.set(row, undefined);
    },
    remove(row) {
      leavePlace(row);
      all.delete(row);
    },
    count: () => all.size,
    triesBeside: (account) => byShard.has(shardOf(account)),
    all: () => [...all.keys()],
    isHalfEmpty,
    areFull: (accounts) => [...accounts].every(isFull),
    room() {
      const most = places();
      if (isHalfEmpty()) return { most: most - taken(), full: [] };
      const left = most + Math.ceil(most / 4) - taken();
      return left <= 0 ? undefined : { most: left, full: [...byAccount.keys()].filter(isFull) };
    },
  };
}

function count(counts: Map<number, number>, key: number, more: number): void {
  const sum = (counts.get(key) ?? 0) + more;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}
