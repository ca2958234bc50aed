// What a worker has in hand, by account, and how much more it may claim. Used by worker.ts before
// every claim. Half of the places are filled in one go, so that a claim is worth its cost. The rest
// is only for newcomers: accounts with little in hand do not wait until another's emails are gone.
import type { ClaimedMessage, Room } from '../queue/due.ts';

export interface InHand {
  add(rows: readonly ClaimedMessage[]): void;
  remove(row: ClaimedMessage): void;
  count(): number;
  all(): readonly ClaimedMessage[];
  isHalfEmpty(): boolean;
  /** All of them have enough. */
  areFull(accounts: ReadonlySet<number>): boolean;
  /** Undefined: none. */
  room(): Pick<Room, 'most' | 'full'> | undefined;
}

/** `places`: how many at a time, which changes with the relays. */
export function createInHand(places: () => number): InHand {
  const byAccount = new Map<number, number>();
  const all = new Set<ClaimedMessage>();

  const isHalfEmpty = () => all.size <= places() / 2;
  const isFull = (account: number) => (byAccount.get(account) ?? 0) >= Math.ceil(places() / 16);
  return {
    add(rows) {
      for (const row of rows) {
        all.add(row);
        byAccount.set(row.accountId, (byAccount.get(row.accountId) ?? 0) + 1);
      }
    },
    remove(row) {
      const { accountId } = row;
      all.delete(row);
      const left = byAccount.get(accountId)! - 1;
      if (left === 0) byAccount.delete(accountId);
      else byAccount.set(accountId, left);
    },
    count: () => all.size,
    all: () => [...all],
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
