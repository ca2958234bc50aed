// Volume: how many messages an account sent in each hour and what became of them, for charts.
// Counted when somebody looks and kept (message_hours): the longer ago an hour is, the less often
// it is counted again. Sending never writes here.
import { firstUuidAt } from '../ids.ts';
import type { Database } from '../store/pool.ts';
import { type MessageStatus, STATUSES } from './status.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/**
 * Counting a day of a million messages takes about a second; what is not done by then is done when
 * somebody looks again.
 */
const ENOUGH_MS = 1500;
const COUNTED_AGAIN_AFTER_MS = 10_000;
/** …or when this share of its age has passed since the last count: late opens are few. */
const COUNTED_AGAIN_AFTER_SHARE = 0.05;

/** By name: what was counted stays true when a status is added. */
export type StatusCounts = Record<MessageStatus, number>;

export interface HourVolume {
  hourMs: number;
  counts: StatusCounts;
}

export interface Volume {
  /** Hours in which something was sent, oldest first. */
  hours: HourVolume[];
  /** False: some hours were not counted yet. */
  complete: boolean;
}

interface KeptHour {
  hourMs: number;
  /** Only the statuses that occurred. */
  counts: Partial<StatusCounts>;
  countedAtMs: number;
}

/** `fromMs` and `untilMs` are full hours. */
export async function readVolume(
  database: Database,
  accountId: number,
  period: { fromMs: number; untilMs: number },
  nowMs: number,
): Promise<Volume> {
  const kept = await readKept(database, accountId, period);
  const startedAt = performance.now();
  let complete = true;
  for (const span of staleSpans(kept, period, nowMs)) {
    if (performance.now() - startedAt > ENOUGH_MS) {
      complete = false;
      break;
    }
    for (const hour of await countHours(database, accountId, span, nowMs)) {
      kept.set(hour.hourMs, hour);
    }
  }
  const hours = [...kept.values()]
    .filter(({ counts }) => Object.keys(counts).length > 0)
    .sort((one, other) => one.hourMs - other.hourMs)
    .map(({ hourMs, counts }) => ({ hourMs, counts: { ...NONE, ...counts } }));
  return { hours, complete };
}

interface Span {
  fromMs: number;
  untilMs: number;
}

/** Stale hours as spans of at most a day, newest first. */
function staleSpans(kept: Map<number, KeptHour>, period: Span, nowMs: number): Span[] {
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

function isStale(hour: KeptHour | undefined, nowMs: number): boolean {
  if (hour === undefined) return true;
  const ageThen = hour.countedAtMs - hour.hourMs - HOUR_MS;
  const goodForMs = Math.max(COUNTED_AGAIN_AFTER_MS, ageThen * COUNTED_AGAIN_AFTER_SHARE);
  return nowMs - hour.countedAtMs > goodForMs;
}

async function readKept(
  database: Database,
  accountId: number,
  period: Span,
): Promise<Map<number, KeptHour>> {
  const rows = await database.query<{ hour: Date; counts: Partial<StatusCounts>; countedAt: Date }>(
    `SELECT hour, counts, counted_at AS "countedAt" FROM message_hours
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

/** Counts and keeps the hours of a span, those without messages too. */
async function countHours(
  database: Database,
  accountId: number,
  span: Span,
  nowMs: number,
): Promise<KeptHour[]> {
  const rows = await database.query<{ hourMs: number; status: MessageStatus; count: number }>(
    // The first 48 bits of an id are its time in milliseconds.
    `SELECT (('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint / ${HOUR_MS}) * ${HOUR_MS} AS "hourMs",
            status, count(*) AS count
     FROM messages WHERE account_id = $1 AND id >= $2 AND id < $3 GROUP BY 1, 2`,
    [accountId, firstUuidAt(span.fromMs), firstUuidAt(span.untilMs)],
  );
  const hours: KeptHour[] = [];
  for (let hourMs = span.fromMs; hourMs < span.untilMs; hourMs += HOUR_MS) {
    const seen = rows.filter((row) => row.hourMs === hourMs);
    const counts = Object.fromEntries(seen.map(({ status, count }) => [status, count]));
    hours.push({ hourMs, counts, countedAtMs: nowMs });
  }
  await database.query(
    `INSERT INTO message_hours (account_id, hour, counts, counted_at)
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

const NONE = Object.fromEntries(STATUSES.map((status) => [status, 0])) as StatusCounts;

/** Hours of messages that are gone; called by maintenance. */
export async function pruneVolume(database: Database, retentionDays: number): Promise<void> {
  await database.query(`DELETE FROM message_hours WHERE hour < now() - $1 * interval '1 day'`, [
    Math.max(retentionDays, 90),
  ]);
}
