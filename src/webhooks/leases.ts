// Leases: which endpoints this worker serves, and their due rows. Before: record_events wrote the
// rows. After: worker.ts. One worker serves an endpoint at a time, so its concurrency and its order
// hold over all workers, and claiming writes one row per endpoint instead of one per delivery. When
// a worker dies, its leases end and others go on. The database's clock decides when: processes
// whose clocks differ must not serve an endpoint together.
import { firstUuidAt } from '../ids.ts';
import type { Database } from '../store/pool.ts';
import type { Health } from './health.ts';

export interface EndpointKey {
  accountId: number;
  endpointUuid: string;
}

export interface LeasedEndpoint extends EndpointKey {
  url: string;
  fifo: boolean;
  /** Both sealed (endpoint-secrets.ts). */
  secret: Buffer;
  previousSecret: Buffer | null;
  previousUntilMs: number | null;
  health: Health;
}

export interface DueDelivery {
  accountId: number;
  endpointUuid: string;
  deliveryUuid: string;
  messageUuid: string;
  eventUuid: string;
  /** Made so far. */
  attempts: number;
}

export interface Taken {
  endpoint: LeasedEndpoint;
  rows: DueDelivery[];
}

export interface Wanted {
  lease: string;
  leaseMs: number;
  /** Further endpoints to serve, at most. */
  endpoints: number;
  rowsEach: number;
  /** Endpoints this worker serves already. */
  served: readonly EndpointKey[];
  /** Those among them that could do with more rows. */
  short: readonly EndpointKey[];
  /** Deliveries of the short ones that are taken already. */
  inHand: readonly string[];
}

const ENDPOINT_COLUMNS = `
  l.account_id AS "accountId", l.id AS "endpointUuid", l.url, l.fifo, l.secret, l.previous_secret AS "previousSecret",
  l.previous_until AS "previousUntil", l.failures, l.failing_since AS "failingSince", l.paused_until AS "pausedUntil"`;

// `waiting` jumps through the index from endpoint to endpoint: one probe each, which also tells its
// earliest time, however long the backlogs are. Who was served longest ago comes first. Planned
// anew each time: a plan made for an empty table would not do for a backlog.
const TAKE_SQL = `
  WITH RECURSIVE waiting AS (
    (SELECT d.account_id, d.endpoint_id, d.due_at FROM webhook_due d
     ORDER BY d.account_id, d.endpoint_id, d.due_at LIMIT 1)
    UNION ALL
    SELECT next.* FROM waiting w CROSS JOIN LATERAL (
      SELECT d.account_id, d.endpoint_id, d.due_at FROM webhook_due d
      WHERE (d.account_id, d.endpoint_id) > (w.account_id, w.endpoint_id)
      ORDER BY d.account_id, d.endpoint_id, d.due_at LIMIT 1) next
  ), ready AS (
    SELECT e.account_id, e.id
    FROM waiting w JOIN webhook_endpoints e ON e.account_id = w.account_id AND e.id = w.endpoint_id
    WHERE w.due_at <= $1
      AND e.disabled_at IS NULL
      AND (e.paused_until IS NULL OR e.paused_until <= $1)
      AND (e.lease IS NULL OR e.leased_until <= now())
      AND (e.account_id, e.id) NOT IN (SELECT * FROM unnest($9::bigint[], $10::uuid[]))
      AND (NOT e.fifo OR $1 >= (
        SELECT d.due_at FROM webhook_due d
        WHERE d.account_id = e.account_id AND d.endpoint_id = e.id ORDER BY d.delivery_id LIMIT 1))
    ORDER BY e.leased_until NULLS FIRST
    LIMIT $4
    FOR UPDATE OF e SKIP LOCKED
  ), leased AS (
    UPDATE webhook_endpoints e SET lease = $2, leased_until = now() + $3 * interval '1 millisecond'
    FROM ready r WHERE e.account_id = r.account_id AND e.id = r.id
    RETURNING e.*
  ), lanes AS (
    SELECT * FROM leased
    UNION ALL
    SELECT e.* FROM unnest($5::bigint[], $6::uuid[]) AS short (account_id, id)
    JOIN webhook_endpoints e ON e.account_id = short.account_id AND e.id = short.id
    WHERE e.lease = $2 AND e.disabled_at IS NULL
  )
  SELECT ${ENDPOINT_COLUMNS}, d.delivery_id AS "deliveryUuid", d.message_id AS "messageUuid", d.event_id AS "eventUuid",
         d.attempts, d.due_at <= $1 AS "isDue"
  FROM lanes l LEFT JOIN LATERAL (
    (SELECT * FROM webhook_due d
     WHERE NOT l.fifo AND d.account_id = l.account_id AND d.endpoint_id = l.id
       AND d.due_at <= $1 AND d.delivery_id <> ALL ($7::uuid[])
     ORDER BY d.due_at LIMIT $8)
    UNION ALL
    (SELECT * FROM webhook_due d
     WHERE l.fifo AND d.account_id = l.account_id AND d.endpoint_id = l.id AND d.delivery_id <> ALL ($7::uuid[])
     ORDER BY d.delivery_id LIMIT $8)
  ) d ON true`;

interface EndpointRow extends EndpointKey {
  url: string;
  fifo: boolean;
  secret: Buffer;
  previousSecret: Buffer | null;
  previousUntil: Date | null;
  failures: number;
  failingSince: Date | null;
  pausedUntil: Date | null;
}

interface TakenRow extends EndpointRow {
  deliveryUuid: string | null;
  messageUuid: string;
  eventUuid: string;
  attempts: number;
  isDue: boolean;
}

/**
 * Leases further endpoints that have something due, and answers rows of those and of the short
 * ones. A short one that is not answered is lost.
 */
export async function takeDue(database: Database, nowMs: number, wanted: Wanted): Promise<Taken[]> {
  const rows = await database.query<TakenRow>(TAKE_SQL, [
    new Date(nowMs),
    wanted.lease,
    wanted.leaseMs,
    wanted.endpoints,
    wanted.short.map((key) => key.accountId),
    wanted.short.map((key) => key.endpointUuid),
    wanted.inHand,
    wanted.rowsEach,
    wanted.served.map((key) => key.accountId),
    wanted.served.map((key) => key.endpointUuid),
  ]);
  const taken = new Map<string, Taken & { blocked: boolean }>();
  for (const row of rows) {
    const key = laneName(row);
    let one = taken.get(key);
    if (one === undefined) {
      one = { endpoint: toEndpoint(row), rows: [], blocked: false };
      taken.set(key, one);
    }
    if (row.deliveryUuid === null) continue;
    // In order means in order: what stands behind a row that waits for its retry waits too.
    one.blocked ||= !row.isDue;
    if (one.blocked) continue;
    const { accountId, endpointUuid, deliveryUuid, messageUuid, eventUuid, attempts } = row;
    one.rows.push({ accountId, endpointUuid, deliveryUuid, messageUuid, eventUuid, attempts });
  }
  return [...taken.values()];
}

/**
 * Keeps endpoints from being taken by others, and brings their settings up to date. One that is not
 * answered is lost.
 */
export async function extendLeases(
  database: Database,
  lease: string,
  leaseMs: number,
  held: readonly EndpointKey[],
): Promise<LeasedEndpoint[]> {
  const rows = await database.query<EndpointRow>(
    `UPDATE webhook_endpoints l SET leased_until = now() + $2 * interval '1 millisecond'
     FROM unnest($3::bigint[], $4::uuid[]) AS held (account_id, id)
     WHERE l.account_id = held.account_id AND l.id = held.id AND l.lease = $1 AND l.disabled_at IS NULL
     RETURNING ${ENDPOINT_COLUMNS}`,
    [lease, leaseMs, held.map((key) => key.accountId), held.map((key) => key.endpointUuid)],
  );
  return rows.map(toEndpoint);
}

export const laneName = (key: EndpointKey): string => `${key.accountId} ${key.endpointUuid}`;

function toEndpoint(row: EndpointRow): LeasedEndpoint {
  return {
    accountId: row.accountId,
    endpointUuid: row.endpointUuid,
    url: row.url,
    fifo: row.fifo,
    secret: row.secret,
    previousSecret: row.previousSecret,
    previousUntilMs: row.previousUntil?.getTime() ?? null,
    health: {
      failures: row.failures,
      failingSinceMs: row.failingSince?.getTime() ?? null,
      pausedUntilMs: row.pausedUntil?.getTime() ?? null,
    },
  };
}

export interface DueState {
  depth: number;
  ageSeconds: number;
}

/** What waits, and for how long the oldest that nothing holds back has been due. */
export async function dueState(database: Database, nowMs: number): Promise<DueState> {
  const [row] = await database.query<{ depth: number; age: number | null }>(
    `SELECT count(*) AS depth, extract(epoch FROM $1::timestamptz - min(d.due_at)
         FILTER (WHERE d.due_at <= $1 AND e.disabled_at IS NULL AND coalesce(e.paused_until <= $1, true)))::float8 AS age
     FROM webhook_due d JOIN webhook_endpoints e ON e.account_id = d.account_id AND e.id = d.endpoint_id`,
    [new Date(nowMs)],
  );
  return { depth: row?.depth ?? 0, ageSeconds: row?.age ?? 0 };
}

/**
 * Rows that waited for an endpoint until their log was dropped. Everything else is deleted when it
 * is finished.
 */
export async function pruneDue(
  database: Database,
  nowMs: number,
  retentionDays: number,
): Promise<void> {
  await database.query('DELETE FROM webhook_due WHERE delivery_id < $1', [
    firstUuidAt((Math.floor(nowMs / DAY_MS) - retentionDays) * DAY_MS),
  ]);
}

const DAY_MS = 86_400_000;
