// What names a person beside the emails to them: rows of other tables, for an export. Before it:
// operations/recipients.ts. Whatever is added here is also erased (erase.ts);
// tests/operations/recipients.test.ts compares both with every column of the database.
import { showUuid } from '../ids.ts';
import type { Queryable } from '../store/pool.ts';
import type { Person } from './person.ts';

/** A person has been changed a few times, not thousands; the newest. */
const MOST_CHANGES = 1000;

export interface KnownChange {
  at: string;
  action: string;
  target: string;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

/** Rows of the audit that name them, newest first. */
export async function changesAbout(
  database: Queryable,
  { accountId, exact }: Person,
): Promise<KnownChange[]> {
  const rows = await database.query<Omit<KnownChange, 'at'> & { at: Date }>(
    `SELECT at, action, target, before, after FROM audit
     WHERE account_id = $1 AND (target ~* $2 OR before::text ~* $2 OR after::text ~* $2)
     ORDER BY id DESC LIMIT ${MOST_CHANGES}`,
    [accountId, exact],
  );
  return rows.map(({ at, ...row }) => ({ ...row, at: at.toISOString() }));
}

export interface KnownChoice {
  uuid: string;
  timestamp: string;
  detail: Record<string, unknown>;
}

/** What they joined and left, oldest first: events without a message. */
export async function choicesOf(
  database: Queryable,
  { accountId, key }: Person,
): Promise<KnownChoice[]> {
  return await database.query<KnownChoice>(
    `SELECT id AS uuid, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') AS timestamp, detail
     FROM events WHERE account_id = $1 AND kind = 'subscription' AND lower(recipients[1]) = $2
     ORDER BY at, id`,
    [accountId, key],
  );
}

/** Days on which their address was refused in a doubtful way. */
export async function strikesOf(
  database: Queryable,
  { accountId, key }: Person,
): Promise<string[]> {
  const rows = await database.query<{ day: string }>(
    `SELECT day::text AS day FROM suppression_strikes WHERE account_id = $1 AND address = $2 ORDER BY day`,
    [accountId, key],
  );
  return rows.map(({ day }) => day);
}

/** Idempotency keys of the last day that name them. */
export async function keysNaming(
  database: Queryable,
  { accountId, exact }: Person,
): Promise<string[]> {
  const rows = await database.query<{ key: string }>(
    'SELECT key FROM idempotency_keys WHERE account_id = $1 AND key ~* $2 ORDER BY created_at',
    [accountId, exact],
  );
  return rows.map(({ key }) => key);
}

export interface KnownWords {
  day: string;
  words: string;
}

/** Words that name them in the statistics: refusals of mail servers, and tags. */
export async function wordsAbout(
  database: Queryable,
  { accountId, exact }: Person,
): Promise<KnownWords[]> {
  const rows = await database.query<{ at: Date; counts: unknown }>(
    `SELECT day AS at, counts FROM receiver_days WHERE account_id = $1 AND counts::text ~* $2
     UNION ALL
     SELECT hour AS at, counts FROM recipient_hours WHERE account_id = $1 AND counts::text ~* $2
     ORDER BY 1`,
    [accountId, exact],
  );
  const named = new RegExp(exact, 'i');
  return rows.flatMap(({ at, counts }) =>
    wordsIn(counts)
      .filter((words) => named.test(words))
      .map((words) => ({ day: at.toISOString().slice(0, 10), words })),
  );
}

/** Every text and every name of a field. */
function wordsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  const names = Array.isArray(value) ? [] : Object.keys(value);
  return [...names, ...Object.values(value).flatMap(wordsIn)];
}

export interface KnownReport {
  id: string;
  received_at: string;
  kind: string;
  subject: string;
  size: number;
}

export interface KnownLink {
  url: string;
  reason: string;
  disabled_at: string;
}

/** Reports about a message that are kept as they came, oldest first. */
export async function reportsAbout(
  database: Queryable,
  accountId: number,
  messageUuid: string,
): Promise<KnownReport[]> {
  const rows = await database.query<Omit<KnownReport, 'received_at'> & { receivedAt: Date }>(
    `SELECT id, received_at AS "receivedAt", kind, subject, octet_length(raw) AS size
     FROM feedback_mails WHERE account_id = $1 AND message_id = $2 ORDER BY id`,
    [accountId, messageUuid],
  );
  return rows.map(({ id, receivedAt, kind, subject, size }) => ({
    ...{ id: showUuid('fbk_', id), received_at: receivedAt.toISOString(), kind, subject, size },
  }));
}

/** Links of a message that an operator switched off; the URL may say who clicks. */
export async function linksSwitchedOff(
  database: Queryable,
  accountId: number,
  messageUuid: string,
): Promise<KnownLink[]> {
  const rows = await database.query<Omit<KnownLink, 'disabled_at'> & { at: Date }>(
    `SELECT url, reason, disabled_at AS at FROM disabled_links
     WHERE account_id = $1 AND message_id = $2 ORDER BY disabled_at`,
    [accountId, messageUuid],
  );
  return rows.map(({ url, reason, at }) => ({ url, reason, disabled_at: at.toISOString() }));
}

export interface KnownPost {
  id: string;
  endpoint_id: string;
  event_type: string;
  state: string;
  status: number | null;
  response: string | null;
  error: string | null;
}

/**
 * What was posted to webhook endpoints about messages, or about choices, and what was answered:
 * by the uuid of each, oldest first. `uuids` must not be empty.
 */
export async function postsAbout(
  database: Queryable,
  accountId: number,
  uuids: readonly string[],
): Promise<Map<string, KnownPost[]>> {
  const rows = await database.query<KnownPost & { about: string }>(
    `SELECT message_id AS about, id, endpoint_id, event_type, state, status, response, error
     FROM webhook_deliveries
     WHERE account_id = $1 AND message_id = ANY ($2) AND id >= $3 ORDER BY id`,
    // None is older than what it is about: both ids begin with their time.
    [accountId, uuids, uuids.toSorted()[0]],
  );
  const found = new Map<string, KnownPost[]>(uuids.map((uuid) => [uuid, []]));
  for (const { about, id, endpoint_id, ...post } of rows) {
    found.get(about)?.push({
      ...{ id: showUuid('whd_', id), endpoint_id: showUuid('whe_', endpoint_id), ...post },
    });
  }
  return found;
}
