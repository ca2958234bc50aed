// Usage and statistics: the state of today's quota, whether the account is ready to send, and what
// happened to its messages.
import { z } from 'zod';
import { getAccount } from '../accounts/accounts.ts';
import { listKeys } from '../accounts/keys.ts';
import { readQuota } from '../accounts/usage.ts';
import { DIMENSIONS, readAnalytics } from '../messages/analytics.ts';
import { hasSent } from '../messages/message.ts';
import { readStatistics } from '../messages/statistics.ts';
import { ownSender } from '../notices/own-sender.ts';
import { operation } from './operation.ts';

const whole = z.number().int();

const figures = z.object({
  sends: whole.describe('Messages that were accepted.'),
  delivered: whole.describe('How many of them were delivered, whatever happened later.'),
  opened: whole.describe('How many of them were opened.'),
  clicked: whole.describe('How many of them had a link followed.'),
  bounced: whole.describe('How many of them bounced.'),
  complained: whole.describe('How many of them were reported as unwanted.'),
});

const share = z.number().nullable();

const statistics = z
  .object({
    bucket: z.enum(['hour', 'day']).describe('What one point stands for.'),
    points: z
      .array(
        figures.extend({
          at: z.string().describe('When the hour or day begins: ISO 8601, UTC.'),
        }),
      )
      .describe('Oldest first, without gaps.'),
    totals: figures.describe('All of them together.'),
    rates: z
      .object({
        delivered: share.describe('How much was delivered.'),
        opened: share.describe('How much was opened.'),
        bounced: share.describe('How much bounced.'),
        complained: share.describe('How much was reported as unwanted.'),
      })
      .describe('Shares of what was sent, 0 to 1; null: nothing was.'),
    complete: z
      .boolean()
      .describe('False: figures of a large account are still being counted; ask again soon.'),
  })
  .meta({ id: 'Statistics' });

const recipientFigures = z.object({
  recipients: whole.describe('Recipients whose email was accepted.'),
  delivered: whole.describe('How many of them were reached, whatever happened later.'),
  opened: whole.describe('How many of them opened it.'),
  clicked: whole.describe('How many of them followed a link.'),
  bounced: whole.describe('For how many of them it bounced.'),
  complained: whole.describe('How many of them reported it as unwanted.'),
});

const analytics = z
  .object({
    bucket: z.enum(['hour', 'day']).describe('What one point stands for.'),
    points: z
      .array(
        recipientFigures.extend({
          at: z.string().describe('When the hour or day begins: ISO 8601, UTC.'),
        }),
      )
      .describe('Oldest first, without gaps.'),
    totals: recipientFigures.describe('All of them together.'),
    by: z
      .array(recipientFigures.extend({ value: z.string().describe('Such as the template.') }))
      .describe('The largest first; at most 50 for each hour.'),
    reasons: z
      .array(
        z.object({
          reason: z.string().describe('Why.'),
          recipients: whole.describe('How many bounced for this reason.'),
        }),
      )
      .describe('Why recipients bounced, the most frequent first.'),
    time_to_deliver: z
      .object({
        p50_seconds: z.number().describe('Half of them took at most this long.'),
        p95_seconds: z.number().describe('95 of 100 took at most this long.'),
      })
      .nullable()
      .describe('From accepting to the report of delivery; null: nothing was reported.'),
    complete: z
      .boolean()
      .describe('False: figures of a large account are still being counted; ask again soon.'),
  })
  .meta({ id: 'Analytics' });

const usage = z
  .object({
    limit: whole.describe('Recipients that the account may send to today (UTC).'),
    used: whole.describe('How many it has sent to.'),
    left: whole.describe('How many are left.'),
    resets_at: z.string().describe('When the quota resets: ISO 8601, UTC.'),
    rate_per_second: z.number().describe('Send calls per second.'),
    has_sent: z.boolean().describe('Whether the account has ever sent anything itself.'),
    sender: z.string().nullable().describe('An address it can send from; null: none is verified.'),
    keys: whole.describe('API keys in use.'),
  })
  .meta({ id: 'Usage' });

export const usageOperations = [
  operation({
    name: 'get_usage',
    title: 'Read the usage',
    summary: 'What is left of today’s quota, and whether the account can send.',
    effect: 'reads',
    scope: 'usage:read',
    input: z.strictObject({}),
    output: usage,
    rest: { method: 'GET', path: '/v1/usage' },
    client: 'usage.get',
    async run(deps, { accountId }) {
      const { database } = deps;
      const account = await getAccount(database, accountId);
      const [quota, sent, sender, keys] = await Promise.all([
        readQuota(deps, account),
        hasSent(database, accountId),
        ownSender(database, accountId),
        listKeys(database, accountId),
      ]);
      return {
        limit: quota.limit,
        used: quota.used,
        left: quota.left,
        resets_at: quota.resetsAt,
        rate_per_second: quota.ratePerSecond,
        has_sent: sent,
        sender: sender ?? null,
        keys: keys.filter(({ revokedAt }) => revokedAt === null).length,
      };
    },
  }),

  operation({
    name: 'get_statistics',
    title: 'Read statistics',
    summary: 'How many messages the account sent on recent days, and what happened to them.',
    effect: 'reads',
    scope: 'usage:read',
    input: z.strictObject({
      days: whole
        .min(1)
        .max(90)
        .default(7)
        .describe('Days, 1 to 90; one day is returned by the hour.'),
    }),
    output: statistics,
    rest: { method: 'GET', path: '/v1/statistics' },
    client: 'usage.statistics',
    tool: { brief: 'How many messages were sent and what happened to them.' },
    async run({ database, clock }, { accountId }, { days }) {
      const read = await readStatistics(database, accountId, days, clock.nowMs());
      const { sends, delivered, opened, bounced, complained } = read.totals;
      const shareOf = (part: number) => (sends === 0 ? null : part / sends);
      return {
        ...read,
        rates: {
          delivered: shareOf(delivered),
          opened: shareOf(opened),
          bounced: shareOf(bounced),
          complained: shareOf(complained),
        },
      };
    },
  }),

  operation({
    name: 'get_analytics',
    title: 'Read analytics by recipient',
    summary:
      'What happened to the recipients of recent days, by hour or day, and by template, tag, stream or the receiver’s domain; why some bounced and how long delivery took.',
    effect: 'reads',
    scope: 'usage:read',
    input: z.strictObject({
      days: whole
        .min(1)
        .max(90)
        .default(7)
        .describe('Days, 1 to 90; one day is returned by the hour.'),
      by: z.enum(DIMENSIONS).optional().describe('What the figures are broken down by.'),
    }),
    output: analytics,
    rest: { method: 'GET', path: '/v1/analytics' },
    client: 'usage.analytics',
    async run({ database, clock }, { accountId }, wish) {
      const { timeToDeliver, ...read } = await readAnalytics(
        database,
        accountId,
        wish,
        clock.nowMs(),
      );
      return {
        ...read,
        time_to_deliver: timeToDeliver && {
          p50_seconds: timeToDeliver.p50,
          p95_seconds: timeToDeliver.p95,
        },
      };
    },
  }),
];
