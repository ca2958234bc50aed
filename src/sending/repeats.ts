// An agent that is unsure sends again, often under a new idempotency key: within a minute the same
// email to the same recipients is refused until someone says that two are wanted. Without a key of
// its own a repeat answers as the first did (idempotency.ts); here only a person can know.

import { Problem } from '../errors.ts';
import { firstUuidAt, showUuid } from '../ids.ts';
import type { Clock } from '../process/clock.ts';
import type { Database } from '../store/pool.ts';
import type { PackedSend } from './packed-send.ts';

const WITHIN_MS = 60_000;

export async function requireNoTwin(
  { database, clock }: { database: Database; clock: Clock },
  send: PackedSend,
): Promise<void> {
  const [twin] = await database.query<{ uuid: string }>(
    `SELECT m.id AS uuid FROM messages m
     JOIN contents c ON c.account_id = m.account_id AND c.message_id = m.id
     WHERE m.account_id = $1 AND m.id >= $2 AND m.key_id = $3 AND m.cancelled_at IS NULL
       AND m.recipients = $4 AND m.subject = $5
       AND c.html IS NOT DISTINCT FROM $6 AND c.text IS NOT DISTINCT FROM $7
       AND NOT EXISTS (SELECT FROM idempotency_keys k WHERE k.account_id = m.account_id
                       AND k.key = $8 AND k.message_id = m.id)
     LIMIT 1`,
    [
      send.accountId,
      firstUuidAt(clock.nowMs() - WITHIN_MS),
      send.keyId,
      send.envelope,
      send.subject,
      asBytes(send.html),
      asBytes(send.text),
      send.idempotency?.key ?? null,
    ],
  );
  if (twin === undefined) return;
  throw new Problem(
    'conflict',
    `The same email went to the same recipients less than a minute ago, as ${showUuid('msg_', twin.uuid)}. Nothing was sent now. If you really want two, set allow_duplicate.`,
  );
}

const asBytes = (text: string | Buffer | null): Buffer | null =>
  text === null ? null : Buffer.from(text);
