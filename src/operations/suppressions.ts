// Suppressions: addresses that the account must no longer send to, through any stream or, if they
// unsubscribed, through one.
import { z } from 'zod';
import { ORIGINS, type Origin } from '../events/origins.ts';
import type { Door } from '../messages/door.ts';
import type { Queryable } from '../store/pool.ts';
import { findStream } from '../streams/streams.ts';
import {
  addSuppression,
  addSuppressions,
  cursorOf,
  findSuppression,
  LISTED_REASONS,
  type ListedSuppression,
  listSuppressions,
  removeSuppression,
} from '../suppressions/listing.ts';
import { hidePlace, listOf, page, pageOf, readPlace } from './lists.ts';
import { operation } from './operation.ts';

export const suppression = z
  .object({
    address: z.string().describe('The address, in the form in which addresses are compared.'),
    reason: z.enum(LISTED_REASONS).describe('Why it gets no more email.'),
    stream: z
      .string()
      .nullable()
      .describe('The stream that it unsubscribed from; null: it holds for every stream.'),
    origin: z
      .enum(ORIGINS)
      .nullable()
      .describe('How it unsubscribed; null: it did not, see the reason.'),
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

const stream = z
  .string()
  .max(64)
  .optional()
  .describe('Name of a stream.')
  .meta({ example: 'product-news' });

const ORIGIN_OF: Record<Door, Origin> = {
  rest: 'api',
  smtp: 'api',
  mcp: 'mcp',
  dashboard: 'dashboard',
  cli: 'command',
  system: 'command',
};

/** A Problem if the account has no such stream; archived ones count. */
const requireOwn = async (database: Queryable, accountId: number, name: string | undefined) =>
  name === undefined ? undefined : await findStream(database, accountId, name);

/** For the audit. */
const held = ({ reason, stream }: { reason: string; stream: string | null }) =>
  stream === null ? { reason } : { reason, stream };

export const showSuppression = ({
  address,
  reason,
  stream,
  origin,
  messageId,
  createdAt,
}: ListedSuppression) => ({
  ...{ address, reason, stream, origin },
  message_id: messageId,
  created_at: createdAt,
});

export const suppressionOperations = [
  operation({
    name: 'list_suppressions',
    title: 'List suppressions',
    summary:
      'Addresses this account cannot send to, because email bounced, they complained, or someone added them; and those that unsubscribed from a stream. Sorted by address.',
    effect: 'reads',
    scope: 'suppressions:read',
    input: z.strictObject({
      search: z.string().trim().max(320).optional().describe('A part of the address.'),
      stream: stream.describe('Only those that unsubscribed from this stream.'),
      reason: z.enum(LISTED_REASONS).optional().describe('Only those with this reason.'),
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
    tool: { brief: 'Addresses that get no email, and those that left a stream.' },
    async run({ database }, { accountId }, { cursor, ...wanted }) {
      const after = readPlace(cursor);
      const rows = await listSuppressions(database, accountId, { ...wanted, after });
      return pageOf(rows, wanted.limit, (last) => hidePlace(cursorOf(last)), showSuppression);
    },
  }),

  operation({
    name: 'get_suppression',
    title: 'Read a suppressed address',
    summary:
      'Whether an address is suppressed for the account, and why. A suppression for every stream comes first. 404 if it is not.',
    effect: 'reads',
    scope: 'suppressions:read',
    input: z.strictObject({
      address,
      stream: stream.describe('Looks up this stream; by default, any stream.'),
    }),
    output: suppression,
    rest: { method: 'GET', path: '/v1/suppressions/{address}' },
    client: 'suppressions.get',
    run: async ({ database }, { accountId }, wanted) =>
      showSuppression(await findSuppression(database, accountId, wanted.address, wanted.stream)),
  }),

  operation({
    name: 'add_suppression',
    title: 'Suppress an address',
    summary:
      'From now on the account cannot send to this address: through any stream or, if you name one, through that stream, as if the address had unsubscribed. One that is already on the list keeps its reason.',
    effect: 'changes',
    scope: 'suppressions:write',
    input: z.strictObject({
      address,
      stream: stream.describe('Unsubscribes it from this stream only.'),
    }),
    output: suppression,
    rest: { method: 'PUT', path: '/v1/suppressions/{address}' },
    client: 'suppressions.put',
    tool: { brief: 'The account can no longer send to this address.', destructive: false },
    async run({ database }, { accountId }, wanted, via) {
      await requireOwn(database, accountId, wanted.stream);
      const how = { stream: wanted.stream, origin: ORIGIN_OF[via.door] };
      const { entry, isNew } = await addSuppression(database, accountId, wanted.address, how);
      const added = showSuppression(entry);
      if (isNew) via.note({ target: added.address, after: held(added) });
      return added;
    },
  }),

  operation({
    name: 'add_suppressions',
    title: 'Suppress many addresses',
    summary:
      'From now on the account cannot send to any of these addresses, such as those that bounced at another provider. Those already on the list keep their reason. All are added or, if one is not an address, none.',
    effect: 'changes',
    scope: 'suppressions:write',
    input: z.strictObject({
      addresses: z
        .array(address)
        .min(1)
        .max(MOST_AT_ONCE)
        .describe(`1 to ${MOST_AT_ONCE} email addresses.`),
      reason: z
        .enum(LISTED_REASONS)
        .optional()
        .describe(
          'Why they get no more email; `manual` by default, with a stream `unsubscribe`. `unsubscribe` without a stream is from every stream that can be left.',
        ),
      stream: stream.describe('Unsubscribes them from this stream only.'),
    }),
    output: z.object({
      added: z.number().int().describe('How many were not on the list yet.'),
      present: z.number().int().describe('How many were already on it, or were given twice.'),
    }),
    rest: { method: 'POST', path: '/v1/suppressions' },
    client: 'suppressions.add',
    async run({ database }, { accountId }, { addresses, stream, ...wanted }, via) {
      await requireOwn(database, accountId, stream);
      const reason = wanted.reason ?? (stream === undefined ? 'manual' : 'unsubscribe');
      const how = { reason, stream, origin: ORIGIN_OF[via.door] };
      const added = await addSuppressions(database, accountId, addresses, how);
      const after = held({ reason, stream: stream ?? null });
      for (const target of added) via.note({ target, after });
      return { added: added.length, present: addresses.length - added.length };
    },
  }),

  operation({
    name: 'remove_suppression',
    title: 'Allow an address again',
    summary:
      'Takes an address off the list: the account can send to it again. Lifts the suppression for every stream or, if you name one, the unsubscribe from that stream.',
    effect: 'changes',
    scope: 'suppressions:write',
    input: z.strictObject({
      address,
      stream: stream.describe('Lifts the unsubscribe from this stream only.'),
    }),
    output: suppression,
    rest: { method: 'DELETE', path: '/v1/suppressions/{address}' },
    client: 'suppressions.remove',
    tool: {
      brief: 'Lets the account send to it again: only if its owner asked.',
      idempotent: false,
    },
    async run({ database }, { accountId }, wanted, via) {
      const how = { stream: wanted.stream, origin: ORIGIN_OF[via.door] };
      const removed = showSuppression(
        await removeSuppression(database, accountId, wanted.address, how),
      );
      via.note({ target: removed.address, before: held(removed) });
      return removed;
    },
  }),
];
