// When a failed delivery is tried again, and when it is abandoned. Before: attempt.ts. After: the
// due row gets its new time.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const WAITS_MS = [30 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR];
const JITTER = 0.1;

/**
 * The wait after failed attempt number `attempt` (from 1), never shorter than promised and up to 10
 * % longer, so that a thousand deliveries do not come back at once. Undefined: that was the fifth
 * retry, it is abandoned.
 */
export function nextAttemptDelayMs(
  attempt: number,
  random: () => number = Math.random,
): number | undefined {
  const wait = WAITS_MS[attempt - 1];
  return wait === undefined ? undefined : Math.round(wait * (1 + JITTER * random()));
}
