// What happened to an account's email at each receiver, day by day, with the words of refusals.
// Counted from the events when someone looks, and kept (receiver_days): the older a day is, the
// less often it is counted again. Sending never writes here. Before it: operations/receivers.ts.
import { firstUuidAt } from '../ids.ts';
import type { Database, Queryable } from '../store/pool.ts';
import { RECEIVER_OF } from './receiver-groups.ts';

const DAY_MS = 86_400_000;
/** What is not counted by then is counted the next time someone looks. */
const ENOUGH_MS = 2000;
const COUNTED_AGAIN_AFTER_MS = 30_000;
const COUNTED_AGAIN_AFTER_SHARE = 0.05;
/** A receiver has many wordings for the same refusal: the most frequent are kept. */
const MOST_WORDS = 10;
const LONGEST_WORDS = 200;

/** Recipients, not messages: each recipient has their own receiver. */
export interface ReceiverFigures {
  delivered: number;
  /** Recipients for whom the relay reported a delay; most were delivered later. */
  deferred: number;
  bounced: number;
  complained: number;
}

export interface Refusal {
  words: string;
  count: number;
}

interface ReceiverDay extends ReceiverFigures {
  refusals: Refusal[];
}

type Day = Record<string, ReceiverDay>;

export interface ReceiverStatistics extends ReceiverDay {
  receiver: string;
  /** Oldest first, without gaps; `at` is when the day begins. */
  points: (ReceiverFigures & { at: string })[];
}

/** The receiver with most email first, up to and including today. */
export async function readReceivers(
  database: Database,
  accountId: number,
  days: number,
  nowMs: number,
): Promise<{ receivers: ReceiverStatistics[]; complete: boolean }> {
  const untilMs = (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS;
  const fromMs = untilMs - days * DAY_MS;
  const kept = await readKept(database, accountId, fromMs, untilMs);
  const startedAt = performance.now();
  let complete = true;
  for (let dayMs = untilMs - DAY_MS; dayMs >= fromMs; dayMs -= DAY_MS) {
    if (!isStale(kept.get(dayMs), dayMs, nowMs)) continue;
    if (performance.now() - startedAt > ENOUGH_MS) {
      complete = false;
      break;
    }
    const counts = await countDay(database, accountId, dayMs, nowMs);
    kept.set(dayMs, { counts, countedAtMs: nowMs });
  }
  const all = new Map<number, Day>([...kept].map(([dayMs, { counts }]) => [dayMs, counts]));
  return { receivers: sumUp(all, fromMs, untilMs), complete };
}

interface Kept {
  counts: Day;
  countedAtMs: number;
}

function isStale(day: Kept | undefined, dayMs: number, nowMs: number): boolean {
  if (day === undefined) return true;
  const ageThen = day.countedAtMs - dayMs - DAY_MS;
  const goodForMs = Math.max(COUNTED_AGAIN_AFTER_MS, ageThen * COUNTED_AGAIN_AFTER_SHARE);
  return nowMs - day.countedAtMs > goodForMs;
}

async function readKept(
  database: Queryable,
  accountId: number,
  fromMs: number,
  untilMs: number,
): Promise<Map<number, Kept>> {
  const rows = await database.query<{ day: Date; counts: Day; countedAt: Date }>(
    `SELECT day, counts, counted_at AS "countedAt" FROM receiver_days
     WHERE account_id = $1 AND day >= $2 AND day < $3`,
    [accountId, new Date(fromMs), new Date(untilMs)],
  );
  return new Map(
    rows.map(({ day, counts, countedAt }) => [
      day.getTime(),
      { counts, countedAtMs: countedAt.getTime() },
    ]),
  );
}

/** By the time the email was sent. Receivers never saw what we held back ourselves. */
const COUNT = `
  WITH told AS (
    SELECT e.kind, lower(split_part(r.address, '@', 2)) AS domain,
           lower(left(e.detail ->> 'remote_mta', 255)) AS host,
           CASE WHEN e.kind = 'bounced' THEN left(e.detail ->> 'smtp_response', ${LONGEST_WORDS}) END AS words
    FROM events e CROSS JOIN unnest(e.recipients) AS r (address)
    WHERE e.account_id = $1 AND e.message_id >= $2 AND e.message_id < $3
      AND (e.kind IN ('delivered', 'complained')
           OR e.kind = 'bounced' AND e.detail ->> 'bounce_type' <> 'suppressed')
    UNION ALL
    SELECT 'deferred', lower(split_part(r.address, '@', 2)), NULL, NULL
    FROM messages m CROSS JOIN jsonb_array_elements_text(m.last_delay -> 'recipients') AS r (address)
    WHERE m.account_id = $1 AND m.id >= $2 AND m.id < $3 AND m.last_delay IS NOT NULL)
  SELECT ${RECEIVER_OF} AS receiver, kind, words, count(*) AS count
  FROM told GROUP BY 1, 2, 3 ORDER BY 4 DESC LIMIT 5000`;

async function countDay(
  database: Queryable,
  accountId: number,
  dayMs: number,
  nowMs: number,
): Promise<Day> {
  const rows = await database.query<{
    receiver: string;
    kind: keyof ReceiverFigures;
    words: string | null;
    count: number;
  }>(COUNT, [accountId, firstUuidAt(dayMs), firstUuidAt(dayMs + DAY_MS)]);
  const day: Day = {};
  for (const { receiver, kind, words, count } of rows) {
    day[receiver] ??= nothing();
    const of = day[receiver];
    of[kind] += Number(count);
    if (words) addRefusal(of.refusals, words, Number(count));
  }
  await database.query(
    `INSERT INTO receiver_days (account_id, day, counts, counted_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (account_id, day) DO UPDATE SET counts = excluded.counts, counted_at = excluded.counted_at`,
    [accountId, new Date(dayMs), JSON.stringify(day), new Date(nowMs)],
  );
  return day;
}

const nothing = (): ReceiverDay => ({
  ...{ delivered: 0, deferred: 0, bounced: 0, complained: 0 },
  refusals: [],
});

function addRefusal(refusals: Refusal[], words: string, count: number): void {
  const known = refusals.find((it) => it.words === words);
  if (known !== undefined) known.count += count;
  else if (refusals.length < MOST_WORDS) refusals.push({ words, count });
}

function sumUp(days: ReadonlyMap<number, Day>, fromMs: number, untilMs: number) {
  const receivers = new Map<string, ReceiverStatistics>();
  for (const receiver of new Set([...days.values()].flatMap((day) => Object.keys(day)))) {
    const total = { receiver, ...nothing(), points: [] as ReceiverStatistics['points'] };
    for (let dayMs = fromMs; dayMs < untilMs; dayMs += DAY_MS) {
      const { refusals, ...figures } = days.get(dayMs)?.[receiver] ?? nothing();
      total.points.push({ at: new Date(dayMs).toISOString(), ...figures });
      for (const key of Object.keys(figures) as (keyof ReceiverFigures)[]) {
        total[key] += figures[key];
      }
      for (const { words, count } of refusals) addRefusal(total.refusals, words, count);
    }
    total.refusals.sort((one, other) => other.count - one.count);
    receivers.set(receiver, total);
  }
  const size = ({ delivered, bounced }: ReceiverFigures) => delivered + bounced;
  return [...receivers.values()].sort((one, other) => size(other) - size(one));
}

/** Deletes the days of messages that are gone; called by maintenance. */
export async function pruneReceivers(database: Queryable, retentionDays: number): Promise<void> {
  await database.query(`DELETE FROM receiver_days WHERE day < now() - $1 * interval '1 day'`, [
    Math.max(retentionDays, 90),
  ]);
}
