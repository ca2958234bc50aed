// get-message: the whole story of one email. REST: GET /v1/messages/{sm_mail_id}.
import { z } from 'zod';
import { type Approval, findApproval } from '../approvals/approvals.ts';
import { EVENT_KINDS } from '../events/kinds.ts';
import { type MessageStatus, STATUSES } from '../messages/status.ts';
import { messageUuid, noMessage } from './message-lookup.ts';
import { operation } from './operation.ts';

const input = z.strictObject({
  sm_mail_id: z
    .string()
    .describe('The id that the send call returned.')
    .meta({ example: 'msg_01K9ZQ3V7N8M2R4T6W8Y0A1B2C' }),
});

const timestamp = z
  .string()
  .describe('When it was recorded: ISO 8601, UTC, microseconds, no zone suffix.')
  .meta({ example: '2026-11-15T10:22:33.123456' });

export const heldOutput = z.object({
  reason: z
    .enum(['always', 'first_contact', 'outside_domain'])
    .describe('The rule of its key that holds it.'),
  sha256: z.string().describe('Of everything that would be sent. An approval names it.'),
  expires_at: z.string().describe('When it expires unapproved: ISO 8601, UTC.'),
});

const decisionOutput = z.object({
  state: z
    .enum(['approved', 'declined', 'expired', 'cancelled'])
    .describe('Only what was approved is sent.'),
  by: z.string().nullable().describe('Who decided; null: nobody did.'),
  at: z.string().nullable().describe('When: ISO 8601, UTC.'),
});

/** What the message says about its approval: that it waits, or the decision. */
export function showApproval(approval: Approval | undefined) {
  if (approval === undefined) return {};
  const { state, reason, sha256, expiresAt, decidedAt, decidedBy } = approval;
  if (state === 'waiting') {
    return { held: { reason, sha256, expires_at: expiresAt.toISOString() } };
  }
  return { approval: { state, by: decidedBy, at: decidedAt?.toISOString() ?? null } };
}

const literal = (type: string) => z.literal(type).describe('What happened.');

const eventsOutput = (more: z.ZodRawShape) =>
  z.array(
    z.discriminatedUnion(
      'type',
      Object.entries(EVENT_KINDS).map(([type, kind]) => {
        const event = z.object({ type: literal(type), timestamp, ...more, ...kind.fields });
        const name = `${type[0]!.toUpperCase()}${type.slice(1)}Event`;
        // Only the plain ones get names: two schemas must not share one.
        const id = Object.keys(more).length === 0 ? { id: name } : {};
        return event.meta({ ...id, description: kind.summary });
      }) as unknown as [z.ZodObject<{ type: z.ZodLiteral<string> }>],
    ),
  );

/** The events of a timeline as the contract defines them. */
export const timelineEvents = eventsOutput({});

/** The timeline, and anything else a door says about each event. */
export const timelineOutput = (more: z.ZodRawShape = {}) =>
  z.strictObject({
    sm_mail_id: z.string().describe('The message id.'),
    user_id: z.string().describe('The owning account, as a string.'),
    status: z.enum(STATUSES).describe('The current status: the highest rank seen.'),
    scheduled_at: z
      .string()
      .optional()
      .describe('When it goes out, or was to: ISO 8601, UTC. Absent: it went at once.')
      .meta({ example: '2026-11-20T08:00:00.000Z' }),
    cancelled_at: z
      .string()
      .optional()
      .describe('When it was cancelled: ISO 8601, UTC. Nobody receives it. Absent: it was not.')
      .meta({ example: '2026-11-19T16:20:00.000Z' }),
    held: heldOutput
      .optional()
      .describe('It waits for a person’s approval: nothing has been sent. Absent: it does not.'),
    approval: decisionOutput
      .optional()
      .describe('What happened to the approval it waited for. Absent: it waits, or needed none.'),
    events: eventsOutput(more).describe('What happened, oldest first.'),
  });

const output = timelineOutput().meta({ id: 'MessageTimeline' });

export const getMessage = operation({
  name: 'get_email_status',
  title: 'Read an email’s status and timeline',
  summary: 'The status of one email and everything that happened to it, in order.',
  effect: 'reads',
  scope: 'email:read',
  input,
  output,
  rest: { method: 'GET', path: '/v1/messages/{sm_mail_id}' },
  client: 'messages.get',
  tool: { brief: 'The status of an email and everything that happened to it.' },
  async run({ database, timelineOf }, { accountId }, { sm_mail_id }) {
    const uuid = messageUuid(sm_mail_id);
    const timeline = await timelineOf(accountId, uuid);
    if (timeline === undefined) throw noMessage(sm_mail_id);
    const approval = timeline.neededApproval
      ? await findApproval(database, accountId, uuid)
      : undefined;
    return {
      sm_mail_id,
      user_id: String(accountId),
      status: timeline.status as MessageStatus,
      ...(timeline.scheduledAt && { scheduled_at: timeline.scheduledAt.toISOString() }),
      ...(timeline.cancelledAt && { cancelled_at: timeline.cancelledAt.toISOString() }),
      ...showApproval(approval),
      events: timeline.events as z.output<typeof output>['events'],
    };
  },
});
