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
  events: TimelineEvent[];
}

/**
 * Status and events in one statement, so that they never contradict each other. Undefined: no such
 * message.
 */
export async function readTimeline(
  database: Database,
  accountId: number,
  messageUuid: string,
): Promise<Timeline | undefined> {
  const rows = await database.prepared<TimelineRow>(
    'read-timeline',
    `SELECT m.status, e.kind, to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') AS timestamp,
            e.recipients, e.detail
     FROM messages m LEFT JOIN events e ON e.account_id = m.account_id AND e.message_id = m.id AND e.message_id = $2
     WHERE m.account_id = $1 AND m.id = $2
     ORDER BY e.at, e.sequence NULLS FIRST`,
    [accountId, messageUuid],
  );
  if (rows[0] === undefined) return undefined;
  return {
    status: rows[0].status,
    events: rows.filter((row): row is EventRow => row.kind !== null).map(toEvent),
  };
}

interface EventRow {
  status: string;
  kind: EventKindName;
  timestamp: string;
  recipients: string[];
  detail: Record<string, unknown>;
}

/** A message without events comes as one row without a kind. */
type TimelineRow = EventRow | { status: string; kind: null };

function toEvent(row: EventRow): TimelineEvent {
  return {
    type: row.kind,
    timestamp: row.timestamp,
    ...('recipients' in EVENT_KINDS[row.kind].fields ? { recipients: row.recipients } : {}),
    ...row.detail,
  };
}
