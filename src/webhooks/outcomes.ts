// Records the outcomes of attempts: log, due rows and the endpoints' health, for many deliveries in
// one statement. Before: attempt.ts. A worker that lost its lease does no harm here: only what it
// delivered is recorded.

import { uuidToBytes } from '../ids.ts';
import { columnList } from '../store/columns.ts';
import { among } from '../store/places.ts';
import type { Database } from '../store/pool.ts';
import type { HookOutcome } from './attempt.ts';
import type { DisabledReason, Health } from './health.ts';
import { type EndpointKey, type LeasedEndpoint, laneName } from './leases.ts';

export interface LaneNews {
  endpoint: EndpointKey & Pick<LeasedEndpoint, 'fifo'>;
  outcome?: HookOutcome;
  /** If the attempt changed it. */
  health?: Health;
  disable?: DisabledReason;
  /** Nothing is in hand any more: others may serve the endpoint. */
  release: boolean;
}

const TIME = 'timestamp with time zone';

const outcomeColumns = columnList<HookOutcome>({
  account_id: { type: 'bigint', of: ({ delivery }) => delivery.accountId },
  endpoint_id: { type: 'uuid', of: ({ delivery }) => uuidToBytes(delivery.endpointUuid) },
  delivery_id: { type: 'uuid', of: ({ delivery }) => uuidToBytes(delivery.deliveryUuid) },
  state: { type: 'text', of: ({ state }) => state },
  attempts: { type: 'integer', of: ({ attempts }) => attempts },
  due_at: { type: TIME, of: ({ dueAtMs }) => dueAtMs },
  ended_at: { type: TIME, of: ({ endedAtMs }) => endedAtMs },
  status: { type: 'integer', of: ({ result }) => result?.status ?? null },
  response: { type: 'text', of: ({ result }) => result?.responseBody ?? null },
  truncated: { type: 'integer', of: ({ result }) => (result?.responseTruncated ? 1 : 0) },
  error: { type: 'text', of: ({ error }) => error },
  duration_ms: { type: 'integer', of: ({ result }) => result?.durationMs ?? null },
});

const changeColumns = columnList<LaneNews>({
  account_id: { type: 'bigint', of: ({ endpoint }) => endpoint.accountId },
  id: { type: 'uuid', of: ({ endpoint }) => uuidToBytes(endpoint.endpointUuid) },
  failures: { type: 'integer', of: ({ health }) => health?.failures ?? null },
  failing_since: { type: TIME, of: ({ health }) => health?.failingSinceMs ?? null },
  paused_until: { type: TIME, of: ({ health }) => health?.pausedUntilMs ?? null },
  disable: { type: 'text', of: ({ disable }) => disable ?? null },
  release: { type: 'integer', of: ({ release }) => (release ? 1 : 0) },
});

/** $1 and $2: the first and last delivery; $3: the lease; $4: now; $5: the accounts. */
const HOME = 5;
const FIRST_COLUMN = 6;

const RECORD_SQL = `
  WITH outcome AS (
    SELECT * FROM ${outcomeColumns.asRows('o', FIRST_COLUMN)}
  ), finished AS (
    DELETE FROM webhook_due d USING outcome o
    WHERE d.account_id = o.account_id AND d.endpoint_id = o.endpoint_id AND d.delivery_id = o.delivery_id
      AND (o.state = 'delivered' OR o.state = 'abandoned' AND d.attempts <= o.attempts)
      AND ${among('d.account_id', HOME)}
  ), put_off AS (
    UPDATE webhook_due d SET due_at = o.due_at, attempts = o.attempts FROM outcome o
    WHERE d.account_id = o.account_id AND d.endpoint_id = o.endpoint_id AND d.delivery_id = o.delivery_id
      AND o.state = 'pending' AND d.attempts <= o.attempts AND ${among('d.account_id', HOME)}
  ), logged AS (
    UPDATE webhook_deliveries l SET
      state = o.state, attempts = o.attempts, attempted_at = o.ended_at, status = o.status,
      response = o.response, response_truncated = o.truncated = 1, error = o.error, duration_ms = o.duration_ms,
      finished_at = CASE WHEN o.state <> 'pending' THEN o.ended_at END
    FROM outcome o
    WHERE l.account_id = o.account_id AND l.endpoint_id = o.endpoint_id AND l.id = o.delivery_id
      -- The bounds limit the planner to the partitions of these days.
      AND l.id BETWEEN $1 AND $2 AND ${among('l.account_id', HOME)}
      AND (o.state = 'delivered' OR l.state = 'pending' AND l.attempts <= o.attempts)
  )
  UPDATE webhook_endpoints e SET
    failures = coalesce(c.failures, e.failures),
    failing_since = CASE WHEN c.failures IS NULL THEN e.failing_since ELSE c.failing_since END,
    paused_until = CASE WHEN c.failures IS NULL THEN e.paused_until ELSE c.paused_until END,
    disabled_at = coalesce(e.disabled_at, CASE WHEN c.disable IS NOT NULL THEN $4::timestamptz END),
    disabled_reason = coalesce(e.disabled_reason, c.disable),
    lease = CASE WHEN c.release = 0 THEN e.lease END
  FROM ${changeColumns.asRows('c', FIRST_COLUMN + outcomeColumns.length)}
  WHERE e.account_id = c.account_id AND e.id = c.id AND e.lease = $3
    AND ${among('e.account_id', HOME)}`;

/** Not null: a condition that can never be true makes Citus skip the whole statement. */
const NO_DELIVERY = '00000000-0000-0000-0000-000000000000';

export async function recordNews(
  database: Database,
  nowMs: number,
  lease: string,
  news: readonly LaneNews[],
): Promise<void> {
  const outcomes = news.flatMap(({ outcome }) => outcome ?? []);
  const sorted = outcomes.map(({ delivery }) => delivery.deliveryUuid).sort();
  await database.prepared('record-webhook-news', RECORD_SQL, [
    sorted[0] ?? NO_DELIVERY,
    sorted.at(-1) ?? NO_DELIVERY,
    lease,
    new Date(nowMs),
    database.home(news.map(({ endpoint }) => endpoint.accountId)),
    ...outcomeColumns.values(outcomes),
    ...changeColumns.values(changesOf(news)),
  ]);
}

/** One per endpoint: its newest health, and whether anything disabled or released it. */
function changesOf(news: readonly LaneNews[]): LaneNews[] {
  const changes = new Map<string, LaneNews>();
  for (const { endpoint, health, disable, release } of news) {
    if (health === undefined && disable === undefined && !release) continue;
    const name = laneName(endpoint);
    const so = changes.get(name);
    changes.set(name, {
      endpoint,
      release: release || so?.release === true,
      ...((health ?? so?.health) ? { health: health ?? so!.health! } : {}),
      ...((disable ?? so?.disable) ? { disable: disable ?? so!.disable! } : {}),
    });
  }
  return [...changes.values()];
}
