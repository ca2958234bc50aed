// Places of the relay's pool, shared fairly. relay.ts asks who may begin, and who is next:
// otherwise one account's backlog fills every session, and the emails of another wait until one of
// them is answered, which takes long with a slow relay.
import type { Job, Line } from './relay-hangs.ts';

/**
 * An account may have at most so many times what is free: a lone backlog leaves one place of eight,
 * and one beside an account that has an email there leaves another. Before, whoever sent the next
 * email while the relay still had to answer the last waited for that answer.
 */
const TIMES_FREE = 4;

export function keepPlaces(lines: ReadonlySet<Line>) {
  let first: number | undefined;
  /** If there is only one account, nothing is reserved for others. */
  let hasSeveral = false;

  /** By lane. What hangs no longer has a place. */
  function placesTaken(): Map<number, number> {
    const taken = new Map<number, number>();
    if (!hasSeveral) return taken;
    for (const { job, hung } of lines) {
      if (job?.lane === undefined || hung) continue;
      taken.set(job.lane, (taken.get(job.lane) ?? 0) + 1);
    }
    return taken;
  }

  return {
    emailBegins({ lane }: Job): void {
      if (lane === undefined) return;
      first ??= lane;
      hasSeveral ||= lane !== first;
    },
    /** While so many places are free. */
    look(free: number) {
      const taken = placesTaken();
      const takenBy = ({ lane }: Job) => (lane === undefined ? 0 : (taken.get(lane) ?? 0));
      return {
        /** The last places are for those who have few. */
        mayBegin(job: Job): boolean {
          const own = takenBy(job);
          return own === 0 || own < TIMES_FREE * free;
        },
        /** Of those that fit, the oldest of whoever has fewest; its index, or -1. */
        next(waiting: readonly Job[], fits: (job: Job) => boolean): number {
          let found = -1;
          let fewest = Number.POSITIVE_INFINITY;
          for (let at = 0; at < waiting.length && fewest > 0; at++) {
            const own = takenBy(waiting[at]!);
            if (own >= fewest || !fits(waiting[at]!)) continue;
            found = at;
            fewest = own;
          }
          return found;
        },
      };
    },
  };
}
