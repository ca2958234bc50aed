// Following one email: its state and the reason in plain words, and waiting until something happens
// to it.
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { findApproval } from '../approvals/approvals.ts';
import { readMessageDetails } from '../delivery/message-details.ts';
import type { Reason } from '../events/reasons.ts';
import { type MessageStatus, STATUSES } from '../messages/status.ts';
import { explain } from './explanation.ts';
import { messageUuid, noMessage } from './message-lookup.ts';
import { messageId } from './messages.ts';
import { operation } from './operation.ts';

const recipient = z.object({
  address: z.string().describe('The recipient.'),
  status: z.enum(STATUSES).describe('What happened to their copy.'),
  explanation: z.string().describe('Why, and what to do.'),
  response: z.string().nullable().describe('What the last mail server said about it.'),
});

export const explainDelivery = operation({
  name: 'explain_delivery',
  title: 'Explain a delivery',
  summary:
    'Why an email is where it is, for each recipient, in plain words: what happened, why, and what to do.',
  effect: 'reads',
  scope: 'email:read',
  input: z.strictObject({ sm_mail_id: messageId }),
  output: z
    .object({
      sm_mail_id: z.string().describe('The message id.'),
      status: z.enum(STATUSES).describe('The current status.'),
      explanation: z.string().describe('The state of the email as a whole.'),
      recipients: z.array(recipient).describe('The state for each recipient.'),
    })
    .meta({ id: 'DeliveryExplanation' }),
  rest: { method: 'GET', path: '/v1/messages/{sm_mail_id}/explanation' },
  client: 'messages.explain',
  tool: { brief: 'Why an email is where it is, for each recipient, and what to do.' },
  async run(deps, { accountId }, { sm_mail_id }) {
    const uuid = messageUuid(sm_mail_id);
    const found = await readMessageDetails(deps, accountId, uuid);
    if (found === undefined) throw noMessage(sm_mail_id);
    const { state: decided } = (await findApproval(deps.database, accountId, uuid)) ?? {};
    return {
      sm_mail_id,
      status: found.status,
      explanation: explain.message(found, decided),
      recipients: found.recipientStates.map((state) => ({
        address: state.address,
        status: state.status,
        explanation: explain.recipient(
          state,
          reasonFor(found.events, state.address),
          found,
          decided,
        ),
        response: state.response,
      })),
    };
  },
});

function reasonFor(
  events: readonly { type: string; [field: string]: unknown }[],
  address: string,
): { reason: Reason | null; type: string | null } {
  const bounce = events.findLast(
    ({ type, recipients }) =>
      type === 'bounced' && Array.isArray(recipients) && recipients.includes(address),
  );
  return {
    reason: (bounce?.reason as Reason | undefined) ?? null,
    type: (bounce?.bounce_type as string | undefined) ?? null,
  };
}

const rankOf = (status: MessageStatus): number => STATUSES.indexOf(status);

/** In order: a recipient who clicked had it delivered, even if nobody reported that. */
const WAY: readonly string[] = ['queued', 'sent', 'delivered', 'opened', 'clicked'];

/** A bounce ranks above a delivery but does not imply one; a complaint implies a delivery. */
function hasReached(events: readonly { type: string }[], wanted: MessageStatus): boolean {
  if (wanted === 'queued') return true;
  const at = WAY.indexOf(wanted);
  const shows = at < 0 ? [wanted] : WAY.slice(at);
  if (wanted === 'sent' || wanted === 'delivered') shows.push('complained');
  return events.some(({ type }) => shows.includes(type));
}

const LONGEST_WAIT_SECONDS = 25;
const ASK_EVERY_MS = 500;

export const waitForEvent = operation({
  name: 'wait_for_event',
  title: 'Wait for an event',
  summary: `Answers as soon as an email has an event or status it did not have, or after at most ${LONGEST_WAIT_SECONDS} seconds; at once when it is cancelled.`,
  effect: 'reads',
  scope: 'email:read',
  input: z.strictObject({
    sm_mail_id: messageId,
    status: z
      .enum(STATUSES)
      .optional()
      .describe(
        'Wait until it has reached this status, or one that rules it out. Absent: any new event.',
      ),
    timeout_seconds: z.coerce
      .number()
      .int()
      .min(1)
      .max(LONGEST_WAIT_SECONDS)
      .default(10)
      .describe(`How long to wait at most: 1 to ${LONGEST_WAIT_SECONDS}.`),
  }),
  output: z
    .object({
      sm_mail_id: z.string().describe('The message id.'),
      status: z.enum(STATUSES).describe('The current status.'),
      happened: z
        .boolean()
        .describe(
          'Whether that happened; false with a bounce, or once it is cancelled: it will not.',
        ),
      new_events: z.array(z.string()).describe('What happened in the meantime, oldest first.'),
    })
    .meta({ id: 'AwaitedEvent' }),
  rest: { method: 'GET', path: '/v1/messages/{sm_mail_id}/wait' },
  client: 'messages.wait',
  tool: { brief: 'Waits until an email has a new event or status, 25 seconds at most.' },
  async run({ timelineOf }, { accountId }, { sm_mail_id, status: wanted, timeout_seconds }, via) {
    const uuid = messageUuid(sm_mail_id);
    let gone = false;
    via.onGone?.(() => {
      gone = true;
    });
    const until = performance.now() + timeout_seconds * 1000;
    let known: number | undefined;
    for (;;) {
      const timeline = await timelineOf(accountId, uuid);
      if (timeline === undefined) throw noMessage(sm_mail_id);
      const status = timeline.status as MessageStatus;
      known ??= timeline.events.length;
      const happened =
        wanted === undefined ? timeline.events.length > known : hasReached(timeline.events, wanted);
      const passed = wanted !== undefined && rankOf(status) >= rankOf(wanted);
      const over = passed || timeline.cancelledAt !== null;
      if (happened || over || gone || performance.now() >= until) {
        const new_events = timeline.events.slice(known).map(({ type }) => type);
        return { sm_mail_id, status, happened, new_events };
      }
      await sleep(ASK_EVERY_MS);
    }
  },
});

export const followOperations = [explainDelivery, waitForEvent];
