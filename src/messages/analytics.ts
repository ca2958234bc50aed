// Analytics: what happened to an account's recipients, hour by hour: in total, and by template,
// tag, stream, the receiver's domain or the relay that accepted it; why some bounced, and how long
// delivery took. Before it: operations/usage.ts. After it: kept-hours.ts counts the hours that are
// out of date.
import type { Database } from '../store/pool.ts';
import {
  DAY_MS,
  HOUR_MS,
  type HourTable,
  idHourMs,
  idMs,
  type KeptHour,
  readHours,
} from './kept-hours.ts';
import { DEFAULT_STREAM } from './stream.ts';

/** An hour keeps the largest values of each dimension; tags such as order numbers have no end. */
const MOST_VALUES = 50;

export const DIMENSIONS = ['template', 'tag', 'stream', 'domain', 'relay'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** Recipients, by what happened to their copies: one that was opened also counts as delivered. */
export interface RecipientFigures {
  recipients: number;
  delivered: number;
  opened: number;
  clicked: number;
  bounced: number;
  complained: number;
}

export interface Analytics {
  bucket: 'hour' | 'day';
  /** One for each hour or day, oldest first, without gaps; `at` is when it begins. */
  points: (RecipientFigures & { at: string })[];
  totals: RecipientFigures;
  /** Largest first; empty unless requested. */
  by: (RecipientFigures & { value: string })[];
  /** Why recipients bounced, the most frequent first. */
  reasons: { reason: string; recipients: number }[];
  /** From acceptance to delivery, in seconds: the longest for half, and for 95 of 100. */
  timeToDeliver: { p50: number; p95: number } | null;
  complete: boolean;
}

/** `all`, the dimensions, `reason` and `delay`, each by value. */
type Counts = Record<string, Record<string, RecipientFigures>>;

/** Up to and including the current hour or day; a single day is shown by the hour. */
export async function readAnalytics(
  database: Database,
  accountId: number,
  { days, by }: { days: number; by?: Dimension | undefined },
  nowMs: number,
): Promise<Analytics> {
  const bucket = days === 1 ? 'hour' : 'day';
  const bucketMs = bucket === 'hour' ? HOUR_MS : DAY_MS;
  const untilMs = (Math.floor(nowMs / bucketMs) + 1) * bucketMs;
  const fromMs = untilMs - days * DAY_MS;
  const { hours, complete } = await readHours(
    database,
    RECIPIENTS,
    accountId,
    { fromMs, untilMs },
    nowMs,
  );
  const points: Analytics['points'] = [];
  for (let atMs = fromMs; atMs < untilMs; atMs += bucketMs) {
    const within = hours.filter(({ hourMs }) => hourMs >= atMs && hourMs < atMs + bucketMs);
    const figures = sum(within.map(({ counts }) => counts.all?.[''] ?? NONE));
    points.push({ at: new Date(atMs).toISOString(), ...figures });
  }
  return {
    bucket,
    points,
    totals: sum(points),
    by: by === undefined ? [] : valuesOf(hours, by, ({ recipients }) => recipients),
    reasons: valuesOf(hours, 'reason', ({ bounced }) => bounced).map(({ value, bounced }) => ({
      reason: value,
      recipients: bounced,
    })),
    timeToDeliver: delaysIn(hours),
    complete,
  };
}

function valuesOf(
  hours: readonly KeptHour<Counts>[],
  dimension: string,
  weight: (figures: RecipientFigures) => number,
): Analytics['by'] {
  const values = new Map<string, RecipientFigures[]>();
  for (const { counts } of hours) {
    for (const [value, figures] of Object.entries(counts[dimension] ?? {})) {
      values.set(value, [...(values.get(value) ?? []), figures]);
    }
  }
  return [...values]
    .map(([value, all]) => ({ value, ...sum(all) }))
    .sort((one, other) => weight(other) - weight(one));
}

// ---- How long delivery took ---------------------------------------------------------------------

/** Seconds; a delay is rounded up to the next of these. */
const DELAYS = [
  1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 28_800, 86_400,
];

function delaysIn(hours: readonly KeptHour<Counts>[]): Analytics['timeToDeliver'] {
  const counts = DELAYS.map((_, place) =>
    hours.reduce((total, { counts }) => total + (counts.delay?.[place]?.delivered ?? 0), 0),
  );
  const all = counts.reduce((total, count) => total + count, 0);
  if (all === 0) return null;
  const quantile = (share: number): number => {
    let seen = 0;
    const place = counts.findIndex((count) => {
      seen += count;
      return seen >= all * share;
    });
    return DELAYS[place]!;
  };
  return { p50: quantile(0.5), p95: quantile(0.95) };
}

// ---- Counting -----------------------------------------------------------------------------------

const RECIPIENTS: HourTable<Counts> = {
  table: 'recipient_hours',
  none: () => ({}),
  async count(database, accountId, { first, end }) {
    const rows = await database.query<
      RecipientFigures & { hourMs: number; dimension: string; value: string }
    >(COUNT, [accountId, first, end, DELAYS, MOST_VALUES]);
    const hours = new Map<number, Counts>();
    for (const { hourMs, dimension, value, ...figures } of rows) {
      const counts = hours.get(hourMs) ?? {};
      counts[dimension] = { ...counts[dimension], [value]: figures };
      hours.set(hourMs, counts);
    }
    return hours;
  },
};

const COUNT = `
  WITH told AS MATERIALIZED (
    SELECT e.message_id, lower(r) AS address,
           bool_or(e.kind <> 'sent' AND e.kind <> 'bounced') AS delivered,
           bool_or(e.kind IN ('opened', 'clicked')) AS opened, bool_or(e.kind = 'clicked') AS clicked,
           bool_or(e.kind = 'bounced') AS bounced, bool_or(e.kind = 'complained') AS complained,
           min(e.at) FILTER (WHERE e.kind = 'delivered') AS delivered_at,
           max(e.detail ->> 'reason') FILTER (WHERE e.kind = 'bounced') AS reason,
           max(e.detail ->> 'relay') FILTER (WHERE e.kind = 'sent') AS relay
    FROM events e CROSS JOIN LATERAL unnest(e.recipients) r
    WHERE e.account_id = $1 AND e.message_id >= $2 AND e.message_id < $3
      AND e.kind IN ('sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained')
    GROUP BY 1, 2
  ), copies AS MATERIALIZED (
    SELECT ${idHourMs('m.id')} AS "hourMs", m.template, m.tags,
           coalesce(m.stream, '${DEFAULT_STREAM}') AS stream, split_part(lower(r), '@', -1) AS domain,
           coalesce(t.delivered, false) AS delivered, coalesce(t.opened, false) AS opened,
           coalesce(t.clicked, false) AS clicked, coalesce(t.bounced, false) AS bounced,
           coalesce(t.complained, false) AS complained, t.reason, t.relay,
           extract(epoch FROM t.delivered_at) - ${idMs('m.id')} / 1000.0 AS delay
    FROM messages m CROSS JOIN LATERAL unnest(m.recipients) r
    LEFT JOIN told t ON t.message_id = m.id AND t.address = lower(r)
    WHERE m.account_id = $1 AND m.id >= $2 AND m.id < $3
  ), counted AS (
    SELECT c."hourMs", d.dimension, d.value, count(*) AS recipients,
           count(*) FILTER (WHERE c.delivered AND NOT c.bounced) AS delivered,
           count(*) FILTER (WHERE c.opened) AS opened, count(*) FILTER (WHERE c.clicked) AS clicked,
           count(*) FILTER (WHERE c.bounced) AS bounced, count(*) FILTER (WHERE c.complained) AS complained
    FROM copies c CROSS JOIN LATERAL (
      SELECT 'all', '' UNION ALL SELECT 'template', c.template UNION ALL SELECT 'stream', c.stream
      UNION ALL SELECT 'domain', c.domain UNION ALL SELECT 'tag', tag FROM unnest(c.tags) tag
      UNION ALL SELECT 'reason', c.reason UNION ALL SELECT 'relay', c.relay
      UNION ALL SELECT 'delay',
        least(width_bucket(greatest(c.delay, 0), $4::numeric[]), cardinality($4::numeric[]) - 1)::text WHERE c.delay IS NOT NULL
    ) AS d (dimension, value)
    WHERE d.value IS NOT NULL
    GROUP BY 1, 2, 3
  ), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY "hourMs", dimension ORDER BY recipients DESC, value) AS rank FROM counted
  )
  SELECT "hourMs", dimension, value, recipients, delivered, opened, clicked, bounced, complained
  FROM ranked WHERE rank <= $5`;

const NONE: RecipientFigures = {
  recipients: 0,
  delivered: 0,
  opened: 0,
  clicked: 0,
  bounced: 0,
  complained: 0,
};
const KEYS = Object.keys(NONE) as (keyof RecipientFigures)[];

function sum(all: readonly RecipientFigures[]): RecipientFigures {
  const total = { ...NONE };
  for (const figures of all) for (const key of KEYS) total[key] += figures[key];
  return total;
}
