// Recording what came of attempts: log, due rows and the endpoints' health, for many deliveries in
// one statement. Before: attempt.ts. A worker that lost its lease does no harm here: what was
// delivered is delivered, the rest is no longer its to say.

import { uuidToBytes } from '../ids.ts';
import { int4Array, int8Array, textArray, uuidArray } from '../store/binary.ts';
import type { Database } from '../store/pool.ts';
import type { HookOutcome } from './attempt.ts';
import type { DisabledReason, Health } from './health.ts';
import { type EndpointKey, laneName } from './leases.ts';

export interface LaneNews {
  endpoint: EndpointKey;
  outcome?: HookOutcome;
  /** When the attempt changed it. */
  health?: Health;
  disable?: DisabledReason;
  /** Nothing is in hand any more: others may serve the endpoint. */
  release: boolean;
}

const RECORD_SQL = `
  WITH outcome AS (
    SELECT * FROM unnest($3::bigint[], $4::uuid[], $5::uuid[], $6::text[], $7::integer[], $8::text[], $9::text[],
                         $10::integer[], $11::text[], $12::integer[], $13::text[], $14::integer[])
      AS o (account_id, endpoint_id, delivery_id, state, attempts, due_at, ended_at,
            status, response, truncated, error, duration_ms)
  ), finished AS (
    DELETE FROM webhook_due d USING outcome o
    WHERE d.account_id = o.account_id AND d.endpoint_id = o.endpoint_id AND d.delivery_id = o.delivery_id
      AND (o.state = 'delivered' OR o.state = 'abandoned' AND d.attempts <= o.attempts)
  ), put_off AS (
    UPDATE webhook_due d SET due_at = o.due_at::timestamptz, attempts = o.attempts FROM outcome o
    WHERE d.account_id = o.account_id AND d.endpoint_id = o.endpoint_id AND d.delivery_id = o.delivery_id
      AND o.state = 'pending' AND d.attempts <= o.attempts
  ), logged AS (
    UPDATE webhook_deliveries l SET
      state = o.state, attempts = o.attempts, attempted_at = o.ended_at::timestamptz, status = o.status,
      response = o.response, response_truncated = o.truncated = 1, error = o.error, duration_ms = o.duration_ms,
      finished_at = CASE WHEN o.state <> 'pending' THEN o.ended_at::timestamptz END
    FROM outcome o
    WHERE l.account_id = o.account_id AND l.endpoint_id = o.endpoint_id AND l.id = o.delivery_id
      -- The bounds keep the planner to the partitions of these days.
      AND l.id BETWEEN $1 AND $2
      AND (o.state = 'delivered' OR l.state = 'pending' AND l.attempts <= o.attempts)
  )
  UPDATE webhook_endpoints e SET
    failures = coalesce(c.failures, e.failures),
    failing_since = CASE WHEN c.failures IS NULL THEN e.failing_since ELSE c.failing_since::timestamptz END,
    paused_until = CASE WHEN c.failures IS NULL THEN e.paused_until ELSE c.paused_until::timestamptz END,
    disabled_at = coalesce(e.disabled_at, CASE WHEN c.disable IS NOT NULL THEN $16::timestamptz END),
    disabled_reason = coalesce(e.disabled_reason, c.disable),
    lease = CASE WHEN c.release = 0 THEN e.lease END
  FROM unnest($17::bigint[], $18::uuid[], $19::integer[], $20::text[], $21::text[], $22::text[], $23::integer[])
    AS c (account_id, id, failures, failing_since, paused_until, disable, release)
  WHERE e.account_id = c.account_id AND e.id = c.id AND e.lease = $15`;

export async function recordNews(
  database: Database,
  nowMs: number,
  lease: string,
  news: readonly LaneNews[],
): Promise<void> {
  const outcomes = news.flatMap(({ outcome }) => outcome ?? []);
  const deliveries = outcomes.map(({ delivery }) => delivery);
  const sorted = deliveries.map((delivery) => delivery.deliveryUuid).sort();
  const changes = changesOf(news);
  await database.prepared('record-webhook-news', RECORD_SQL, [
    sorted[0] ?? null,
    sorted.at(-1) ?? null,
    int8Array(deliveries.map((delivery) => delivery.accountId)),
    uuidArray(deliveries.map((delivery) => uuidToBytes(delivery.endpointUuid))),
    uuidArray(deliveries.map((delivery) => uuidToBytes(delivery.deliveryUuid))),
    textArray(outcomes.map(({ state }) => state)),
    int4Array(outcomes.map(({ attempts }) => attempts)),
    textArray(outcomes.map(({ dueAtMs }) => iso(dueAtMs))),
    textArray(outcomes.map(({ endedAtMs }) => iso(endedAtMs))),
    int4Array(outcomes.map(({ result }) => result?.status ?? null)),
    textArray(outcomes.map(({ result }) => result?.responseBody ?? null)),
    int4Array(outcomes.map(({ result }) => (result?.responseTruncated ? 1 : 0))),
    textArray(outcomes.map(({ error }) => error)),
    int4Array(outcomes.map(({ result }) => result?.durationMs ?? null)),
    lease,
    new Date(nowMs),
    int8Array(changes.map(({ endpoint }) => endpoint.accountId)),
    uuidArray(changes.map(({ endpoint }) => uuidToBytes(endpoint.endpointUuid))),
    int4Array(changes.map(({ health }) => health?.failures ?? null)),
    textArray(changes.map(({ health }) => iso(health?.failingSinceMs ?? null))),
    textArray(changes.map(({ health }) => iso(health?.pausedUntilMs ?? null))),
    textArray(changes.map(({ disable }) => disable ?? null)),
    int4Array(changes.map(({ release }) => (release ? 1 : 0))),
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

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
