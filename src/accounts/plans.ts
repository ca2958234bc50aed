// Plans: what an account may do before somebody sets figures of its own.

export const PLANS = {
  free: { paying: false, dailyQuota: 0, ratePerSecond: 1 },
  paid: { paying: true, dailyQuota: 50_000, ratePerSecond: 100 },
} as const;

export type Plan = keyof typeof PLANS;
