// Messages: what was sent, found by recipient, subject and what happened to it.
import { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import {
  type MessageDetails,
  type Pending,
  readMessageDetails,
} from '../delivery/message-details.ts';
import { RESOLUTIONS, resolve } from '../delivery/resolve.ts';
import { listAttempts } from '../events/attempts.ts';
import { readUuid, showUuid } from '../ids.ts';
import { DOORS } from '../messages/door.ts';
import { cameThrough, findOwnMessage, type Message } from '../messages/message.ts';
import { searchMessages } from '../messages/search.ts';
import { type MessageStatus, STATUSES } from '../messages/status.ts';
import type { Database } from '../store/pool.ts';
import { listDeliveriesOfMessage } from '../webhooks/deliveries.ts';
import { timelineOutput } from './get-message.ts';
import { checkCursor, listed, listOf, page, pageOfFew, pageOutOf } from './lists.ts';
import { isSealed, messageUuid, noMessage, requireMessage } from './message-lookup.ts';
import { operation } from './operation.ts';
import { delivery, showDelivery } from './webhook-deliveries.ts';

const messageSummary = z
  .object({
    id: z.string().describe('The message id, `sm_mail_id` in other calls.'),
    status: z.enum(STATUSES).describe('The current status.'),
    from_email: z.string().describe('Sender.'),
    recipients: z.array(z.string()).describe('To, cc and bcc together.'),
    subject: z.string().describe('The subject as it went out.'),
    tags: z.array(z.string()).describe('Labels given when it was sent.'),
    template: z.string().nullable().describe('The template it was made from.'),
    stream: z.string().describe('The stream it went through.'),
    door: z.enum(DOORS).describe('Where it came in.'),
    created_at: z.string().describe('When it was accepted: ISO 8601, UTC.'),
    scheduled_at: z
      .string()
      .nullable()
      .describe('When it goes out, or was to: ISO 8601, UTC; null: it went at once.'),
    cancelled_at: z
      .string()
      .nullable()
      .describe('When it was cancelled: ISO 8601, UTC; null: it was not.'),
  })
  .meta({ id: 'MessageSummary' });

export const messageId = z
  .string()
  .max(64)
  .describe('The id that the send call returned.')
  .meta({ example: 'msg_01K9ZQ3V7N8M2R4T6W8Y0A1B2C' });

const text = z.string().nullable();

const recipientState = z
  .object({
    address: z.string().describe('The recipient.'),
    kind: z.enum(['to', 'cc', 'bcc']).describe('How they were addressed.'),
    status: z.enum(STATUSES).describe('What happened to their copy.'),
    at: text.describe('Since when: ISO 8601, UTC; null: it is still queued.'),
    response: text.describe('What the last mail server said about it.'),
  })
  .meta({ id: 'RecipientState' });

export const pending = z.object({
  attempts: z.number().int().describe('How often it was tried.'),
  next_at: z.string().describe('When it is tried next: ISO 8601, UTC.'),
  remaining: z.array(z.string()).describe('Recipients who are left.'),
  unknown: z
    .array(z.string())
    .describe('Those for whom it is unknown whether the relay has the email.'),
  last_response: text.describe('What the relay said last.'),
  set_aside: text.describe('Why it is no longer tried; null: it is.'),
});

const messageDetails = messageSummary
  .extend({
    events: timelineOutput().shape.events,
    recipient_states: z.array(recipientState).describe('What happened to each recipient’s copy.'),
    sealed: z
      .boolean()
      .describe('Whether the service itself wrote it for its reader only: content is not shown.'),
    template_version: z
      .number()
      .int()
      .nullable()
      .describe('The version of the account’s template; null: none, or a system template.'),
    branding_version: z.number().int().nullable().describe('The branding that it was made with.'),
    key: z
      .object({
        id: z.string().describe('Id of the key.'),
        name: text.describe('Its name.'),
        prefix: z.string().describe('How it begins.'),
        revoked: z.boolean().describe('Whether it was revoked since.'),
      })
      .nullable()
      .describe('The API key it came through.'),
    relays: z.array(z.string()).describe('Names of the relays that took it.'),
    relay_message_id: text.describe('Its id at the relay, once the relay has accepted it.'),
    delay: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('The newest report that it is late.'),
    pending: pending.nullable().describe('What is still to hand over; null: nothing.'),
  })
  .meta({ id: 'MessageDetails' });

export const attempt = z
  .object({
    at: z.string().describe('When: ISO 8601, UTC.'),
    attempt: z.number().int().nullable().describe('Which; null: a report from the relay.'),
    server: z.string().describe('Who was asked, or who reported.'),
    recipients: z
      .array(
        z.object({
          recipient: z.string().describe('About whom.'),
          result: z
            .enum(['deferred', 'unknown'])
            .describe('unknown: the connection broke after the email.'),
          reply: z.string().describe('What the server said.'),
          relay: z.string().optional().describe('Name of the relay that was asked.'),
        }),
      )
      .describe('What it said about each.'),
    next_at: text.describe('When it was to be tried next; null: no further attempt.'),
  })
  .meta({ id: 'DeliveryAttempt' });

const instant = (description: string) =>
  z.iso
    .datetime({ offset: true, error: 'write a time as 2026-11-15T10:00:00Z' })
    .optional()
    .describe(description);

export const showSummary = ({ accountId: _own, ...message }: Message) => {
  const { from, createdAt, scheduledAt, cancelledAt, ...rest } = message;
  const times = { created_at: createdAt, scheduled_at: scheduledAt, cancelled_at: cancelledAt };
  return { ...rest, from_email: from, ...times };
};

const showDetails = (found: MessageDetails, sealed: boolean): z.output<typeof messageDetails> => {
  const { recipientStates, templateVersion, brandingVersion, relayMessageId, ...rest } = found;
  const { events, key, relays, delay, pending, sandbox: _sandbox, ...message } = rest;
  return {
    ...showSummary(message),
    events: events as z.output<typeof messageDetails>['events'],
    recipient_states: recipientStates,
    sealed,
    template_version: templateVersion,
    branding_version: brandingVersion,
    key,
    relays,
    relay_message_id: relayMessageId,
    delay,
    pending: pending && showPending(pending),
  };
};

export const showPending = (left: Pending): z.output<typeof pending> => ({
  attempts: left.attempts,
  next_at: left.nextAt,
  remaining: left.remaining,
  unknown: left.unknown,
  last_response: left.lastResponse,
  set_aside: left.setAside,
});

export const showAttempt = ({
  nextAt,
  ...rest
}: Awaited<ReturnType<typeof listAttempts>>[number]) => ({
  ...rest,
  next_at: nextAt,
});

const searchInput = z.strictObject({
  id: z.string().max(64).optional().describe('A message id: that one alone.'),
  recipient: z
    .string()
    .trim()
    .max(400)
    .optional()
    .describe('An address in to, cc or bcc; @ and a domain: everyone there; or a part of one.')
    .meta({ example: 'ada@example.com' }),
  from_email: z
    .string()
    .trim()
    .max(400)
    .optional()
    .describe('The sender’s address; @ and a domain: every sender of it; or a part of one.'),
  words: z
    .string()
    .trim()
    .max(400)
    .optional()
    .describe(
      'Whole words of the subject, at most 16, in any order. The quickest way to search by subject.',
    ),
  subject: z.string().trim().max(400).optional().describe('A part of the subject.'),
  template: z.string().trim().max(64).optional().describe('Slug of the template, exactly.'),
  tag: z.string().trim().max(400).optional().describe('A tag, exactly.'),
  stream: z.string().trim().max(64).optional().describe('Name of the stream, exactly.'),
  door: z.enum(DOORS).optional().describe('Where it came in.'),
  status: z.enum(STATUSES).optional().describe('The current status.'),
  scheduled: z
    .boolean()
    .optional()
    .describe('true: only those scheduled for later; false: all others.'),
  after: instant('Not before this time, ISO 8601.'),
  before: instant('Before this time, ISO 8601.'),
  ...page,
});

export const listMessages = operation({
  name: 'search_messages',
  title: 'Search messages',
  summary:
    'The account’s messages, newest first, by recipient, sender, words of the subject, template, tag, stream, door, status and time. One call searches a limited number of them: continue while `next` is not null, even if a page is empty.',
  effect: 'reads',
  scope: 'messages:read',
  input: searchInput,
  output: listOf('messages', messageSummary),
  rest: { method: 'GET', path: '/v1/messages' },
  client: 'messages.list',
  tool: {
    brief: 'The messages that match all the fields you give, newest first.',
    without: ['id', 'door'],
  },
  run: ({ database }, caller, input) => findMessages(database, caller, input),
});

type Wish = z.output<typeof searchInput> & { statuses?: MessageStatus[] | undefined };

/** Also for agents, which may name several statuses (mcp/search-tool.ts). */
export async function findMessages(
  database: Database,
  caller: Caller,
  { id, after, before, cursor, limit, ...wish }: Wish,
) {
  checkCursor('msg_', cursor);
  const { accountId } = caller;
  const keyId = caller.limits?.ownMessages ? caller.keyId : null;
  if (id !== undefined) {
    const uuid = readUuid('msg_', id);
    const isOurs =
      uuid && (keyId === null || (await cameThrough(database, accountId, uuid, keyId)));
    const found = isOurs && (await findOwnMessage(database, accountId, uuid));
    return listed(found ? [showSummary(found)] : [], null);
  }
  const { from_email: from, ...filter } = wish;
  const { messages, beforeUuid } = await searchMessages(database, accountId, {
    ...filter,
    keyId,
    from,
    fromMs: after === undefined ? undefined : Date.parse(after),
    untilMs: before === undefined ? undefined : Date.parse(before),
    beforeUuid: cursor === undefined ? undefined : readUuid('msg_', cursor),
    limit,
  });
  return listed(messages.map(showSummary), beforeUuid && showUuid('msg_', beforeUuid));
}

export const getMessageDetails = operation({
  name: 'get_message_details',
  title: 'Read everything about a message',
  summary:
    'One message with its timeline, what happened to each recipient, where it came from and how far handing it over has got; everything but its content.',
  effect: 'reads',
  scope: 'messages:read',
  input: z.strictObject({ sm_mail_id: messageId }),
  output: messageDetails,
  rest: { method: 'GET', path: '/v1/messages/{sm_mail_id}/details' },
  client: 'messages.details',
  async run(deps, { accountId }, { sm_mail_id }, via) {
    const found = await readMessageDetails(deps, accountId, messageUuid(sm_mail_id));
    if (found === undefined) throw noMessage(sm_mail_id);
    return showDetails(found, isSealed(found.door, via));
  },
});

export const messageOperations = [
  listMessages,
  getMessageDetails,

  operation({
    name: 'list_message_attempts',
    title: 'List the attempts of a message',
    summary:
      'Attempts to hand a message over that were inconclusive, and reports of delays, oldest first: what the timeline leaves out.',
    effect: 'reads',
    scope: 'messages:read',
    input: z.strictObject({ sm_mail_id: messageId, ...pageOfFew }),
    output: listOf('attempts', attempt),
    rest: { method: 'GET', path: '/v1/messages/{sm_mail_id}/attempts' },
    client: 'messages.listAttempts',
    async run({ database }, { accountId }, { sm_mail_id, ...wanted }) {
      const { uuid } = await requireMessage(database, accountId, sm_mail_id);
      const attempts = await listAttempts(database, accountId, uuid);
      return pageOutOf(attempts.map(showAttempt), wanted, ({ at }) => at);
    },
  }),

  operation({
    name: 'list_message_webhooks',
    title: 'List the webhook deliveries of a message',
    summary: 'Which endpoints received a message’s events, oldest first.',
    effect: 'reads',
    scope: 'webhooks:read',
    input: z.strictObject({ sm_mail_id: messageId, ...pageOfFew }),
    output: listOf('deliveries', delivery),
    rest: { method: 'GET', path: '/v1/messages/{sm_mail_id}/webhooks' },
    client: 'messages.listWebhooks',
    async run({ database }, { accountId }, { sm_mail_id, ...wanted }) {
      const { uuid } = await requireMessage(database, accountId, sm_mail_id);
      const deliveries = await listDeliveriesOfMessage(database, accountId, uuid);
      return pageOutOf(deliveries.map(showDelivery), wanted, ({ id }) => id);
    },
  }),

  operation({
    name: 'resolve_message',
    title: 'Decide an unknown outcome',
    summary:
      'For a message whose outcome is unknown because the connection to the relay broke: count it as sent, or send it again with the same Message-ID.',
    effect: 'changes',
    scope: 'messages:write',
    input: z.strictObject({
      sm_mail_id: messageId,
      as: z.enum(RESOLUTIONS).describe('sent: it counts as sent. again: it is due again.'),
    }),
    output: z.object({
      sm_mail_id: z.string().describe('The message id.'),
      recipients: z.array(z.string()).describe('The recipients it was about.'),
    }),
    rest: { method: 'POST', path: '/v1/messages/{sm_mail_id}/resolve' },
    client: 'messages.resolve',
    async run({ database }, { accountId }, { sm_mail_id, as }, via) {
      const message = await requireMessage(database, accountId, sm_mail_id);
      const recipients = await resolve(database, message, message.uuid, as);
      via.note({ target: sm_mail_id, after: { as, recipients } });
      return { sm_mail_id, recipients };
    },
  }),
];
