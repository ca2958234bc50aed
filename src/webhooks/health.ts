// The health of an endpoint: a breaker that pauses a failing one, and when it is disabled. Before:
// each attempt's result. After: the endpoint's row; leases.ts takes nothing for a paused or
// disabled endpoint, so its rows keep their attempts.
import type { PostResult } from './post.ts';

/**
 * A run this long is not bad luck: with four at a time it takes several rounds, and the retries of
 * a single event never reach it.
 */
const OPEN_AFTER_FAILURES = 10;
const SHORTEST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 5 * 60_000;
const DISABLE_AFTER_MS = 3 * 24 * 60 * 60_000;

export interface Health {
  /** Failed attempts since the last success. */
  failures: number;
  failingSinceMs: number | null;
  pausedUntilMs: number | null;
}

const WELL: Health = { failures: 0, failingSinceMs: null, pausedUntilMs: null };

/** While open, one delivery at a time tests whether the endpoint works again. */
export const isOpen = (health: Health): boolean => health.failures >= OPEN_AFTER_FAILURES;

export function healthAfter(health: Health, result: PostResult, nowMs: number): Health {
  if (result.ok) return WELL;
  const failures = health.failures + 1;
  const failingSinceMs = health.failingSinceMs ?? nowMs;
  return {
    failures,
    failingSinceMs,
    // As long as it has been failing: each pause is about twice the last.
    pausedUntilMs:
      failures < OPEN_AFTER_FAILURES
        ? null
        : nowMs + Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, nowMs - failingSinceMs)),
  };
}

export const DISABLED_REASONS = {
  owner: 'disabled by its owner',
  gone: 'it answered 410 Gone',
  failing: 'every delivery to it failed for 3 days',
} as const;
export type DisabledReason = keyof typeof DISABLED_REASONS;

/** `health` already includes this result. */
export function reasonToDisable(
  health: Health,
  result: PostResult,
  nowMs: number,
): DisabledReason | undefined {
  if (result.error?.kind === 'gone') return 'gone';
  if (health.failingSinceMs === null) return undefined;
  return nowMs - health.failingSinceMs >= DISABLE_AFTER_MS ? 'failing' : undefined;
}
