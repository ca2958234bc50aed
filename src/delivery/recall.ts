// Recalls an email that is still queued: it is cancelled, or goes out at another time. Before:
// operations/recalls.ts. After: nobody hands it over, or claim_due finds it at its new time.
//
// Row locks decide between this and a worker. A claim skips what is locked here, and a recall that
// waits for a claim finds the email in hand: one of the two gets it, never both or neither.
import { giveBackQuota } from '../accounts/usage.ts';
import { cancelHeld, findApproval, renewFingerprint } from '../approvals/approvals.ts';
import { Problem } from '../errors.ts';
import { showUuid } from '../ids.ts';
import type { MessageStatus } from '../messages/status.ts';
import type { Queryable } from '../store/pool.ts';

/** A message with its due row, both locked. */
export interface Locked {
  uuid: string;
  accountId: number;
  status: MessageStatus;
  recipients: string[];
  keyId: string | null;
  scheduledAt: Date | null;
  cancelledAt: Date | null;
  /** Null: nothing is left to hand over. */
  due: DueRow | null;
  /** It waits for a person's approval, and has no due row before that. */
  held: boolean;
}

interface DueRow {
  state: 'ready' | 'in hand' | 'waiting' | 'set aside';
  attempts: number;
  /** How many processes in a row died while handling it. */
  deaths: number;
  remaining: string[] | null;
  unknown: string[] | null;
}

/**
 * The message first and then its due row, as in outcomes.ts: locking in another order would
 * deadlock. Undefined: the account has no such message.
 */
export async function lockMessage(
  client: Queryable,
  accountId: number,
  uuid: string,
): Promise<Locked | undefined> {
  const [message] = await client.query<Omit<Locked, 'uuid' | 'accountId' | 'due' | 'held'>>(
    `SELECT status, recipients, key_id AS "keyId", scheduled_at AS "scheduledAt",
            cancelled_at AS "cancelledAt"
     FROM messages WHERE account_id = $1 AND id = $2 FOR UPDATE`,
    [accountId, uuid],
  );
  if (message === undefined) return undefined;
  const [due = null] = await client.query<DueRow>(
    `SELECT state, attempts, deaths, remaining, unknown FROM due_messages
     WHERE account_id = $1 AND message_id = $2 FOR UPDATE`,
    [accountId, uuid],
  );
  const held = due === null && (await findApproval(client, accountId, uuid))?.state === 'waiting';
  return { uuid, accountId, ...message, due, held };
}

/** Returns when it was cancelled: now, or earlier. */
export async function cancelMessage(client: Queryable, message: Locked): Promise<Date> {
  if (message.cancelledAt !== null) return message.cancelledAt;
  if (message.held) await cancelHeld(client, message);
  else requireQueued(message);
  const { accountId, uuid } = message;
  await client.query('DELETE FROM due_messages WHERE account_id = $1 AND message_id = $2', [
    accountId,
    uuid,
  ]);
  const [row] = await client.query<{ at: Date }>(
    `UPDATE messages SET cancelled_at = now() WHERE account_id = $1 AND id = $2
     RETURNING cancelled_at AS at`,
    [accountId, uuid],
  );
  await giveBackQuota(client, message);
  return row!.at;
}

/** If the time has come or passed, it is ready at once. */
export async function rescheduleMessage(
  client: Queryable,
  message: Locked,
  scheduledAtMs: number,
): Promise<void> {
  if (message.cancelledAt !== null) {
    const at = message.cancelledAt.toISOString();
    throw tooLate(message, `it was cancelled at ${at}. Send it again instead`);
  }
  if (!message.held) requireQueued(message);
  const values = [message.accountId, message.uuid, new Date(scheduledAtMs)];
  await client.query(
    'UPDATE messages SET scheduled_at = $3 WHERE account_id = $1 AND id = $2',
    values,
  );
  if (message.held) return await renewFingerprint(client, message);
  await client.query(
    // What is already due enters its lane within a second (queue/lanes.ts).
    `UPDATE due_messages SET due_at = greatest($3, now()), state = 'waiting'
     WHERE account_id = $1 AND message_id = $2`,
    values,
  );
}

/** None of it can have reached the relay. */
function requireQueued(message: Locked): void {
  const { due, status } = message;
  if (status !== 'queued') {
    throw tooLate(message, `it has been handed over${due === null ? '' : ' for some recipients'}`);
  }
  if (due === null) throw tooLate(message, 'it is no longer in the queue');
  if (due.state === 'in hand') throw tooLate(message, 'it is being handed over right now');
  if (due.state === 'set aside') {
    throw tooLate(
      message,
      'it was set aside, and the operator of the service decides what happens to it',
    );
  }
  if (due.unknown !== null || due.deaths > 0) {
    throw tooLate(
      message,
      'nobody knows whether the relay has it: the connection broke, or a process died',
    );
  }
}

const tooLate = ({ uuid }: Locked, why: string): Problem =>
  new Problem('conflict', `${showUuid('msg_', uuid)} cannot be changed: ${why}.`, {
    see: 'get_email_status',
  });
