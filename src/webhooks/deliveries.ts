// The log of deliveries: what was sent where, how often, and what was answered. Written by
// outcomes.ts, pruned with its partitions.

import { Problem } from '../errors.ts';
import { firstUuidAt, idTimeMs, readUuid, showUuid, uuidToBytes } from '../ids.ts';
import type { Clock } from '../process/clock.ts';
import type { Database } from '../store/pool.ts';
import type { Vault } from '../store/vault.ts';
import type { DeliveryState } from './delivery-state.ts';
import type { Endpoint } from './endpoint.ts';
import { readSecrets } from './endpoint-secrets.ts';
import { bodyOf, eventIdOf, loadEvents, nameOf } from './event-body.ts';
import { attemptHeaders } from './sign.ts';

export interface Delivery {
  id: string;
  endpointId: string;
  eventId: string;
  /** Null: the event is about no message. */
  messageId: string | null;
  eventType: string;
  state: DeliveryState;
  attempts: number;
  createdAt: string;
  /** Who its event is about; empty if that is past its retention. */
  recipients: string[];
  /** When it is tried next, while pending: no earlier than its endpoint is tried again. */
  nextAttemptAt: string | null;
  finishedAt: string | null;
  /** The body of every attempt, byte for byte; null if the event is past its retention. */
  request: { body: string } | null;
  /** Of the last attempt; null if there was no answer. */
  response: { status: number; body: string; truncated: boolean } | null;
  error: string | null;
  attemptedAt: string | null;
  durationMs: number | null;
}

export interface DeliveryFilter {
  endpointId?: string;
  state?: DeliveryState;
  /** Only those whose last attempt failed: abandoned, or waiting for the next one. */
  failed?: boolean;
  /** The last id on the previous page. */
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

/** $1 is the account; Citus needs it inside too. */
const SELECT_ROWS = `
  SELECT l.id AS uuid, l.endpoint_id AS "endpointUuid", l.message_id AS "messageUuid", l.event_id AS "eventUuid",
         l.event_type AS "eventType", l.state, l.attempts, l.attempted_at AS "attemptedAt", l.status, l.response,
         l.response_truncated AS truncated, l.error, l.duration_ms AS "durationMs", l.finished_at AS "finishedAt",
         (SELECT greatest(d.due_at, w.paused_until) FROM webhook_endpoints w
          WHERE w.account_id = $1 AND w.id = l.endpoint_id AND d.due_at IS NOT NULL) AS "dueAt"
  FROM webhook_deliveries l LEFT JOIN webhook_due d
    ON d.account_id = l.account_id AND d.endpoint_id = l.endpoint_id AND d.delivery_id = l.id`;

/** Newest first. */
export async function listDeliveries(
  database: Database,
  accountId: number,
  filter: DeliveryFilter,
): Promise<Delivery[]> {
  const rows = await database.query<DeliveryRow>(
    `${SELECT_ROWS}
     WHERE l.account_id = $1 AND ($2::uuid IS NULL OR l.endpoint_id = $2)
       AND ($3::text IS NULL OR l.state = $3)
       AND ($6::boolean IS NOT TRUE OR l.state = 'abandoned' OR (l.state = 'pending' AND l.attempts > 0))
       AND ($4::uuid IS NULL OR l.id < $4)
     ORDER BY l.id DESC LIMIT $5`,
    [
      accountId,
      filter.endpointId === undefined ? null : (readUuid('whe_', filter.endpointId) ?? NOBODY),
      filter.state ?? null,
      filter.before === undefined ? null : (readUuid('whd_', filter.before) ?? NOBODY),
      filter.limit,
      filter.failed ?? null,
    ],
  );
  return await withRequests(database, accountId, rows);
}

export async function getDelivery(
  database: Database,
  accountId: number,
  endpointId: string,
  id: string,
): Promise<Delivery> {
  const rows = await database.query<DeliveryRow>(
    `${SELECT_ROWS} WHERE l.account_id = $1 AND l.endpoint_id = $2 AND l.id = $3`,
    [accountId, readUuid('whe_', endpointId) ?? NOBODY, readUuid('whd_', id) ?? NOBODY],
  );
  const [delivery] = await withRequests(database, accountId, rows);
  if (delivery !== undefined) return delivery;
  throw new Problem(
    'not-found',
    `There is no webhook delivery ${id.slice(0, 64)} to ${endpointId.slice(0, 64)} in this account.`,
  );
}

/** The request of the last attempt, signed again; null if the event is past its retention. */
export async function signedRequest(
  { database, vault, clock }: { database: Database; vault: Vault; clock: Clock },
  { accountId, id, url }: Endpoint,
  { request, eventId, attempts, attemptedAt, durationMs }: Delivery,
): Promise<{ url: string; headers: Record<string, string>; body: string } | null> {
  if (request === null) return null;
  // The last attempt as it was sent; if there was none, the first as it will be.
  const nowMs = attemptedAt === null ? clock.nowMs() : Date.parse(attemptedAt) - (durationMs ?? 0);
  const owner = { accountId, endpointUuid: readUuid('whe_', id)! };
  const headers = attemptHeaders({
    eventId,
    attempt: Math.max(1, attempts),
    body: Buffer.from(request.body),
    secrets: await readSecrets(database, vault, owner, nowMs),
    nowMs,
  });
  return { url, headers, body: request.body };
}

/**
 * Of one message, oldest first. A delivery's id has the time of its event (record_events, SQL), so
 * each is searched for in the millisecond of one. Deliveries that a replay made for a later
 * endpoint are not included.
 */
export async function listDeliveriesOfMessage(
  database: Database,
  accountId: number,
  messageUuid: string,
): Promise<Delivery[]> {
  const events = await database.query<{ uuid: string; at: Date }>(
    `SELECT id AS uuid, at FROM events
     WHERE account_id = $1 AND message_id = $2 AND sequence IS NOT NULL ORDER BY at`,
    [accountId, messageUuid],
  );
  if (events.length === 0) return [];
  const [first, last] = [events[0]!.at.getTime(), events.at(-1)!.at.getTime()];
  const rows = await database.query<DeliveryRow>(
    `${SELECT_ROWS}
     JOIN webhook_endpoints w ON w.account_id = l.account_id AND w.id = l.endpoint_id
     JOIN unnest($2::uuid[], $3::uuid[], $4::uuid[]) AS e (id, earliest, latest)
       ON l.event_id = e.id AND l.id >= e.earliest AND l.id < e.latest
     WHERE l.account_id = $1 AND l.id >= $5 AND l.id < $6 ORDER BY l.id`,
    [
      accountId,
      events.map(({ uuid }) => uuid),
      events.map(({ at }) => firstUuidAt(at.getTime())),
      events.map(({ at }) => firstUuidAt(at.getTime() + 1)),
      firstUuidAt(first),
      firstUuidAt(last + 1),
    ],
  );
  return await withRequests(database, accountId, rows);
}

async function withRequests(
  database: Database,
  accountId: number,
  rows: readonly DeliveryRow[],
): Promise<Delivery[]> {
  const keys = rows.map((row) => ({ ...row, accountId }));
  const events = await loadEvents(database, keys);
  return keys.map((row) => {
    const event = events.get(nameOf(row));
    const request = event === undefined ? null : { body: bodyOf(event).toString() };
    return { ...toDelivery(row, request), recipients: event?.recipients ?? [] };
  });
}

/** Sorts before every id, and is not one itself. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

function toDelivery(row: DeliveryRow, request: Delivery['request']): Omit<Delivery, 'recipients'> {
  return {
    id: showUuid('whd_', row.uuid),
    endpointId: showUuid('whe_', row.endpointUuid),
    eventId: eventIdOf(row.eventUuid),
    messageId: row.messageUuid === row.eventUuid ? null : showUuid('msg_', row.messageUuid),
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
