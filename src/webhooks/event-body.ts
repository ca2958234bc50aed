// The body of a webhook: exactly {event_type, user_id, payload}, built from the event's row. After:
// attempt.ts signs and sends it. A recorded event never changes, so neither do the bytes: no
// attempt, replay or endpoint needs a copy of its own.
import {
  EVENT_KINDS,
  type EventKindName,
  type HookType,
  type MessageHookType,
  SUBSCRIPTION,
} from '../events/kinds.ts';
import { showUuid } from '../ids.ts';
import { byShard } from '../store/places.ts';
import type { Database } from '../store/pool.ts';

/** The kind of a message's event, or of an address's. */
export type StoredKind = EventKindName | typeof SUBSCRIPTION.hook;

export interface StoredEvent {
  accountId: number;
  messageUuid: string;
  eventUuid: string;
  kind: StoredKind;
  /** UTC with microseconds, ending in Z. */
  timestamp: string;
  sequence: number;
  recipients: string[];
  detail: Record<string, unknown>;
  /** '' if the relay never had the email. */
  relayMessageId: string;
  tags: string[];
}

export function bodyOf(event: StoredEvent): Buffer {
  const { accountId: user_id, kind } = event;
  const body =
    kind === SUBSCRIPTION.hook
      ? { event_type: kind, user_id, payload: subscriptionOf(event) }
      : {
          event_type: EVENT_KINDS[kind].hook,
          user_id,
          payload: payloadOf(event, EVENT_KINDS[kind]),
        };
  return Buffer.from(JSON.stringify(body));
}

function payloadOf(event: StoredEvent, { fields }: { fields: object }): Record<string, unknown> {
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
  return payload;
}

function subscriptionOf({ recipients, timestamp, detail }: StoredEvent): Record<string, unknown> {
  const { message, stream, suppressing, reason, origin } = detail;
  return {
    sm_mail_id: typeof message === 'string' ? showUuid('msg_', message) : null,
    recipients,
    ...{ stream, suppressing, reason, origin },
    event_timestamp: timestamp,
  };
}

/** `X-SM-Event-Id`. */
export const eventIdOf = (eventUuid: string): string => showUuid('evt_', eventUuid);

export interface EventKey {
  accountId: number;
  messageUuid: string;
  eventUuid: string;
}

export const nameOf = (key: EventKey): string => `${key.messageUuid} ${key.eventUuid}`;

/** By name. An event past its retention is not among them. */
export async function loadEvents(
  all: Database,
  keys: readonly EventKey[],
): Promise<Map<string, StoredEvent>> {
  const groups = byShard(all, keys, ({ accountId }) => accountId);
  const loaded = await Promise.all(
    groups.map((group) => loadGroup(all.near(group[0]!.accountId), group)),
  );
  return new Map(loaded.flat().map((event) => [nameOf(event), event]));
}

async function loadGroup(database: Database, keys: readonly EventKey[]): Promise<StoredEvent[]> {
  const accounts = keys.map((key) => key.accountId);
  const messages = keys.map((key) => key.messageUuid);
  const sorted = messages.toSorted();
  return await database.call<StoredEvent>('load-events', LOAD_EVENTS_SQL, [
    accounts,
    messages,
    keys.map((key) => key.eventUuid),
    sorted[0],
    sorted.at(-1),
    database.home(accounts),
  ]);
}

const LOAD_EVENTS_SQL = `
  SELECT account_id AS "accountId", message_id AS "messageUuid", id AS "eventUuid", kind, at AS timestamp, sequence,
         recipients, detail, relay_message_id AS "relayMessageId", tags
  FROM load_events($1, $2, $3, $4, $5, $6)`;

/** What an endpoint without named types gets. */
export const HOOK_TYPES: readonly MessageHookType[] = Object.values(EVENT_KINDS).flatMap(
  ({ hook }) => hook ?? [],
);
/** What an endpoint can name. */
export const EVERY_HOOK_TYPE: readonly HookType[] = [...HOOK_TYPES, SUBSCRIPTION.hook];

/** The kind of event behind a webhook's type. */
export function kindOf<Type extends HookType>(
  type: Type,
): Type extends MessageHookType ? EventKindName : StoredKind;
export function kindOf(type: HookType): StoredKind {
  if (type === SUBSCRIPTION.hook) return type;
  const found = Object.entries(EVENT_KINDS).find(([, kind]) => kind.hook === type);
  return found![0] as EventKindName;
}
