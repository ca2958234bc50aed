// The timeline: one message's events in the order they were recorded, as the contract shows them.
import type { Database } from '../store/pool.ts';
import { EVENT_KINDS, type EventKindName } from './kinds.ts';

export interface TimelineEvent {
  type: EventKindName;
  /** UTC with microseconds and no zone suffix. */
  timestamp: string;
  [field: string]: unknown;
}

export async function readTimeline(
  database: Database,
  accountId: number,
  messageUuid: string,
): Promise<TimelineEvent[]> {
  const rows = await database.prepared<{
    kind: EventKindName;
    timestamp: string;
    recipients: string[];
    detail: Record<string, unknown>;
  }>(
    'read-timeline',
    `SELECT kind, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') AS timestamp, recipients, detail
     FROM events WHERE account_id = $1 AND message_id = $2 ORDER BY at, sequence NULLS FIRST`,
    [accountId, messageUuid],
  );
  return rows.map((row) => ({
    type: row.kind,
    timestamp: row.timestamp,
    ...('recipients' in EVENT_KINDS[row.kind].fields ? { recipients: row.recipients } : {}),
    ...row.detail,
  }));
}
