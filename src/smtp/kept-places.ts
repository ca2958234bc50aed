// Places of the relay's pool that are kept for newcomers. relay.ts asks it who may begin: otherwise
// one account's backlog fills every session, and the single email of another waits until one of
// them is answered, which takes long with a slow relay.
import type { Job } from './relay-hangs.ts';

/** Reserved places cost a lone backlog at most this share of its rate. */
const KEPT_PART = 1 / 8;

export function keepPlaces(places: number) {
  const kept = Math.floor(places * KEPT_PART);
  const talks = new Map<number, number>();
  let first: number | undefined;
  /** If there is only one account, nothing is reserved for others. */
  let hasSeveral = false;

  const isNew = ({ lane }: Job): boolean => lane === undefined || !talks.has(lane);
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
    /** Who may have one of the last places; undefined: everyone. */
    whoFits: (free: number): ((job: Job) => boolean) | undefined =>
      hasSeveral && free <= kept ? isNew : undefined,
  };
}
