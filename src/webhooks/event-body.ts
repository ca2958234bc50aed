// The body of a webhook: exactly {event_type, user_id, payload}, built from the event's row. After:
// attempt.ts signs and sends it. A recorded event never changes, so neither do the bytes: no
// attempt, replay or endpoint needs a copy of its own.
import { EVENT_KINDS, type EventKindName, type HookType } from '../events/kinds.ts';
import { showUuid } from '../ids.ts';
import type { Database } from '../store/pool.ts';

export interface StoredEvent {
  accountId: number;
  messageUuid: string;
  eventUuid: string;
  kind: EventKindName;
  /** UTC with microseconds, ending in Z. */
  timestamp: string;
  sequence: number;
  recipients: string[];
  detail: Record<string, unknown>;
  /** '' when the relay never had the mail. */
  relayMessageId: string;
  tags: string[];
}

/**
 * Of `events e` joined with `messages m`. The message's own relay id is for events older than the
 * column.
 */
export const EVENT_COLUMNS = `
  e.account_id AS "accountId", e.message_id AS "messageUuid", e.id AS "eventUuid", e.kind,
  to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS timestamp, e.sequence, e.recipients, e.detail,
  coalesce(e.relay_message_id, m.relay_message_id, '') AS "relayMessageId", coalesce(m.tags, '{}') AS tags`;

export function bodyOf(event: StoredEvent): Buffer {
  const { hook, fields } = EVENT_KINDS[event.kind];
  const payload: Record<string, unknown> = {
    sm_mail_id: showUuid('msg_', event.messageUuid),
    message_id: event.relayMessageId,
    recipients: event.recipients,
    tags: event.tags,
    event_timestamp: event.timestamp,
    sequence: event.sequence,
  };
  for (const field of Object.keys(fields)) {
    if (field !== 'recipients') payload[field] = event.detail[field];
  }
  return Buffer.from(JSON.stringify({ event_type: hook, user_id: event.accountId, payload }));
}

/** `X-SM-Event-Id`. */
export const eventIdOf = (eventUuid: string): string => showUuid('evt_', eventUuid);

export interface EventKey {
  accountId: number;
  messageUuid: string;
  eventUuid: string;
}

export const nameOf = (key: EventKey): string => `${key.messageUuid} ${key.eventUuid}`;

/** By name. An event past its days of retention is not among them. */
export async function loadEvents(
  database: Database,
  keys: readonly EventKey[],
): Promise<Map<string, StoredEvent>> {
  if (keys.length === 0) return new Map();
  const messages = keys.map((key) => key.messageUuid);
  const sorted = messages.toSorted();
  const rows = await database.prepared<StoredEvent>(
    'load-events',
    // The bounds keep the planner to the partitions of these days.
    `SELECT ${EVENT_COLUMNS}
     FROM unnest($1::bigint[], $2::uuid[], $3::uuid[]) AS k (account_id, message_id, id)
     JOIN events e ON e.account_id = k.account_id AND e.message_id = k.message_id AND e.id = k.id
       AND e.message_id BETWEEN $4 AND $5
     JOIN messages m ON m.account_id = k.account_id AND m.id = k.message_id AND m.id BETWEEN $4 AND $5`,
    [
      keys.map((key) => key.accountId),
      messages,
      keys.map((key) => key.eventUuid),
      sorted[0],
      sorted.at(-1),
    ],
  );
  return new Map(rows.map((event) => [nameOf(event), event]));
}

export const HOOK_TYPES = Object.values(EVENT_KINDS).flatMap(({ hook }) => hook ?? []);

/** The kind of event behind a webhook's type. */
export function kindOf(type: HookType): EventKindName {
  const found = Object.entries(EVENT_KINDS).find(([, kind]) => kind.hook === type);
  return found![0] as EventKindName;
}
