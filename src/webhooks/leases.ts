// Leases: which endpoints this worker serves, and their due rows. Before: record_events wrote the
// rows. After: worker.ts. One worker serves an endpoint at a time, so its concurrency and its order
// hold over all workers, and claiming writes one row per endpoint instead of one per delivery. When
// a worker dies, its leases end and others take over. The database's clock decides when: processes
// whose clocks differ must not serve an endpoint together.
import { firstUuidAt } from '../ids.ts';
import { among, byShard } from '../store/places.ts';
import type { Database } from '../store/pool.ts';
import type { Health } from './health.ts';

export interface EndpointKey {
  accountId: number;
  endpointUuid: string;
}

export interface LeasedEndpoint extends EndpointKey {
  url: string;
  fifo: boolean;
  /** This and the previous one are sealed (endpoint-secrets.ts). */
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
  /** The most further endpoints to serve. */
  endpoints: number;
  /** How many of them are left for accounts that have none yet. */
  kept: number;
  rowsEach: number;
  /** Endpoints this worker already serves. */
  served: readonly EndpointKey[];
  /** Those among them that need more rows. */
  short: readonly EndpointKey[];
  /** Deliveries of the short ones that are already taken. */
  inHand: readonly string[];
}

const ENDPOINT_COLUMNS = `
  l.account_id AS "accountId", l.id AS "endpointUuid", l.url, l.fifo, l.secret, l.previous_secret AS "previousSecret",
  l.previous_until AS "previousUntil", l.failures, l.failing_since AS "failingSince", l.paused_until AS "pausedUntil"`;

const TAKE_SQL = `
  SELECT account_id AS "accountId", endpoint_id AS "endpointUuid", url, fifo, secret, previous_secret AS "previousSecret",
         previous_until AS "previousUntil", failures, failing_since AS "failingSince", paused_until AS "pausedUntil",
         delivery_id AS "deliveryUuid", message_id AS "messageUuid", event_id AS "eventUuid", attempts, is_due AS "isDue"
  FROM take_webhooks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`;

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
 * Leases further endpoints of a node that have something due, and returns rows for those and the
 * short ones. A short one that is not returned is lost.
 */
export async function takeDue(database: Database, nowMs: number, wanted: Wanted): Promise<Taken[]> {
  const rows = await database.call<TakenRow>('take-webhooks', TAKE_SQL, [
    new Date(nowMs),
    wanted.lease,
    wanted.leaseMs,
    wanted.endpoints,
    wanted.kept,
    wanted.rowsEach,
    wanted.inHand,
    wanted.short.map((key) => key.accountId),
    wanted.short.map((key) => key.endpointUuid),
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
    // Strictly in order: what comes after a row that waits for its retry waits too.
    one.blocked ||= !row.isDue;
    if (one.blocked) continue;
    const { accountId, endpointUuid, deliveryUuid, messageUuid, eventUuid, attempts } = row;
    one.rows.push({ accountId, endpointUuid, deliveryUuid, messageUuid, eventUuid, attempts });
  }
  return [...taken.values()];
}

/**
 * Keeps endpoints from being taken by others, and updates their settings. One that is not returned
 * is lost.
 */
export async function extendLeases(
  all: Database,
  lease: string,
  leaseMs: number,
  held: readonly EndpointKey[],
): Promise<LeasedEndpoint[]> {
  const groups = byShard(all, held, ({ accountId }) => accountId);
  const extended = await Promise.all(
    groups.map((group) => extend(all.near(group[0]!.accountId), lease, leaseMs, group)),
  );
  return extended.flat();
}

async function extend(
  database: Database,
  lease: string,
  leaseMs: number,
  held: readonly EndpointKey[],
): Promise<LeasedEndpoint[]> {
  const accounts = held.map((key) => key.accountId);
  const rows = await database.query<EndpointRow>(
    `UPDATE webhook_endpoints l SET leased_until = now() + $2 * interval '1 millisecond'
     FROM unnest($3::bigint[], $4::uuid[]) AS held (account_id, id)
     WHERE l.account_id = held.account_id AND l.id = held.id AND l.lease = $1 AND l.disabled_at IS NULL
       AND ${among('l.account_id', 5)}
     RETURNING ${ENDPOINT_COLUMNS}`,
    [lease, leaseMs, accounts, held.map((key) => key.endpointUuid), database.home(accounts)],
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

/** How many wait, and how long the oldest that nothing holds back has been due. */
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
