// Fields that account.ts and accounts.ts share.
import { z } from 'zod';
import { PLANS, type Plan } from '../accounts/plans.ts';

export const name = z
  .string()
  .trim()
  .min(1, 'give it a name')
  .max(200)
  .describe('What people call the account.');

export const plan = z
  .enum(Object.keys(PLANS) as [Plan])
  .describe('free: it cannot send. paid: it can.');

export const halt = z
  .object({
    at: z.string().describe('Since when: ISO 8601, UTC.'),
    reason: z.string().describe('Why; the people of the account read it.'),
  })
  .meta({ id: 'Halt' })
  .nullable();

export const tracking = {
  track_opens: z.boolean().describe('An invisible image tells when an email is opened.'),
  track_clicks: z.boolean().describe('Links lead through the service, which tells of clicks.'),
  one_click_unsubscribe: z
    .boolean()
    .describe('Mail programs show a button; whoever uses it is suppressed.'),
};

export const trackingChange = {
  track_opens: tracking.track_opens.optional(),
  track_clicks: tracking.track_clicks.optional(),
  one_click_unsubscribe: tracking.one_click_unsubscribe.optional(),
};

interface TrackingWish {
  track_opens?: boolean | undefined;
  track_clicks?: boolean | undefined;
  one_click_unsubscribe?: boolean | undefined;
}

/** Only what is given, in the words of accounts/accounts.ts. */
export const trackingOf = (wish: TrackingWish) => ({
  ...(wish.track_opens === undefined ? {} : { trackOpens: wish.track_opens }),
  ...(wish.track_clicks === undefined ? {} : { trackClicks: wish.track_clicks }),
  ...(wish.one_click_unsubscribe === undefined
    ? {}
    : { oneClickUnsubscribe: wish.one_click_unsubscribe }),
});

/** For the audit: what of the fields is another value now. */
export function difference<Fields extends object>(
  before: Fields,
  after: Fields,
): { before: Record<string, unknown>; after: Record<string, unknown> } {
  const changed = (Object.keys(after) as (keyof Fields)[]).filter(
    (field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]),
  );
  const only = (of: Fields) => Object.fromEntries(changed.map((field) => [field, of[field]]));
  return { before: only(before), after: only(after) };
}
