// Erasing a person: what they were sent, what they did with it and every place that names them, in
// one transaction. What is left says that an email went to someone, and, as a hash, that this
// person gets no more. Before it: operations/recipients.ts. Backups are up to the operator.
import { Problem } from '../errors.ts';
import { showUuid } from '../ids.ts';
import type { Queryable } from '../store/pool.ts';
import { erasedKey, erasedUrl, isErased } from '../suppressions/erased.ts';
import type { Person } from './person.ts';

/** How many rows were changed or deleted, by kind. */
export interface Erasure {
  messages: number;
  contents: number;
  events: number;
  attempts: number;
  captured: number;
  reports: number;
  webhook_answers: number;
  statistics: number;
  idempotency_keys: number;
  disabled_links: number;
  strikes: number;
  suppressions: number;
  audit: number;
}

const MOST_NAMED = 5;

export async function eraseRecipient(client: Queryable, person: Person): Promise<Erasure> {
  const { accountId, key, mark, pattern } = person;
  const messages = await messagesTo(client, person);
  await refuseWaiting(client, accountId, messages);
  // Before the events that say who chose.
  const answers = await count(client, WEBHOOK_ANSWERS, [accountId, messages, key]);
  return {
    messages: await count(client, MESSAGES, [accountId, messages, key, mark, pattern]),
    contents: await count(client, CONTENTS, [accountId, messages]),
    events: await count(client, EVENTS, [accountId, messages, key, mark, pattern]),
    attempts: await count(client, ATTEMPTS, [accountId, messages, pattern, mark]),
    captured: await eraseCaptured(client, person, messages),
    reports: await count(client, REPORTS, [accountId, messages, key]),
    webhook_answers: answers,
    statistics: await eraseStatistics(client, person),
    idempotency_keys: await count(client, IDEMPOTENCY_KEYS, [accountId, pattern]),
    disabled_links: await eraseLinks(client, accountId, messages),
    strikes: await count(client, STRIKES, [accountId, key]),
    suppressions: await eraseListed(client, person),
    audit: await count(client, AUDIT, [accountId, pattern, mark]),
  };
}

/** Reads all messages of the account: the address may be in any. */
async function messagesTo(client: Queryable, { accountId, key }: Person): Promise<string[]> {
  const rows = await client.query<{ id: string }>(
    `SELECT id FROM messages m WHERE account_id = $1
       AND EXISTS (SELECT FROM unnest(m.recipients) r WHERE lower(r) = $2)`,
    [accountId, key],
  );
  return rows.map(({ id }) => id);
}

/** An email that is still to be sent needs its recipient. */
async function refuseWaiting(
  client: Queryable,
  accountId: number,
  messages: readonly string[],
): Promise<void> {
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
                       FROM unnest(recipients) WITH ORDINALITY AS u (r, n) ORDER BY n),
    tags = (SELECT array_agg(regexp_replace(t, $5, $4, 'gi') ORDER BY n)
            FROM unnest(tags) WITH ORDINALITY AS u (t, n)),
    last_delay = regexp_replace(last_delay::text, $5, $4, 'gi')::jsonb
  WHERE account_id = $1 AND id = ANY ($2)`;

/** Written for all recipients at once, with the address among them: it is deleted as a whole. */
const CONTENTS = 'DELETE FROM contents WHERE account_id = $1 AND message_id = ANY ($2)';

/** What they did with an email is about them; what a mail server said may name them. */
const EVENTS = `UPDATE events SET
    recipients = ARRAY(SELECT CASE WHEN lower(r) = $3 THEN $4 ELSE r END
                       FROM unnest(recipients) WITH ORDINALITY AS u (r, n) ORDER BY n),
    detail = regexp_replace(detail::text, $5, $4, 'gi')::jsonb
      || CASE WHEN kind = 'sent' THEN '{"subject": ""}'::jsonb
              WHEN kind = 'opened' THEN '{"user_agent": "", "ip_address": ""}'
              WHEN kind = 'clicked' THEN '{"user_agent": "", "ip_address": "", "url": ""}'
              ELSE '{}' END
  WHERE account_id = $1
    AND (message_id = ANY ($2) OR (kind = 'subscription' AND lower(recipients[1]) = $3))`;

const ATTEMPTS = `UPDATE delivery_attempts
  SET recipients = regexp_replace(recipients::text, $3, $4, 'gi')::jsonb
  WHERE account_id = $1 AND message_id = ANY ($2)`;

const REPORTS = `DELETE FROM feedback_mails
  WHERE account_id = $1 AND (message_id = ANY ($2) OR lower(recipient) = $3)`;

/** Also to events without a message: what they joined and left. */
const WEBHOOK_ANSWERS = `UPDATE webhook_deliveries SET response = NULL
  WHERE account_id = $1 AND response IS NOT NULL
    AND (message_id = ANY ($2) OR message_id IN (
      SELECT message_id FROM events
      WHERE account_id = $1 AND kind = 'subscription' AND lower(recipients[1]) = $3))`;

const IDEMPOTENCY_KEYS = 'DELETE FROM idempotency_keys WHERE account_id = $1 AND key ~* $2';

const STRIKES = 'DELETE FROM suppression_strikes WHERE account_id = $1 AND address = $2';

const AUDIT = `UPDATE audit
  SET target = regexp_replace(target, $2, $3, 'gi'),
      before = regexp_replace(before::text, $2, $3, 'gi')::jsonb,
      after = regexp_replace(after::text, $2, $3, 'gi')::jsonb,
      request_id = regexp_replace(request_id, $2, $3, 'gi')
  WHERE account_id = $1
    AND (target || ' ' || request_id || ' ' || coalesce(before::text, '') || ' '
         || coalesce(after::text, '')) ~* $2`;

/** Others' copies too: the address is in their headers. With them go the steps still to play. */
async function eraseCaptured(
  client: Queryable,
  { accountId, key }: Person,
  messages: readonly string[],
): Promise<number> {
  const rows = await client.query<{ id: string }>(
    `DELETE FROM sandbox_mails WHERE account_id = $1
       AND (message_id = ANY ($2) OR EXISTS (SELECT FROM unnest(recipients) r WHERE lower(r) = $3))
     RETURNING id`,
    [accountId, messages, key],
  );
  await client.query('DELETE FROM sandbox_acts WHERE mail_id = ANY ($1)', [
    rows.map(({ id }) => id),
  ]);
  return rows.length;
}

/** Mail servers' words may name them, and so may a tag. */
async function eraseStatistics(
  client: Queryable,
  { accountId, pattern, mark }: Person,
): Promise<number> {
  let changed = 0;
  for (const table of ['receiver_days', 'recipient_hours']) {
    changed += await count(
      client,
      `UPDATE ${table} SET counts = regexp_replace(counts::text, $2, $3, 'gi')::jsonb
       WHERE account_id = $1 AND counts::text ~* $2`,
      [accountId, pattern, mark],
    );
  }
  return changed;
}

/** A link often says who clicks it, in ways that only the sender reads; it stays switched off. */
async function eraseLinks(
  client: Queryable,
  accountId: number,
  messages: readonly string[],
): Promise<number> {
  const rows = await client.query<{ uuid: string; url: string }>(
    `SELECT message_id AS uuid, url FROM disabled_links
     WHERE account_id = $1 AND message_id = ANY ($2) AND url <> ''`,
    [accountId, messages],
  );
  const left = rows.filter(({ url }) => !isErased(url));
  for (const { uuid, url } of left) {
    await client.query(
      'UPDATE disabled_links SET url = $4 WHERE account_id = $1 AND message_id = $2 AND url = $3',
      [accountId, uuid, url, erasedUrl(accountId, url)],
    );
  }
  return left.length;
}

/** They asked for no more email, or it never arrived: that still applies. */
async function eraseListed(client: Queryable, { accountId, key }: Person): Promise<number> {
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
