// The timeline: one message's events in the order they were recorded, as the contract shows them.
import type { Database } from '../store/pool.ts';
import { EVENT_KINDS, type EventKindName } from './kinds.ts';

export interface TimelineEvent {
  type: EventKindName;
  /** UTC with microseconds and no zone suffix. */
  timestamp: string;
  [field: string]: unknown;
}

export interface Timeline {
  status: string;
  /** Not handed over before then; null: at once. */
  scheduledAt: Date | null;
  /** Cancelled before any of it was handed over. */
  cancelledAt: Date | null;
  /** A person was asked to approve it, whatever they decided (approvals/). */
  neededApproval: boolean;
  events: TimelineEvent[];
  /** The relays that accepted it. */
  relays: string[];
}

/** For account $1, message $2. */
export const READ_TIMELINE = `SELECT m.status, m.scheduled_at AS "scheduledAt", m.cancelled_at AS "cancelledAt",
         EXISTS (SELECT FROM approvals a WHERE a.account_id = $1 AND a.message_id = $2) AS "neededApproval", e.kind, to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') AS timestamp,
         e.recipients, e.detail
  FROM messages m LEFT JOIN events e ON e.account_id = m.account_id AND e.message_id = m.id AND e.message_id = $2
  WHERE m.account_id = $1 AND m.id = $2
  ORDER BY e.at, e.sequence NULLS FIRST`;

/**
 * Status and events in one statement, so that they never contradict each other. Undefined: no such
 * message.
 */
export async function readTimeline(
  database: Database,
  accountId: number,
  messageUuid: string,
): Promise<Timeline | undefined> {
  const rows = await database.prepared<TimelineRow>('read-timeline', READ_TIMELINE, [
    accountId,
    messageUuid,
  ]);
  if (rows[0] === undefined) return undefined;
  const { status, scheduledAt, cancelledAt, neededApproval } = rows[0];
  const events = rows.filter((row): row is EventRow => row.kind !== null);
  return {
    status,
    scheduledAt,
    cancelledAt,
    neededApproval,
    events: events.map(toEvent),
    relays: [...new Set(events.flatMap(({ detail: { relay } }) => (relay ? [String(relay)] : [])))],
  };
}

interface EventRow extends Omit<Timeline, 'events' | 'relays'> {
  kind: EventKindName;
  timestamp: string;
  recipients: string[];
  detail: Record<string, unknown>;
}

/** A message without events is returned as one row without a kind. */
type TimelineRow = EventRow | (Omit<Timeline, 'events' | 'relays'> & { kind: null });

function toEvent(row: EventRow): TimelineEvent {
  const { relay: _, ...fields } = row.detail;
  return {
    type: row.kind,
    timestamp: row.timestamp,
    ...('recipients' in EVENT_KINDS[row.kind].fields ? { recipients: row.recipients } : {}),
    ...fields,
  };
}
