// Recalls: cancels an email that is still queued, or changes when it is sent.
import { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import { cancelMessage, type Locked, lockMessage, rescheduleMessage } from '../delivery/recall.ts';
import { Problem } from '../errors.ts';
import { idTimeMs, uuidToBytes } from '../ids.ts';
import { MOST_DAYS_AHEAD, readInstant, requireAhead } from '../sending/schedule.ts';
import type { OperationDeps } from './deps.ts';
import { isSealed, messageUuid, noMessage, requireMessage } from './message-lookup.ts';
import { messageId } from './messages.ts';
import { operation, type Via } from './operation.ts';

const queued = {
  sm_mail_id: z.string().describe('The message id.'),
  status: z.literal('queued').describe('None of it was handed over.'),
};

const scheduledAt = z
  .string()
  .describe('When it goes out, or was to: ISO 8601, UTC.')
  .meta({ example: '2026-11-20T08:00:00.000Z' });

export const cancelEmail = operation({
  name: 'cancel_email',
  title: 'Cancel an email',
  summary:
    'Cancels an email as long as none of it has been handed over: held, scheduled, waiting, or deferred. Nobody receives it, its status stays `queued`, and its recipients no longer count towards today’s quota. Cancelling it again gives the same answer. 409 with the reason once it is too late.',
  effect: 'changes',
  scope: 'email:send',
  input: z.strictObject({ sm_mail_id: messageId }),
  output: z
    .object({
      ...queued,
      scheduled_at: scheduledAt.optional(),
      cancelled_at: z
        .string()
        .describe('When it was cancelled: ISO 8601, UTC.')
        .meta({ example: '2026-11-19T16:20:00.000Z' }),
    })
    .meta({ id: 'CancelledEmail' }),
  rest: { method: 'POST', path: '/v1/messages/{sm_mail_id}/cancel' },
  client: 'messages.cancel',
  tool: {
    brief: 'Cancels an email that has not been handed over, also a held one.',
    idempotent: true,
  },
  async run({ database }, caller, { sm_mail_id }, via) {
    const message = await lockOwn(database, caller, sm_mail_id, via);
    const at = await cancelMessage(database, message);
    const scheduled = message.scheduledAt && { scheduled_at: message.scheduledAt.toISOString() };
    if (message.cancelledAt === null) {
      via.note({ target: sm_mail_id, after: { cancelled_at: at.toISOString() } });
    }
    return { sm_mail_id, status: 'queued' as const, ...scheduled, cancelled_at: at.toISOString() };
  },
});

export const rescheduleEmail = operation({
  name: 'reschedule_email',
  title: 'Reschedule an email',
  summary:
    'Changes when an email goes out, earlier or later, as long as none of it has been handed over. Its content stays as it was accepted. 409 with the reason once it is too late.',
  effect: 'changes',
  scope: 'email:send',
  input: z.strictObject({
    sm_mail_id: messageId,
    scheduled_at: z
      .string()
      .max(100)
      .describe(
        `When to send it: RFC 3339 with its offset from UTC, at most ${MOST_DAYS_AHEAD} days after it was accepted; or \`now\`.`,
      )
      .meta({ example: '2026-11-20T09:00:00+01:00' }),
  }),
  output: z.object({ ...queued, scheduled_at: scheduledAt }).meta({ id: 'RescheduledEmail' }),
  rest: { method: 'PATCH', path: '/v1/messages/{sm_mail_id}' },
  client: 'messages.reschedule',
  tool: {
    brief: 'Changes when an email goes out that has not been handed over.',
    idempotent: true,
  },
  async run({ database, clock }, caller, { sm_mail_id, scheduled_at }, via) {
    const nowMs = clock.nowMs();
    const toMs = scheduled_at === 'now' ? nowMs : readInstant('scheduled_at', scheduled_at);
    const acceptedAtMs = idTimeMs(uuidToBytes(messageUuid(sm_mail_id)));
    const message = await lockOwn(database, caller, sm_mail_id, via);
    requireAhead('scheduled_at', toMs, { nowMs, acceptedAtMs });
    await rescheduleMessage(database, message, toMs);
    const after = { scheduled_at: new Date(toMs).toISOString() };
    const before = { scheduled_at: message.scheduledAt?.toISOString() ?? null };
    via.note({ target: sm_mail_id, before, after });
    return { sm_mail_id, status: 'queued' as const, ...after };
  },
});

export const recallOperations = [rescheduleEmail, cancelEmail];

/**
 * A key with limits is for a program that is trusted with its own emails only. Emails of the
 * service itself, such as the notice of a sign-in, are not the account's to stop.
 */
async function lockOwn(
  database: OperationDeps['database'],
  caller: Caller,
  id: string,
  via: Via,
): Promise<Locked> {
  const { door, uuid } = await requireMessage(database, caller.accountId, id);
  if (isSealed(door, via)) {
    throw new Problem('forbidden', 'The service itself wrote this email; an operator can stop it.');
  }
  const message = await lockMessage(database, caller.accountId, uuid);
  if (message === undefined) throw noMessage(id);
  if (caller.limits !== null && message.keyId !== caller.keyId) {
    throw new Problem(
      'forbidden',
      'This API key has limits: it may change only what it sent itself.',
    );
  }
  return message;
}
