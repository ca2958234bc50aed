// What a worker has claimed, by account, and how much more it may claim. Used by worker.ts before
// every claim. Half of the places are filled at once, so that a claim is worth its cost. The rest
// is only for newcomers: accounts with little claimed do not wait until another's emails are gone.
import type { ClaimedMessage, Room } from '../queue/due.ts';
import type { Database } from '../store/pool.ts';

export interface InHand {
  add(rows: readonly ClaimedMessage[]): void;
  remove(row: ClaimedMessage): void;
  count(): number;
  /** Of the accounts in the same shard as this one. */
  countBeside(account: number): number;
  all(): readonly ClaimedMessage[];
  isHalfEmpty(): boolean;
  /** All of them have enough. */
  areFull(accounts: ReadonlySet<number>): boolean;
  /** Undefined: none. */
  room(): Pick<Room, 'most' | 'full'> | undefined;
}

/** `places`: how many at a time, which changes with the relays. */
export function createInHand(places: () => number, shardOf: Database['shardOf']): InHand {
  const byAccount = new Map<number, number>();
  const byShard = new Map<number, number>();
  /** With the shard it was in when it was claimed. */
  const all = new Map<ClaimedMessage, number>();

  const isHalfEmpty = () => all.size <= places() / 2;
  const isFull = (account: number) => (byAccount.get(account) ?? 0) >= Math.ceil(places() / 16);
  return {
    add(rows) {
      for (const row of rows) {
        const shard = shardOf(row.accountId);
        all.set(row, shard);
        count(byShard, shard, 1);
        count(byAccount, row.accountId, 1);
      }
    },
    remove(row) {
      count(byShard, all.get(row)!, -1);
      count(byAccount, row.accountId, -1);
      all.delete(row);
    },
    count: () => all.size,
    countBeside: (account) => byShard.get(shardOf(account)) ?? 0,
    all: () => [...all.keys()],
    isHalfEmpty,
    areFull: (accounts) => [...accounts].every(isFull),
    room() {
      const most = places();
      if (isHalfEmpty()) return { most: most - all.size, full: [] };
      const left = most + Math.ceil(most / 4) - all.size;
      return left <= 0 ? undefined : { most: left, full: [...byAccount.keys()].filter(isFull) };
    },
  };
}

function count(counts: Map<number, number>, key: number, more: number): void {
  const sum = (counts.get(key) ?? 0) + more;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}
