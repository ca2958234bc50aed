// When a deferred email is tried again, and when it is given up. Before: attempt.ts saw a 4xx or a
// connection fault. After: the due row gets its new time, or the recipients bounce as expired.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** RFC 5321 4.5.4.1 recommends days; a transactional email that is a day late is worthless. */
export const EXPIRES_AFTER_MS = 24 * HOUR;

// Roughly doubling: quick while a restart or greylisting is likely, hourly if the relay has a
// lasting fault. 13 attempts in a day.
const WAITS_MS = [
  30 * SECOND,
  1 * MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  20 * MINUTE,
  40 * MINUTE,
  1 * HOUR,
  2 * HOUR,
  3 * HOUR,
];
const JITTER = 0.2;

/**
 * The wait after failed attempt number `attempt` (from 1), spread by ±20 % so that a thousand
 * emails do not come back at once.
 */
export function nextAttemptDelayMs(attempt: number, random: () => number = Math.random): number {
  const wait = WAITS_MS[Math.min(Math.max(attempt, 1), WAITS_MS.length) - 1]!;
  return Math.round(wait * (1 - JITTER + 2 * JITTER * random()));
}

/** An email that has been due since then is given up. */
export function isExpired(dueSinceMs: number, nowMs: number): boolean {
  return nowMs - dueSinceMs >= EXPIRES_AFTER_MS;
}
