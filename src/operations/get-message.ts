// get-message: the whole story of one mail. REST: GET /v1/messages/{sm_mail_id}.
import { z } from 'zod';
import { EVENT_KINDS } from '../events/kinds.ts';
import { readTimeline } from '../events/timeline.ts';
import { type MessageStatus, STATUSES } from '../messages/status.ts';
import { messageUuid, noMessage } from './message-lookup.ts';
import { operation } from './operation.ts';

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
          Object.entries(EVENT_KINDS).map(([type, kind]) => {
            const event = z.object({ type: literal(type), timestamp, ...more, ...kind.fields });
            const name = `${type[0]!.toUpperCase()}${type.slice(1)}Event`;
            // Only the plain ones have names: two schemas of one name would be one too many.
            const id = Object.keys(more).length === 0 ? { id: name } : {};
            return event.meta({ ...id, description: kind.summary });
          }) as unknown as [z.ZodObject<{ type: z.ZodLiteral<string> }>],
        ),
      )
      .describe('What happened, oldest first.'),
  });

const literal = (type: string) => z.literal(type).describe('What happened.');

const output = timelineOutput().meta({ id: 'MessageTimeline' });

export const getMessage = operation({
  name: 'get_email_status',
  title: 'Read an e-mail’s timeline',
  summary: 'The status of one e-mail and everything that happened to it, in order.',
  effect: 'reads',
  scope: 'email:read',
  input,
  output,
  rest: { method: 'GET', path: '/v1/messages/{sm_mail_id}' },
  client: 'messages.get',
  tool: {
    advice:
      'Delivery takes seconds to minutes: ask again later while it is queued or sent, rather than sending again.',
  },
  async run({ database }, { accountId }, { sm_mail_id }) {
    const timeline = await readTimeline(database, accountId, messageUuid(sm_mail_id));
    if (timeline === undefined) throw noMessage(sm_mail_id);
    return {
      sm_mail_id,
      user_id: String(accountId),
      status: timeline.status as MessageStatus,
      events: timeline.events as z.output<typeof output>['events'],
    };
  },
});
