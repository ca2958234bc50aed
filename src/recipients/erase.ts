// Erasing a person: what they were sent, what they did with it and every place that names them, in
// one transaction. What is left says that an email went to someone, and, as a hash, that this
// person gets no more. Before it: operations/recipients.ts. Backups are up to the operator.
import { addressKey } from '../addresses.ts';
import { Problem } from '../errors.ts';
import { showUuid } from '../ids.ts';
import type { Queryable } from '../store/pool.ts';
import { erasedAddress, erasedKey } from '../suppressions/erased.ts';

/** How many rows were changed or deleted, by kind. */
export interface Erasure {
  messages: number;
  contents: number;
  events: number;
  attempts: number;
  captured: number;
  reports: number;
  webhook_answers: number;
  suppressions: number;
  audit: number;
}

const MOST_NAMED = 5;

export async function eraseRecipient(
  client: Queryable,
  accountId: number,
  address: string,
): Promise<Erasure> {
  const key = addressKey(address);
  const person: Person = {
    accountId,
    key,
    mark: erasedAddress(accountId, address),
    // As it may appear in a mail server's words or a list of changes.
    pattern: key.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'),
    messages: await messagesTo(client, accountId, key),
  };
  await refuseWaiting(client, person);
  await client.query(REFUSALS, [accountId, key, person.pattern, person.mark]);
  return {
    messages: await count(client, MESSAGES, [accountId, person.messages, key, person.mark]),
    contents: await count(client, CONTENTS, [accountId, person.messages]),
    events: await eraseEvents(client, person),
    attempts: await count(client, ATTEMPTS, [
      accountId,
      person.messages,
      person.pattern,
      person.mark,
    ]),
    captured: await count(client, CAPTURED, [accountId, person.messages, key]),
    reports: await count(client, REPORTS, [accountId, person.messages, key]),
    webhook_answers: await count(client, WEBHOOK_ANSWERS, [accountId, person.messages]),
    suppressions: await eraseListed(client, person),
    audit: await count(client, AUDIT, [accountId, key, person.pattern, person.mark]),
  };
}

interface Person {
  accountId: number;
  key: string;
  mark: string;
  pattern: string;
  /** Uuids of the messages sent to them. */
  messages: string[];
}

/** Reads all messages of the account: the address may be in any. */
async function messagesTo(client: Queryable, accountId: number, key: string): Promise<string[]> {
  const rows = await client.query<{ id: string }>(
    `SELECT id FROM messages m WHERE account_id = $1
       AND EXISTS (SELECT FROM unnest(m.recipients) r WHERE lower(r) = $2)`,
    [accountId, key],
  );
  return rows.map(({ id }) => id);
}

/** An email that is still to be sent needs its recipient. */
async function refuseWaiting(client: Queryable, { accountId, messages }: Person): Promise<void> {
  const rows = await client.query<{ id: string }>(
    'SELECT message_id AS id FROM due_messages WHERE account_id = $1 AND message_id = ANY ($2)',
    [accountId, messages],
  );
  if (rows.length === 0) return;
  const named = rows.slice(0, MOST_NAMED).map(({ id }) => showUuid('msg_', id));
  throw new Problem(
    'conflict',
    `${rows.length === 1 ? 'An email' : `${rows.length} emails`} to this address still ${rows.length === 1 ? 'has' : 'have'} to go out (${named.join(', ')}). Cancel ${rows.length === 1 ? 'it' : 'them'} or wait, then erase again. Nothing was erased.`,
  );
}

const MESSAGES = `UPDATE messages SET subject = '',
    recipients = ARRAY(SELECT CASE WHEN lower(r) = $3 THEN $4 ELSE r END
                       FROM unnest(recipients) WITH ORDINALITY AS u (r, n) ORDER BY n)
  WHERE account_id = $1 AND id = ANY ($2)`;

/** Written for all recipients at once, with the address among them: it is deleted as a whole. */
const CONTENTS = 'DELETE FROM contents WHERE account_id = $1 AND message_id = ANY ($2)';

const ATTEMPTS = `UPDATE delivery_attempts
  SET recipients = regexp_replace(recipients::text, $3, $4, 'gi')::jsonb
  WHERE account_id = $1 AND message_id = ANY ($2)`;

/** Others' copies too: the address is in their headers. */
const CAPTURED = `DELETE FROM sandbox_mails WHERE account_id = $1
    AND (message_id = ANY ($2) OR EXISTS (SELECT FROM unnest(recipients) r WHERE lower(r) = $3))`;

/** Mail servers' words in the statistics may name them. */
const REFUSALS = `UPDATE receiver_days SET counts = regexp_replace(counts::text, $3, $4, 'gi')::jsonb
  WHERE account_id = $1 AND position($2 IN lower(counts::text)) > 0`;

const REPORTS = `DELETE FROM feedback_mails
  WHERE account_id = $1 AND (message_id = ANY ($2) OR lower(recipient) = $3)`;

const WEBHOOK_ANSWERS = `UPDATE webhook_deliveries SET response = NULL
  WHERE account_id = $1 AND message_id = ANY ($2) AND response IS NOT NULL`;

const AUDIT = `UPDATE audit
  SET target = regexp_replace(target, $3, $4, 'gi'),
      before = regexp_replace(before::text, $3, $4, 'gi')::jsonb,
      after = regexp_replace(after::text, $3, $4, 'gi')::jsonb
  WHERE account_id = $1
    AND position($2 IN lower(target || ' ' || coalesce(before::text, '') || ' '
                             || coalesce(after::text, ''))) > 0`;

/** What they did with an email is about them; what a mail server said may name them. */
async function eraseEvents(client: Queryable, person: Person): Promise<number> {
  const { accountId, key, mark, pattern, messages } = person;
  return await count(
    client,
    `UPDATE events SET
       recipients = ARRAY(SELECT CASE WHEN lower(r) = $3 THEN $4 ELSE r END
                          FROM unnest(recipients) WITH ORDINALITY AS u (r, n) ORDER BY n),
       detail = regexp_replace(detail::text, $5, $4, 'gi')::jsonb
         || CASE WHEN kind = 'sent' THEN '{"subject": ""}'::jsonb
                 WHEN kind = 'opened' THEN '{"user_agent": "", "ip_address": ""}'
                 WHEN kind = 'clicked' THEN '{"user_agent": "", "ip_address": "", "url": ""}'
                 ELSE '{}' END
     WHERE account_id = $1 AND (message_id = ANY ($2) OR (kind = 'subscription' AND lower(recipients[1]) = $3))`,
    [accountId, messages, key, mark, pattern],
  );
}

/** They asked for no more email, or it never arrived: that still applies. */
async function eraseListed(client: Queryable, { accountId, key }: Person): Promise<number> {
  await client.query('DELETE FROM suppression_strikes WHERE account_id = $1 AND address = $2', [
    accountId,
    key,
  ]);
  let changed = 0;
  for (const table of ['suppressions', 'unsubscribes']) {
    // An entry that was erased before, and added again since.
    await client.query(
      `DELETE FROM ${table} WHERE account_id = $1 AND address = $3
         AND EXISTS (SELECT FROM ${table} WHERE account_id = $1 AND address = $2)`,
      [accountId, key, erasedKey(accountId, key)],
    );
    changed += await count(
      client,
      `UPDATE ${table} SET address = $3 WHERE account_id = $1 AND address = $2`,
      [accountId, key, erasedKey(accountId, key)],
    );
  }
  return changed;
}

async function count(client: Queryable, change: string, values: unknown[]): Promise<number> {
  const [row] = await client.query<{ count: number }>(
    `WITH changed AS (${change} RETURNING 1) SELECT count(*) AS count FROM changed`,
    values,
  );
  return row!.count;
}
