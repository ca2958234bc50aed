// The overview, over a day, a week, a month or three.
import { z } from 'zod';
import { readOverview } from '../overview.ts';
import type { Works } from '../route.ts';

const PERIODS = { 1: 1, 7: 7, 30: 30, 90: 90 } as const;

export const overviewRoutes: Works<'getOverview'> = {
  getOverview: {
    query: z.strictObject({
      days: z
        .enum(['1', '7', '30', '90'])
        .transform((text) => PERIODS[Number(text) as keyof typeof PERIODS])
        .optional(),
    }),
    run: (deps, { accountId, query }) => readOverview(deps, accountId, query.days ?? 7),
  },
};
