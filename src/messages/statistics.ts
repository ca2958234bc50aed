// Statistics: an account's messages over several days, hour by hour or day by day, and what
// happened to them. Before it: operations/usage.ts. After it: volume.ts counts.
import type { Database } from '../store/pool.ts';
import { readVolume, type StatusCounts } from './volume.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Messages, by what happened to them: one that was opened also counts as delivered. */
export interface Figures {
  sends: number;
  delivered: number;
  opened: number;
  clicked: number;
  bounced: number;
  complained: number;
}

export interface Statistics {
  bucket: 'hour' | 'day';
  /** One for each hour or day, oldest first, without gaps; `at` is when it begins. */
  points: (Figures & { at: string })[];
  totals: Figures;
  /** False: a large account whose figures are still being counted; try again in a few seconds. */
  complete: boolean;
}

/** Up to and including the current hour or day; a single day is shown by the hour. */
export async function readStatistics(
  database: Database,
  accountId: number,
  days: number,
  nowMs: number,
): Promise<Statistics> {
  const bucket = days === 1 ? 'hour' : 'day';
  const bucketMs = bucket === 'hour' ? HOUR_MS : DAY_MS;
  const untilMs = (Math.floor(nowMs / bucketMs) + 1) * bucketMs;
  const fromMs = untilMs - days * DAY_MS;
  const { hours, complete } = await readVolume(database, accountId, { fromMs, untilMs }, nowMs);
  const points: Statistics['points'] = [];
  for (let atMs = fromMs; atMs < untilMs; atMs += bucketMs) {
    const within = hours.filter(({ hourMs }) => hourMs >= atMs && hourMs < atMs + bucketMs);
    const figures = sum(within.map(({ counts }) => toFigures(counts)));
    points.push({ at: new Date(atMs).toISOString(), ...figures });
  }
  return { bucket, points, totals: sum(points), complete };
}

/** A status implies all earlier ones: a recipient who complained had the email delivered. */
function toFigures(counts: StatusCounts): Figures {
  const { delivered, opened, clicked, bounced, complained } = counts;
  return {
    sends: Object.values(counts).reduce((total, count) => total + count, 0),
    delivered: delivered + opened + clicked + complained,
    opened: opened + clicked,
    clicked,
    bounced,
    complained,
  };
}

function sum(all: readonly Figures[]): Figures {
  const total = { sends: 0, delivered: 0, opened: 0, clicked: 0, bounced: 0, complained: 0 };
  for (const figures of all) {
    for (const key of Object.keys(total) as (keyof Figures)[]) total[key] += figures[key];
  }
  return total;
}
