// Fields that account.ts and accounts.ts share.
import { z } from 'zod';
import { PLANS, type Plan } from '../accounts/plans.ts';
import { requireLocale } from '../templates/locales.ts';

/** Owners change it as their own, operators by its number. */
export const thingOf = (accountId: number): string => `account ${accountId}`;

export const name = z
  .string()
  .trim()
  .min(1, 'give it a name')
  .max(200)
  .describe('Name of the account.');

export const plan = z
  .enum(Object.keys(PLANS) as [Plan])
  .describe('free: it cannot send. paid: it can.');

export const halt = z
  .object({
    at: z.string().describe('Since when: ISO 8601, UTC.'),
    reason: z.string().describe('The reason, shown to the people in the account.'),
  })
  .meta({ id: 'Halt' })
  .nullable();

export const tracking = {
  track_opens: z.boolean().describe('An invisible image records when an email is opened.'),
  track_clicks: z.boolean().describe('Links lead through the service, which records clicks.'),
  one_click_unsubscribe: z
    .boolean()
    .describe('Email programs show a button; whoever uses it is suppressed.'),
  refuse_unaligned: z
    .boolean()
    .describe(
      'Email from a sender that cannot pass DMARC is refused with 403; otherwise its answer has the header `X-SM-Warning`.',
    ),
  lint_sends: z
    .boolean()
    .describe('Every send is linted; findings come in the header `X-SM-Warning`.'),
};

export const locale = z
  .string()
  .describe('Language of its emails where a send names none, such as `de`.');

export const trackingChange = {
  track_opens: tracking.track_opens.optional(),
  track_clicks: tracking.track_clicks.optional(),
  one_click_unsubscribe: tracking.one_click_unsubscribe.optional(),
  refuse_unaligned: tracking.refuse_unaligned.optional(),
  lint_sends: tracking.lint_sends.optional(),
};

export const localeChange = locale
  .nullable()
  .optional()
  .describe('Language of its emails where a send names none, such as `de`; null: English.');

/** As accounts/accounts.ts takes it, where an empty string means none. */
export const localeOf = (wish: string | null | undefined): { locale?: string } =>
  wish === undefined ? {} : { locale: wish === null ? '' : requireLocale(wish) };

interface TrackingWish {
  track_opens?: boolean | undefined;
  track_clicks?: boolean | undefined;
  one_click_unsubscribe?: boolean | undefined;
  refuse_unaligned?: boolean | undefined;
  lint_sends?: boolean | undefined;
}

/** Only the given fields, as accounts/accounts.ts takes them. */
export const trackingOf = (wish: TrackingWish) => ({
  ...(wish.track_opens === undefined ? {} : { trackOpens: wish.track_opens }),
  ...(wish.track_clicks === undefined ? {} : { trackClicks: wish.track_clicks }),
  ...(wish.one_click_unsubscribe === undefined
    ? {}
    : { oneClickUnsubscribe: wish.one_click_unsubscribe }),
  ...(wish.refuse_unaligned === undefined ? {} : { refuseUnaligned: wish.refuse_unaligned }),
  ...(wish.lint_sends === undefined ? {} : { lintSends: wish.lint_sends }),
});

/** For the audit: which of the fields have a new value. */
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
