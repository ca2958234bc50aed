// get-message: the whole story of one mail. REST: GET /v1/messages/{sm_mail_id}.
import { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import { Problem } from '../errors.ts';
import { EVENT_KINDS } from '../events/kinds.ts';
import { readTimeline } from '../events/timeline.ts';
import { readUuid } from '../ids.ts';
import { type MessageStatus, STATUSES } from '../messages/status.ts';
import type { Database } from '../store/pool.ts';
import type { Operation } from './operation.ts';

const input = z.strictObject({
  sm_mail_id: z
    .string()
    .describe('The id that the send call answered.')
    .meta({ example: 'msg_01K9ZQ3V7N8M2R4T6W8Y0A1B2C' }),
});

const timestamp = z
  .string()
  .describe('When it was recorded: ISO 8601, UTC, microseconds, no zone suffix.')
  .meta({ example: '2026-11-15T10:22:33.123456' });

/** The timeline, and what else a door may say about each event. */
export const timelineOutput = (more: z.ZodRawShape = {}) =>
  z.strictObject({
    sm_mail_id: z.string().describe('The message id.'),
    user_id: z.string().describe('The owning account, as a string.'),
    status: z.enum(STATUSES).describe('The current status: the highest rank seen.'),
    events: z
      .array(
        z.discriminatedUnion(
          'type',
          Object.entries(EVENT_KINDS).map(([type, kind]) =>
            z
              .object({ type: literal(type), timestamp, ...more, ...kind.fields })
              .describe(kind.summary),
          ) as unknown as [z.ZodObject<{ type: z.ZodLiteral<string> }>],
        ),
      )
      .describe('What happened, oldest first.'),
  });

const literal = (type: string) => z.literal(type).describe('What happened.');

const output = timelineOutput();

async function run(
  deps: { database: Database },
  caller: Caller,
  { sm_mail_id }: z.output<typeof input>,
) {
  const uuid = readUuid('msg_', sm_mail_id);
  const timeline =
    uuid === undefined ? undefined : await readTimeline(deps.database, caller.accountId, uuid);
  if (timeline === undefined) {
    throw new Problem(
      'not-found',
      `This account has no message ${sm_mail_id.slice(0, 64)}. Check the id; messages are kept for a limited time.`,
    );
  }
  return {
    sm_mail_id,
    user_id: String(caller.accountId),
    status: timeline.status as MessageStatus,
    events: timeline.events,
  };
}

export const getMessage = {
  name: 'get_email_status',
  title: 'Read an e-mail’s timeline',
  summary: 'The status of one e-mail and everything that happened to it, in order.',
  scope: 'email:read',
  input,
  output,
  run,
} satisfies Operation<
  { database: Database },
  typeof input,
  typeof output,
  undefined,
  Awaited<ReturnType<typeof run>>
>;
