// Records the outcomes of attempts: log, due rows and the endpoints' health, for many deliveries in
// one statement. Before: attempt.ts. A worker that lost its lease does no harm here: only what it
// delivered is recorded.

import { uuidToBytes } from '../ids.ts';
import { columnList } from '../store/columns.ts';
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

/** What record_webhook_news gets; tests/store/columns.test.ts compares both lists with it. */
export const OUTCOME_COLUMNS = columnList<HookOutcome>({
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

export const CHANGE_COLUMNS = columnList<LaneNews>({
  account_id: { type: 'bigint', of: ({ endpoint }) => endpoint.accountId },
  id: { type: 'uuid', of: ({ endpoint }) => uuidToBytes(endpoint.endpointUuid) },
  failures: { type: 'integer', of: ({ health }) => health?.failures ?? null },
  failing_since: { type: TIME, of: ({ health }) => health?.failingSinceMs ?? null },
  paused_until: { type: TIME, of: ({ health }) => health?.pausedUntilMs ?? null },
  disable: { type: 'text', of: ({ disable }) => disable ?? null },
  release: { type: 'integer', of: ({ release }) => (release ? 1 : 0) },
});

const RECORD_SQL = `SELECT record_webhook_news(
  ${OUTCOME_COLUMNS.asArguments()},
  ${CHANGE_COLUMNS.asArguments(OUTCOME_COLUMNS.length + 1, 'c_')},
  ${['p_earliest', 'p_latest', 'p_lease', 'p_now', 'p_home']
    .map((name, n) => `${name} => $${OUTCOME_COLUMNS.length + CHANGE_COLUMNS.length + n + 1}`)
    .join(', ')})`;

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
  await database.call('record-webhook-news', RECORD_SQL, [
    ...OUTCOME_COLUMNS.values(outcomes),
    ...CHANGE_COLUMNS.values(changesOf(news)),
    sorted[0] ?? NO_DELIVERY,
    sorted.at(-1) ?? NO_DELIVERY,
    lease,
    new Date(nowMs),
    database.home(news.map(({ endpoint }) => endpoint.accountId)),
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
