// Receivers: what happened to the account's email at Gmail, Outlook, Yahoo and the others.
import { z } from 'zod';
import { type ReceiverStatistics, readReceivers } from '../messages/receivers.ts';
import { operation } from './operation.ts';

const whole = z.number().int();

const figures = {
  delivered: whole.describe('Recipients whose server accepted the email.'),
  deferred: whole.describe('Recipients for whom the relay reported a delay.'),
  bounced: whole.describe('Recipients whose server refused it.'),
  complained: whole.describe('Recipients who reported it as unwanted.'),
};

const receiver = z
  .object({
    receiver: z
      .string()
      .describe('A large mailbox provider such as gmail, outlook or yahoo; `others`: all others.'),
    ...figures,
    complaint_rate: z
      .number()
      .nullable()
      .describe('Complaints divided by delivered, 0 to 1; null: nothing was delivered.'),
    refusals: z
      .array(
        z.object({
          words: z.string().describe('What the server said; it may say anything.'),
          count: whole.describe('How often.'),
        }),
      )
      .describe('The wording of its refusals, the most frequent first.'),
    points: z
      .array(z.object({ at: z.string().describe('The day: ISO 8601, UTC.'), ...figures }))
      .describe('Day by day, oldest first, without gaps.'),
  })
  .meta({ id: 'ReceiverStatistics' });

const show = (one: ReceiverStatistics): z.output<typeof receiver> => ({
  ...one,
  complaint_rate: one.delivered === 0 ? null : one.complained / one.delivered,
});

export const receiverOperations = [
  operation({
    name: 'get_receiver_statistics',
    title: 'Read statistics by receiver',
    summary:
      'What happened to the account’s email at each large mailbox provider, day by day, with the wording of their refusals. A provider is identified by the host that answered, if a report names it, otherwise by the domain of the address.',
    effect: 'reads',
    scope: 'usage:read',
    input: z.strictObject({
      days: whole.min(1).max(90).default(7).describe('Days, 1 to 90.'),
    }),
    output: z.object({
      receivers: z.array(receiver).describe('The one with most email first.'),
      complete: z
        .boolean()
        .describe('False: figures of a large account are still being counted; ask again soon.'),
    }),
    rest: { method: 'GET', path: '/v1/statistics/receivers' },
    client: 'usage.receivers',
    async run({ database, clock }, { accountId }, { days }) {
      const read = await readReceivers(database, accountId, days, clock.nowMs());
      return { ...read, receivers: read.receivers.map(show) };
    },
  }),
];
