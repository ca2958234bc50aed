// Whether the clock can be trusted with what cannot be undone: old data is dropped only after the
// clock, as maintenance saw it run by run, has run for a week without a jump. Before it:
// roles/maintenance.ts and `sandmartin doctor` ask.
//
// A service that was off for a long time looks the same as a clock that was set ahead. Both wait
// the week: data that stays a little longer can still be dropped, data that is gone is gone.
import type { Database } from './pool.ts';

const MOST_AHEAD_HOURS = 48;
const MOST_BACK_HOURS = 1;
const STEADY_FOR_DAYS = 7;

export interface ClockHistory {
  /** Old data may be dropped. */
  steady: boolean;
  /** The clock just before and just after the last jump; null: none is known. */
  jump: { from: Date; to: Date } | null;
  /** This run found it. */
  jumpedNow: boolean;
  /** When it is trusted again. */
  trustedFrom: Date;
}

interface Row {
  lastRunAt: Date;
  steadySince: Date;
  jumpedFrom: Date | null;
}

const COLUMNS =
  'last_run_at AS "lastRunAt", steady_since AS "steadySince", jumped_from AS "jumpedFrom"';

/** Records a run and returns how the clock has run since the earlier runs, of any process. */
export async function noteRun(database: Database, nowMs: number): Promise<ClockHistory> {
  const [row] = await database.query<Row>(
    `INSERT INTO maintenance_runs AS r (last_run_at, steady_since) VALUES ($1, $1)
     ON CONFLICT (only_one) DO UPDATE SET
       last_run_at = excluded.last_run_at,
       (steady_since, jumped_from) = (
         SELECT CASE WHEN steady THEN r.steady_since ELSE excluded.last_run_at END,
                CASE WHEN steady THEN r.jumped_from ELSE r.last_run_at END
         FROM (SELECT excluded.last_run_at BETWEEN r.last_run_at - interval '${MOST_BACK_HOURS} hours'
                                               AND r.last_run_at + interval '${MOST_AHEAD_HOURS} hours' AS steady) AS clock)
     RETURNING ${COLUMNS}`,
    [new Date(nowMs)],
  );
  return toHistory(row!, nowMs);
}

/** The same without recording a run; undefined: maintenance never ran. */
export async function readClockHistory(
  database: Database,
  nowMs: number,
): Promise<ClockHistory | undefined> {
  const [row] = await database.query<Row>(`SELECT ${COLUMNS} FROM maintenance_runs`);
  return row && toHistory(row, nowMs);
}

function toHistory({ lastRunAt, steadySince, jumpedFrom }: Row, nowMs: number): ClockHistory {
  const trustedFrom = new Date(steadySince.getTime() + STEADY_FOR_DAYS * 86_400_000);
  return {
    steady: nowMs >= trustedFrom.getTime(),
    jump: jumpedFrom && { from: jumpedFrom, to: steadySince },
    jumpedNow: jumpedFrom !== null && lastRunAt.getTime() === steadySince.getTime(),
    trustedFrom,
  };
}

const LEAP_MS = 3_600_000;

/** Leaps of the database's clock, as a process sees them against its own monotonic clock. */
export interface LeapWatch {
  note(nowMs: number): void;
  /** This much time has passed since the last leap, or there was none. */
  isSteadyFor(ms: number, nowMs: number): boolean;
}

/**
 * `leaptAtMs`: an earlier leap. A machine that slept looks the same; waiting loses nothing then
 * either.
 */
export function watchForLeaps(
  leaptAtMs = Number.NEGATIVE_INFINITY,
  monotonicMs: () => number = () => performance.now(),
): LeapWatch {
  let lastLeapMs = leaptAtMs;
  let offsetMs: number | undefined;
  return {
    note(nowMs) {
      const newOffsetMs = nowMs - monotonicMs();
      if (offsetMs !== undefined && newOffsetMs - offsetMs > LEAP_MS) lastLeapMs = nowMs;
      offsetMs = newOffsetMs;
    },
    isSteadyFor: (ms, nowMs) => nowMs - lastLeapMs >= ms,
  };
}
