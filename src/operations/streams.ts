// Streams: the kinds of email that the account sends, each of which its recipients can leave.
import { z } from 'zod';
import { STREAM_KINDS } from '../messages/stream.ts';
import {
  archiveStream,
  findStream,
  listStreams,
  putStream,
  type Stream,
} from '../streams/streams.ts';
import { listOf, pageOfFew, pageOutOf, WHOLE_FOR_AGENTS } from './lists.ts';
import { operation } from './operation.ts';

const kind = z
  .enum(STREAM_KINDS)
  .describe(
    'transactional: sent because of something the recipient did. broadcast: sent to many, everyone can leave it, and it waits behind the rest.',
  );
const title = z.string().max(100).describe('Its name for recipients, on the preference page.');
const description = z.string().max(500).describe('What its recipients get.');

const stream = z
  .object({
    name: z.string().describe('What a send takes as `stream`.'),
    kind,
    title,
    description,
    unsubscribe: z
      .boolean()
      .describe('Whether recipients can leave it: List-Unsubscribe and the preference page.'),
    created_at: z
      .string()
      .nullable()
      .describe('When it was created: ISO 8601, UTC; null: it was always there.'),
    archived_at: z
      .string()
      .nullable()
      .describe('Since when sends that name it are refused; null: it is in use.'),
  })
  .meta({ id: 'Stream' });

const name = z.string().max(64).describe('Name of the stream.').meta({ example: 'product-news' });

const show = ({ createdAt, archivedAt, ...one }: Stream): z.output<typeof stream> => ({
  ...one,
  created_at: createdAt,
  archived_at: archivedAt,
});

/** For the audit: what people set. */
const settings = ({ kind, title, description, unsubscribe, archivedAt }: Stream) => ({
  ...{ kind, title, description, unsubscribe },
  archived: archivedAt !== null,
});

export const streamOperations = [
  operation({
    name: 'list_streams',
    title: 'List streams',
    summary:
      'The kinds of email that the account sends, archived ones too. `transactional` always exists and is used by sends that name no stream.',
    effect: 'reads',
    scope: 'streams:read',
    input: z.strictObject(pageOfFew),
    output: listOf('streams', stream),
    rest: { method: 'GET', path: '/v1/streams' },
    client: 'streams.list',
    tool: {
      brief: 'The kinds of email the account sends, archived ones too.',
      without: WHOLE_FOR_AGENTS,
    },
    async run({ database }, { accountId }, wanted) {
      const streams = await listStreams(database, accountId);
      return pageOutOf(streams.map(show), wanted, ({ name }) => name);
    },
  }),

  operation({
    name: 'get_stream',
    title: 'Read a stream',
    summary: 'One stream: what it is for, and whether recipients can leave it.',
    effect: 'reads',
    scope: 'streams:read',
    input: z.strictObject({ name }),
    output: stream,
    rest: { method: 'GET', path: '/v1/streams/{name}' },
    client: 'streams.get',
    run: async ({ database }, { accountId }, wanted) =>
      show(await findStream(database, accountId, wanted.name)),
  }),

  operation({
    name: 'put_stream',
    title: 'Create or change a stream',
    summary:
      'Creates a stream, or changes the fields you give; an archived stream is brought back. Its kind cannot change. Recipients who left it stay unsubscribed.',
    effect: 'changes',
    scope: 'streams:write',
    input: z.strictObject({
      name,
      kind: kind.optional(),
      title: title.optional(),
      description: description.optional(),
      unsubscribe: z
        .boolean()
        .optional()
        .describe(
          'Whether recipients can leave it. A broadcast can always be left; a transactional stream follows the account’s one_click_unsubscribe until this is set.',
        ),
    }),
    output: stream,
    rest: { method: 'PUT', path: '/v1/streams/{name}' },
    client: 'streams.put',
    tool: { brief: 'Creates a stream, or changes the fields you give.', destructive: false },
    async run({ database }, { accountId }, { name, ...change }, via) {
      const before = (await listStreams(database, accountId)).find((it) => it.name === name);
      const after = await putStream(database, accountId, name, change);
      via.note({
        target: name,
        ...(before && { before: settings(before) }),
        after: settings(after),
      });
      return show(after);
    },
  }),

  operation({
    name: 'remove_stream',
    title: 'Archive a stream',
    summary:
      'Sends that name it are refused from now on. What was sent through it and who left it are kept; a PUT brings it back.',
    effect: 'changes',
    scope: 'streams:write',
    input: z.strictObject({ name }),
    output: stream,
    rest: { method: 'DELETE', path: '/v1/streams/{name}' },
    client: 'streams.remove',
    tool: { brief: 'Sends that name it are refused from now on.' },
    async run({ database }, { accountId }, { name }, via) {
      const before = settings(await findStream(database, accountId, name));
      const after = await archiveStream(database, accountId, name);
      via.note({ target: name, before, after: settings(after) });
      return show(after);
    },
  }),
];
