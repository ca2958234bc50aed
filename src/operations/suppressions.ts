// Suppressions: addresses that the account must not write to any more.
import { z } from 'zod';
import {
  addSuppression,
  addSuppressions,
  findSuppression,
  type ListedSuppression,
  listSuppressions,
  removeSuppression,
  SUPPRESSION_REASONS,
} from '../suppressions/suppressions.ts';
import { listOf, page, pageOf } from './lists.ts';
import { operation } from './operation.ts';

const suppression = z
  .object({
    address: z.string().describe('The address, in the form in which addresses are compared.'),
    reason: z.enum(SUPPRESSION_REASONS).describe('Why nobody writes to it any more.'),
    message_id: z.string().nullable().describe('The message that led to it.'),
    created_at: z.string().describe('Since when: ISO 8601, UTC.'),
  })
  .meta({ id: 'Suppression' });

const address = z
  .string()
  .max(320)
  .describe('An email address.')
  .meta({ example: 'ada@example.com' });

const MOST_AT_ONCE = 1000;

const show = ({ address, reason, messageId, createdAt }: ListedSuppression) => ({
  address,
  reason,
  message_id: messageId,
  created_at: createdAt,
});

export const suppressionOperations = [
  operation({
    name: 'list_suppressions',
    title: 'List suppressed addresses',
    summary:
      'Addresses this account must not write to any more, because mail to them bounced, because they complained or unsubscribed, or because somebody added them. In the order of the addresses.',
    effect: 'reads',
    scope: 'suppressions:read',
    input: z.strictObject({
      search: z.string().trim().max(320).optional().describe('A part of the address.'),
      ...page,
      limit: z
        .number()
        .int()
        .min(1)
        .max(MOST_AT_ONCE)
        .default(25)
        .describe(`How many to return: 1 to ${MOST_AT_ONCE}, 25 by default.`),
    }),
    output: listOf('suppressions', suppression),
    rest: { method: 'GET', path: '/v1/suppressions' },
    client: 'suppressions.list',
    tool: {},
    async run({ database }, { accountId }, { search, cursor, limit }) {
      const rows = await listSuppressions(database, accountId, { search, after: cursor, limit });
      return pageOf(rows, limit, (last) => last.address, show);
    },
  }),

  operation({
    name: 'get_suppression',
    title: 'Read a suppressed address',
    summary: 'Whether the account must not write to an address, and why. 404 when it may.',
    effect: 'reads',
    scope: 'suppressions:read',
    input: z.strictObject({ address }),
    output: suppression,
    rest: { method: 'GET', path: '/v1/suppressions/{address}' },
    client: 'suppressions.get',
    run: async ({ database }, { accountId }, wanted) =>
      show(await findSuppression(database, accountId, wanted.address)),
  }),

  operation({
    name: 'add_suppression',
    title: 'Suppress an address',
    summary:
      'From now on the account writes no more to this address. One that is on the list already stays there with its reason.',
    effect: 'changes',
    scope: 'suppressions:write',
    input: z.strictObject({ address }),
    output: suppression,
    rest: { method: 'PUT', path: '/v1/suppressions/{address}' },
    client: 'suppressions.put',
    tool: { destructive: false },
    async run({ database }, { accountId }, wanted, via) {
      const added = show(await addSuppression(database, accountId, wanted.address));
      via.note({ target: added.address, after: { reason: added.reason } });
      return added;
    },
  }),

  operation({
    name: 'add_suppressions',
    title: 'Suppress many addresses',
    summary:
      'From now on the account writes no more to any of these addresses, such as those that bounced at another provider. Those on the list already stay there with their reason. All are added or, when one is no address, none.',
    effect: 'changes',
    scope: 'suppressions:write',
    input: z.strictObject({
      addresses: z
        .array(address)
        .min(1)
        .max(MOST_AT_ONCE)
        .describe(`1 to ${MOST_AT_ONCE} email addresses.`),
      reason: z
        .enum(SUPPRESSION_REASONS)
        .default('manual')
        .describe('Why nobody writes to them any more; `manual` by default.'),
    }),
    output: z.object({
      added: z.number().int().describe('How many were not on the list yet.'),
      present: z.number().int().describe('How many were on it already, or were given twice.'),
    }),
    rest: { method: 'POST', path: '/v1/suppressions' },
    client: 'suppressions.add',
    async run({ database }, { accountId }, { addresses, reason }, via) {
      const added = await addSuppressions(database, accountId, addresses, reason);
      for (const target of added) via.note({ target, after: { reason } });
      return { added: added.length, present: addresses.length - added.length };
    },
  }),

  operation({
    name: 'remove_suppression',
    title: 'Allow an address again',
    summary: 'Takes an address off the list: the account may write to it again.',
    effect: 'changes',
    scope: 'suppressions:write',
    input: z.strictObject({ address }),
    output: suppression,
    rest: { method: 'DELETE', path: '/v1/suppressions/{address}' },
    client: 'suppressions.remove',
    tool: {
      idempotent: false,
      advice:
        'Do it only when its owner asked for mail again or the mailbox works again: writing to people who complained harms the account’s reputation.',
    },
    async run({ database }, { accountId }, wanted, via) {
      const removed = show(await removeSuppression(database, accountId, wanted.address));
      via.note({ target: removed.address, before: { reason: removed.reason } });
      return removed;
    },
  }),
];
