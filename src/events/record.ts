// Recording events: the event row, status, sequence (and webhook rows) of a whole batch in one
// statement. Called by delivery (sent, bounced), feedback (delivered, bounced, complained) and
// tracking (opened, clicked).
import { hash } from 'node:crypto';
import { newIdBytes } from '../ids.ts';
import { arrayLiteral } from '../store/binary.ts';
import { columnList } from '../store/columns.ts';
import type { Queryable } from '../store/pool.ts';
import { EVENT_KINDS, type EventDetail, type EventKindName } from './kinds.ts';

/** Each kind with its own fields. */
export type NewEvent = {
  [Kind in EventKindName]: EventFrame & { kind: Kind; detail: EventDetail<Kind> };
}[EventKindName];

interface EventFrame {
  accountId: number;
  messageId: Buffer;
  recipients: readonly string[];
  /**
   * Identifies the event when it is reported again, such as a report's identity. Without it, each
   * is new.
   */
  identity?: string;
  /** False if it must not raise the status, as for a click by a scanner. */
  raisesStatus?: boolean;
  /** The relay's own id of the message, if this event revealed it. */
  relayMessageId?: string;
  /**
   * Name of the relay that accepted it, or of several. Stored with the detail, and shown in the
   * full view of a message: the timeline has no such field.
   */
  relay?: string;
}

interface RecordedEvent {
  event: NewEvent;
  nowMs: number;
}

/**
 * The ONE list of what record_events gets for an event; tests/store/columns.test.ts compares it
 * with the function.
 */
export const EVENT_COLUMNS = columnList<RecordedEvent>({
  account_id: { type: 'bigint', of: ({ event }) => event.accountId },
  message_id: { type: 'uuid', of: ({ event }) => event.messageId },
  event_id: { type: 'uuid', of: ({ event, nowMs }) => eventId(event, nowMs) },
  kind: { type: 'text', of: ({ event }) => event.kind },
  status: { type: 'text', of: ({ event }) => (event.raisesStatus === false ? null : event.kind) },
  hook: { type: 'text', of: ({ event }) => EVENT_KINDS[event.kind].hook },
  recipients: { type: 'text', of: ({ event }) => arrayLiteral(event.recipients) },
  detail: { type: 'text', of: ({ event }) => detailJson(event) },
  relay_id: { type: 'text', of: ({ event }) => event.relayMessageId ?? null },
});

/**
 * Records events of accounts of one shard; returns those that were new and whose message exists.
 */
export async function recordEvents<Event extends NewEvent>(
  client: Queryable,
  events: readonly Event[],
  nowMs: number,
): Promise<Event[]> {
  if (events.length === 0) return [];
  const rows = await client.call<{ n: number }>('record-events', RECORD_EVENTS_SQL, [
    ...recordEventsValues(events, nowMs),
    client.home(events.map(({ accountId }) => accountId)),
  ]);
  return rows.map(({ n }) => events[n - 1]!);
}

const RECORD_EVENTS_SQL = `SELECT record_events(
  ${EVENT_COLUMNS.asArguments()}, p_home => $${EVENT_COLUMNS.length + 1}) AS n`;

export function recordEventsValues(events: readonly NewEvent[], nowMs: number): unknown[] {
  return EVENT_COLUMNS.values(events.map((event) => ({ event, nowMs })));
}

function detailJson({ detail: fields, relay }: NewEvent): string {
  const detail = relay === undefined ? fields : { ...fields, relay };
  const json = JSON.stringify(detail);
  // Only characters that are written as escapes can be ones that jsonb refuses.
  if (!json.includes('\\u')) return json;
  return JSON.stringify(detail, (_, value) =>
    typeof value === 'string' ? storable(value) : value,
  );
}

/**
 * Relays and reports may contain anything; PostgreSQL's text and jsonb accept neither NUL nor half
 * a surrogate pair.
 */
export const storable = (text: string): string => Buffer.from(text.replaceAll('\0', '')).toString();

function eventId(event: NewEvent, nowMs: number): Buffer {
  if (event.identity === undefined) return newIdBytes(nowMs);
  // Includes the message: webhook endpoints tell events apart by their id alone.
  const named = Buffer.from(`${event.kind}\0${event.identity}`);
  const digest = hash('sha256', Buffer.concat([event.messageId, named]));
  return Buffer.from(digest.slice(0, 32), 'hex');
}
