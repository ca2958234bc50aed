// A person decides what happened to an email of unknown outcome: it counts as sent, or it is sent
// again with the same Message-ID. Before: the connection broke after the content (attempt.ts), or
// the outcome could not be recorded (worker.ts).
import { Problem } from '../errors.ts';
import { unknownRecipients } from '../events/attempts.ts';
import { recordEvents } from '../events/record.ts';
import { uuidToBytes } from '../ids.ts';
import type { Message } from '../messages/message.ts';
import type { Database, Queryable } from '../store/pool.ts';
import { lockMessage } from './recall.ts';

export const RESOLUTIONS = ['sent', 'again'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** Returns the recipients it was about. */
export async function resolve(
  database: Database,
  message: Pick<Message, 'id' | 'accountId' | 'recipients' | 'subject'>,
  uuid: string,
  as: Resolution,
): Promise<string[]> {
  return await database.transaction(async (client) => {
    const row = (await lockMessage(client, message.accountId, uuid))?.due ?? null;
    if (row === null) return await reopen(client, message, uuid, as);
    const remaining = row.remaining ?? message.recipients;
    // Nothing may be known about an email that was set aside: then it is about all remaining
    // recipients.
    const about = row.unknown ?? (row.state === 'set aside' ? remaining : []);
    if (row.state === 'in hand') throw busy(message.id);
    if (about.length === 0) throw nothingUnknown(message.id);
    if (as === 'sent') await recordSent(client, message, uuid, about, row.attempts);
    const left = as === 'sent' ? remaining.filter((it) => !about.includes(it)) : remaining;
    await client.query(
      left.length === 0
        ? 'DELETE FROM due_messages WHERE account_id = $1 AND message_id = $2'
        : `UPDATE due_messages SET state = 'ready', due_at = now(), claims = claims + 1, deaths = 0,
             reason = NULL, set_aside_at = NULL, remaining = $3, unknown = NULL
           WHERE account_id = $1 AND message_id = $2`,
      [message.accountId, uuid, ...(left.length === 0 ? [] : [left])],
    );
    return about;
  });
}

/** It counted as sent and is no longer in the queue. */
async function reopen(
  client: Queryable,
  { id, accountId }: Pick<Message, 'id' | 'accountId'>,
  uuid: string,
  as: Resolution,
): Promise<string[]> {
  const { recipients, attempt } = await unknownRecipients(client, accountId, uuid);
  if (recipients.length === 0) throw nothingUnknown(id);
  if (as === 'sent') return recipients;
  const rows = await client.query(
    `INSERT INTO due_messages AS d (account_id, message_id, due_at, size, attempts, remaining)
     SELECT account_id, message_id, now(), coalesce(octet_length(head), 0) + coalesce(octet_length(html), 0)
              + coalesce(octet_length(text), 0) + coalesce(octet_length(attachments), 0), $3, $4
     FROM contents WHERE account_id = $1 AND message_id = $2 RETURNING d.message_id`,
    [accountId, uuid, attempt, recipients],
  );
  if (rows.length > 0) return recipients;
  throw new Problem(
    'not-found',
    `The content of ${id} is past its retention: it cannot be sent again.`,
  );
}

async function recordSent(
  client: Queryable,
  { id, accountId, subject }: Pick<Message, 'id' | 'accountId' | 'subject'>,
  uuid: string,
  recipients: string[],
  attempts: number,
): Promise<void> {
  const event = {
    accountId,
    messageId: uuidToBytes(uuid),
    kind: 'sent' as const,
    recipients,
    detail: { subject },
    identity: `resolved ${attempts}`,
    relayMessageId: id,
  };
  await recordEvents(client, [event], 0);
}

const busy = (id: string): Problem =>
  new Problem('invalid', `${id} is being handed over right now. Look again in a moment.`);

const nothingUnknown = (id: string): Problem =>
  new Problem(
    'invalid',
    `Nothing about ${id} is unknown: its timeline shows what happened to it.`,
    {
      see: 'get_email_status',
    },
  );
