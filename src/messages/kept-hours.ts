// Hours of an account that are counted when someone looks, and kept: the older an hour is, the less
// often it is counted again. Sending never writes here. Before it: volume.ts (message_hours) and
// analytics.ts (recipient_hours), which say how to count a span of hours.
import { firstUuidAt } from '../ids.ts';
import type { Database, Queryable } from '../store/pool.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/**
 * Counting a day of a million messages takes about a second; the rest is counted the next time
 * someone looks.
 */
const ENOUGH_MS = 1500;
const COUNTED_AGAIN_AFTER_MS = 10_000;
/** …or when this share of its age has passed since the last count: late opens are few. */
const COUNTED_AGAIN_AFTER_SHARE = 0.05;
/** Charts show this many days, even if messages are kept for fewer. */
const LEAST_DAYS_KEPT = 90;

/** A table of counted hours, with `counts` as JSON. */
export interface HourTable<Counts> {
  table: 'message_hours' | 'recipient_hours';
  /** Counts each hour in which something was sent; `first` and `end` are message ids. */
  count: (
    database: Queryable,
    accountId: number,
    span: { first: string; end: string },
  ) => Promise<ReadonlyMap<number, Counts>>;
  none: () => Counts;
}

export interface KeptHour<Counts> {
  hourMs: number;
  counts: Counts;
  countedAtMs: number;
}

/** Both are full hours. */
export interface Span {
  fromMs: number;
  untilMs: number;
}

/** Oldest first. Incomplete if some hours have not been counted yet. */
export async function readHours<Counts>(
  database: Database,
  kind: HourTable<Counts>,
  accountId: number,
  period: Span,
  nowMs: number,
): Promise<{ hours: KeptHour<Counts>[]; complete: boolean }> {
  const kept = await readKept(database, kind, accountId, period);
  const startedAt = performance.now();
  let complete = true;
  for (const span of staleSpans(kept, period, nowMs)) {
    if (performance.now() - startedAt > ENOUGH_MS) {
      complete = false;
      break;
    }
    for (const hour of await countHours(database, kind, accountId, span, nowMs)) {
      kept.set(hour.hourMs, hour);
    }
  }
  return { hours: [...kept.values()].sort((one, other) => one.hourMs - other.hourMs), complete };
}

async function readKept<Counts>(
  database: Database,
  { table }: HourTable<Counts>,
  accountId: number,
  period: Span,
): Promise<Map<number, KeptHour<Counts>>> {
  const rows = await database.query<{ hour: Date; counts: Counts; countedAt: Date }>(
    `SELECT hour, counts, counted_at AS "countedAt" FROM ${table}
     WHERE account_id = $1 AND hour >= $2 AND hour < $3`,
    [accountId, new Date(period.fromMs), new Date(period.untilMs)],
  );
  return new Map(
    rows.map(({ hour, counts, countedAt }) => [
      hour.getTime(),
      { hourMs: hour.getTime(), counts, countedAtMs: countedAt.getTime() },
    ]),
  );
}

/** Stale hours as spans of at most a day. Newest first, since people look at those first. */
function staleSpans(
  kept: ReadonlyMap<number, KeptHour<unknown>>,
  period: Span,
  nowMs: number,
): Span[] {
  const spans: Span[] = [];
  const last = Math.min(period.untilMs, Math.ceil((nowMs + 1) / HOUR_MS) * HOUR_MS) - HOUR_MS;
  for (let hourMs = last; hourMs >= period.fromMs; hourMs -= HOUR_MS) {
    if (!isStale(kept.get(hourMs), nowMs)) continue;
    const span = spans.at(-1);
    if (span && span.fromMs === hourMs + HOUR_MS && span.untilMs - hourMs <= DAY_MS) {
      span.fromMs = hourMs;
    } else spans.push({ fromMs: hourMs, untilMs: hourMs + HOUR_MS });
  }
  return spans;
}

function isStale(hour: KeptHour<unknown> | undefined, nowMs: number): boolean {
  if (hour === undefined) return true;
  const ageThen = hour.countedAtMs - hour.hourMs - HOUR_MS;
  const goodForMs = Math.max(COUNTED_AGAIN_AFTER_MS, ageThen * COUNTED_AGAIN_AFTER_SHARE);
  return nowMs - hour.countedAtMs > goodForMs;
}

/** Counts and keeps the hours of a span, including those without messages. */
async function countHours<Counts>(
  database: Database,
  { table, count, none }: HourTable<Counts>,
  accountId: number,
  { fromMs, untilMs }: Span,
  nowMs: number,
): Promise<KeptHour<Counts>[]> {
  const ids = { first: firstUuidAt(fromMs), end: firstUuidAt(untilMs) };
  const counted = await count(database, accountId, ids);
  const hours: KeptHour<Counts>[] = [];
  for (let hourMs = fromMs; hourMs < untilMs; hourMs += HOUR_MS) {
    hours.push({ hourMs, counts: counted.get(hourMs) ?? none(), countedAtMs: nowMs });
  }
  await database.query(
    `INSERT INTO ${table} (account_id, hour, counts, counted_at)
     SELECT $1, h.hour, h.counts::jsonb, $4 FROM unnest($2::timestamptz[], $3::text[]) AS h (hour, counts)
     ON CONFLICT (account_id, hour) DO UPDATE SET counts = excluded.counts, counted_at = excluded.counted_at`,
    [
      accountId,
      hours.map(({ hourMs }) => new Date(hourMs)),
      hours.map(({ counts }) => JSON.stringify(counts)),
      new Date(nowMs),
    ],
  );
  return hours;
}

/** SQL: when a message was accepted. The first 48 bits of its id are its time in milliseconds. */
export const idMs = (id: string): string =>
  `('x' || substr(replace(${id}::text, '-', ''), 1, 12))::bit(48)::bigint`;
export const idHourMs = (id: string): string => `(${idMs(id)} / ${HOUR_MS}) * ${HOUR_MS}`;

/** Deletes the hours of messages that are gone; called by maintenance. */
export async function pruneHours(database: Database, retentionDays: number): Promise<void> {
  for (const table of ['message_hours', 'recipient_hours'] satisfies HourTable<never>['table'][]) {
    await database.query(`DELETE FROM ${table} WHERE hour < now() - $1 * interval '1 day'`, [
      Math.max(retentionDays, LEAST_DAYS_KEPT),
    ]);
  }
}
