// Plans: what an account may do before someone sets its own limits.

export const PLANS = {
  free: { paying: false, dailyQuota: 0, ratePerSecond: 1 },
  paid: { paying: true, dailyQuota: 50_000, ratePerSecond: 100 },
} as const;

export type Plan = keyof typeof PLANS;

const DAY_MS = 86_400_000;

/**
 * A ramp begins with a small quota and doubles it every UTC day until the account's own is reached;
 * accept_sends counts the same way.
 */
export function quotaOn(
  nowMs: number,
  account: { dailyQuota: number; rampStart: number | null; createdAt: string },
): number {
  if (account.rampStart === null) return account.dailyQuota;
  const days = Math.floor(nowMs / DAY_MS) - Math.floor(Date.parse(account.createdAt) / DAY_MS);
  return Math.min(account.dailyQuota, account.rampStart * 2 ** Math.min(30, Math.max(0, days)));
}
