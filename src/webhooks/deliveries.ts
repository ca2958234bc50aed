// The log of deliveries: what was sent where, how often, and what was answered. Written by outcomes.ts, pruned with its partitions.
import { idTimeMs, readUuid, showUuid, uuidToBytes } from '../ids.ts';
import type { Database } from '../store/pool.ts';
import type { DeliveryState } from './attempt.ts';
import { bodyOf, eventIdOf, loadEvents, nameOf } from './event-body.ts';

export interface Delivery {
  id: string;
  endpointId: string;
  eventId: string;
  messageId: string;
  eventType: string;
  state: DeliveryState;
  attempts: number;
  createdAt: string;
  /** When it is tried next, while pending. */
  nextAttemptAt: string | null;
  finishedAt: string | null;
  /** The body of every attempt, byte for byte; null when the event is past its days of retention. */
  request: { body: string } | null;
  /** Of the last attempt; null when there was no answer. */
  response: { status: number; body: string; truncated: boolean } | null;
  error: string | null;
  attemptedAt: string | null;
  durationMs: number | null;
}

export interface DeliveryFilter {
  endpointId?: string;
  state?: DeliveryState;
  /** The id the last page ended with. */
  before?: string;
  limit: number;
}

interface DeliveryRow {
  uuid: string;
  endpointUuid: string;
  messageUuid: string;
  eventUuid: string;
  eventType: string;
  state: DeliveryState;
  attempts: number;
  attemptedAt: Date | null;
  status: number | null;
  response: string | null;
  truncated: boolean;
  error: string | null;
  durationMs: number | null;
  finishedAt: Date | null;
  dueAt: Date | null;
}

/** Newest first. */
export async function listDeliveries(
  database: Database,
  accountId: number,
  filter: DeliveryFilter,
): Promise<Delivery[]> {
  const rows = await database.query<DeliveryRow>(
    `SELECT l.id AS uuid, l.endpoint_id AS "endpointUuid", l.message_id AS "messageUuid", l.event_id AS "eventUuid",
            l.event_type AS "eventType", l.state, l.attempts, l.attempted_at AS "attemptedAt", l.status, l.response,
            l.response_truncated AS truncated, l.error, l.duration_ms AS "durationMs", l.finished_at AS "finishedAt",
            d.due_at AS "dueAt"
     FROM webhook_deliveries l LEFT JOIN webhook_due d
       ON d.account_id = l.account_id AND d.endpoint_id = l.endpoint_id AND d.delivery_id = l.id
     WHERE l.account_id = $1 AND ($2::uuid IS NULL OR l.endpoint_id = $2)
       AND ($3::text IS NULL OR l.state = $3) AND ($4::uuid IS NULL OR l.id < $4)
     ORDER BY l.id DESC LIMIT $5`,
    [
      accountId,
      filter.endpointId === undefined ? null : (readUuid('whe_', filter.endpointId) ?? NOBODY),
      filter.state ?? null,
      filter.before === undefined ? null : (readUuid('whd_', filter.before) ?? NOBODY),
      filter.limit,
    ],
  );
  const keys = rows.map((row) => ({ ...row, accountId }));
  const events = await loadEvents(database, keys);
  return keys.map((row) => {
    const event = events.get(nameOf(row));
    return toDelivery(row, event === undefined ? null : { body: bodyOf(event).toString() });
  });
}

/** Sorts before every id, and is none. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

function toDelivery(row: DeliveryRow, request: Delivery['request']): Delivery {
  return {
    id: showUuid('whd_', row.uuid),
    endpointId: showUuid('whe_', row.endpointUuid),
    eventId: eventIdOf(row.eventUuid),
    messageId: showUuid('msg_', row.messageUuid),
    eventType: row.eventType,
    state: row.state,
    attempts: row.attempts,
    createdAt: new Date(idTimeMs(uuidToBytes(row.uuid))).toISOString(),
    nextAttemptAt: row.dueAt?.toISOString() ?? null,
    finishedAt: row.finishedAt?.toISOString() ?? null,
    request,
    response:
      row.status === null
        ? null
        : { status: row.status, body: row.response ?? '', truncated: row.truncated },
    error: row.error,
    attemptedAt: row.attemptedAt?.toISOString() ?? null,
    durationMs: row.durationMs,
  };
}
