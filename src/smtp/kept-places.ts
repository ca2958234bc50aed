// Places of the relay's pool, shared fairly. relay.ts asks who may begin, and who is next:
// otherwise one account's backlog fills every session, and the emails of another wait until one of
// them is answered, which takes long with a slow relay.
import type { Job } from './relay-hangs.ts';

/**
 * An account may have at most so many times what is free: a lone backlog leaves one place of eight,
 * and one beside an account that has an email there leaves another. Before, whoever sent the next
 * email while the relay still had to answer the last waited for that answer.
 */
const TIMES_FREE = 4;

export function keepPlaces() {
  const talks = new Map<number, number>();
  let first: number | undefined;
  /** If there is only one account, nothing is reserved for others. */
  let hasSeveral = false;

  const talksOf = ({ lane }: Job): number => (lane === undefined ? 0 : (talks.get(lane) ?? 0));
  return {
    emailBegins({ lane }: Job): void {
      if (lane === undefined) return;
      first ??= lane;
      hasSeveral ||= lane !== first;
      talks.set(lane, (talks.get(lane) ?? 0) + 1);
    },
    emailEnds({ lane }: Job): void {
      if (lane === undefined) return;
      const left = talks.get(lane)! - 1;
      if (left === 0) talks.delete(lane);
      else talks.set(lane, left);
    },
    /** The last places are for those who have few. */
    mayBegin(job: Job, free: number): boolean {
      const own = talksOf(job);
      return !hasSeveral || own === 0 || own < TIMES_FREE * free;
    },
    /** Of those that fit, the oldest of whoever has fewest; its index, or -1. */
    next(waiting: readonly Job[], fits: (job: Job) => boolean): number {
      if (!hasSeveral) return waiting.findIndex(fits);
      let found = -1;
      let fewest = Number.POSITIVE_INFINITY;
      for (let at = 0; at < waiting.length && fewest > 0; at++) {
        const own = talksOf(waiting[at]!);
        if (own >= fewest || !fits(waiting[at]!)) continue;
        found = at;
        fewest = own;
      }
      return found;
    },
  };
}
