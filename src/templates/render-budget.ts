// How much rendering an account may ask of this process: milliseconds of a thread, as a bucket that
// fills again. Asked before anything is rendered; the exact count of calls is still taken at the
// commit. Before it: making.ts. After it: a thread, or 429.

import { Problem } from '../errors.ts';
import type { Clock } from '../process/clock.ts';

export interface RenderBudget {
  /**
   * Takes one call of a share, or throws a Problem: over-limit. Returns a function that is told how
   * long it took; refused calls count too.
   */
  enter(whose: { share: string; ratePerSecond: number }): (ms: number) => void;
}

/**
 * For each call per second that an account may make; an ordinary email takes half a millisecond.
 */
const MS_PER_CALL = 5;
/** The minimum, however few calls an account may make, because threads are slow at first. */
const LEAST_MS_PER_SECOND = 100;
const BURST_SECONDS = 5;
/** A call costs at least this, even if it fails: five times its rate is too many. */
const LEAST_MS = 1;
/** Beyond this number, buckets that are full again are dropped. */
const MANY_BUCKETS = 1000;

interface Bucket {
  /** Below 0: overspent by calls that were admitted together. */
  leftMs: number;
  mostMs: number;
  msPerSecond: number;
  filledAtMs: number;
}

export function createRenderBudget({ nowMs }: Clock): RenderBudget {
  const buckets = new Map<string, Bucket>();

  function bucketOf(share: string, ratePerSecond: number): Bucket {
    const msPerSecond = Math.max(LEAST_MS_PER_SECOND, MS_PER_CALL * ratePerSecond);
    const mostMs = msPerSecond * BURST_SECONDS;
    let bucket = buckets.get(share);
    if (bucket === undefined) {
      if (buckets.size >= MANY_BUCKETS) dropFull();
      bucket = { leftMs: mostMs, mostMs, msPerSecond, filledAtMs: nowMs() };
      buckets.set(share, bucket);
    }
    bucket.msPerSecond = msPerSecond;
    bucket.mostMs = mostMs;
    fill(bucket);
    return bucket;
  }

  function fill(bucket: Bucket): void {
    const now = nowMs();
    const gained = (Math.max(0, now - bucket.filledAtMs) / 1000) * bucket.msPerSecond;
    bucket.leftMs = Math.min(bucket.mostMs, bucket.leftMs + gained);
    bucket.filledAtMs = now;
  }

  function dropFull(): void {
    for (const [share, bucket] of buckets) {
      fill(bucket);
      if (bucket.leftMs === bucket.mostMs) buckets.delete(share);
    }
  }

  /**
   * The debt is limited: an account that stops calling has a full bucket again after twice the
   * burst.
   */
  const take = (bucket: Bucket, ms: number): void => {
    bucket.leftMs = Math.max(-bucket.mostMs, bucket.leftMs - ms);
  };

  return {
    enter({ share, ratePerSecond }) {
      const bucket = bucketOf(share, ratePerSecond);
      if (bucket.leftMs <= 0) throw overBudget(bucket, ratePerSecond);
      take(bucket, LEAST_MS);
      return (ms) => take(bucket, Math.max(0, ms - LEAST_MS));
    },
  };
}

function overBudget({ leftMs, msPerSecond }: Bucket, ratePerSecond: number): Problem {
  const waitSeconds = Math.max(1, Math.ceil(-leftMs / msPerSecond));
  return new Problem(
    'over-limit',
    `Rendering this account's templates took more than ${msPerSecond} ms a second for a while. Wait and try again, spread out the calls, or make the templates simpler.`,
    {
      retryAfterSeconds: waitSeconds,
      limit: { limit: ratePerSecond, remaining: 0, resetSeconds: waitSeconds, windowSeconds: 1 },
    },
  );
}
