// Retention: how long the account keeps what it sent, if that is shorter than the service's own.
import { z } from 'zod';
import { readRetention, setRetention } from '../messages/retention.ts';
import { operation } from './operation.ts';

const days = (what: string) =>
  z
    .number()
    .int()
    .min(1)
    .max(3650)
    .nullable()
    .describe(`${what} Null: as long as the service does.`);

const fields = {
  retention_days: days('Days for which messages and their timelines are kept.'),
  content_retention_days: days(
    'Days for which the content of emails is kept, with copies in the sandbox and in reports.',
  ),
};

const retention = z.object(fields).meta({ id: 'Retention' });

export const retentionOperations = [
  operation({
    name: 'get_retention',
    title: 'Read how long data is kept',
    summary:
      'For how many days the account keeps messages and their contents, if fewer than the service as a whole.',
    effect: 'reads',
    scope: 'account:read',
    input: z.strictObject({}),
    output: retention,
    rest: { method: 'GET', path: '/v1/account/retention' },
    client: 'account.retention.get',
    run: async ({ database }, { accountId }) => show(await readRetention(database, accountId)),
  }),

  operation({
    name: 'set_retention',
    title: 'Set how long data is kept',
    summary:
      'Keeps messages and their contents for fewer days than the service does. What is older is deleted permanently within minutes; email that still has to go out stays.',
    effect: 'changes',
    scope: 'account:write',
    input: z.strictObject(fields),
    output: retention,
    rest: { method: 'PUT', path: '/v1/account/retention' },
    client: 'account.retention.put',
    async run({ database }, { accountId }, wanted, via) {
      const before = show(await readRetention(database, accountId));
      await setRetention(database, accountId, {
        retentionDays: wanted.retention_days,
        contentRetentionDays: wanted.content_retention_days,
      });
      via.note({ target: 'retention', before, after: wanted });
      return wanted;
    },
  }),
];

const show = (kept: Awaited<ReturnType<typeof readRetention>>): z.output<typeof retention> => ({
  retention_days: kept.retentionDays,
  content_retention_days: kept.contentRetentionDays,
});
