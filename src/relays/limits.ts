// How many emails per day an operator allows a relay, over all delivery processes. Asked by
// member.ts. Each process takes a small share at a time from the database, so that the limit is
// never exceeded and few emails wait for an answer. The limit per second: pace.ts.
import type { Database } from '../store/pool.ts';

export interface DailyShare {
  /** False: nothing is left today. What was taken and not used is given back. */
  take(): Promise<boolean>;
  giveBack(): void;
  isUsedUp(): boolean;
  /** Until it is worth asking again; 0 while something is left. */
  untilMs(): number;
  close(): Promise<void>;
}

/** The share taken at a time: a hundredth of the day's emails, and no more than this. */
const MOST_AT_A_TIME = 100;
/** Other processes may give some back, and operators may raise the limit. */
const ASK_AGAIN_MS = 10_000;

export function createDailyShare(
  database: Database,
  relay: string,
  limit: number,
  onUsedUp: () => void,
  nowMs: () => number = () => performance.now(),
): DailyShare {
  const atATime = Math.min(MOST_AT_A_TIME, Math.ceil(limit / 100));
  let left = 0;
  let day = '';
  let dayEndsAt = 0;
  let usedUpUntil = 0;
  let asking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    const given = await takeOfDay(database, relay, limit, atATime);
    day = given.day;
    dayEndsAt = nowMs() + given.dayEndsInMs;
    left += given.emails;
    if (left > 0) return;
    usedUpUntil = nowMs() + Math.min(ASK_AGAIN_MS, given.dayEndsInMs);
    onUsedUp();
  }
  const isUsedUp = () => left === 0 && nowMs() < usedUpUntil;
  return {
    async take() {
      // What is left from yesterday does not count today.
      if (nowMs() >= dayEndsAt) left = 0;
      while (left === 0 && !isUsedUp()) {
        asking ??= ask().finally(() => {
          asking = undefined;
        });
        await asking;
      }
      if (left === 0) return false;
      left--;
      return true;
    },
    giveBack() {
      if (nowMs() < dayEndsAt) left++;
    },
    isUsedUp,
    untilMs: () => (isUsedUp() ? usedUpUntil - nowMs() : 0),
    async close() {
      await asking?.catch(() => undefined);
      if (left === 0) return;
      const unused = left;
      left = 0;
      await database
        .query('UPDATE relay_usage SET used = used - $3 WHERE relay = $1 AND day = $2', [
          relay,
          day,
          unused,
        ])
        .catch(() => undefined);
    },
  };
}

const TODAY = `(now() AT TIME ZONE 'UTC')::date`;
const ENDS_IN = `(extract(epoch FROM (${TODAY} + 1) - (now() AT TIME ZONE 'UTC')) * 1000)::float8`;

interface Given {
  day: string;
  emails: number;
  dayEndsInMs: number;
}

/** As many as wanted, or one if there are fewer, or none. */
async function takeOfDay(
  database: Database,
  relay: string,
  limit: number,
  most: number,
): Promise<Given> {
  for (const emails of new Set([most, 1])) {
    const [taken] = await database.query<Omit<Given, 'emails'>>(
      `INSERT INTO relay_usage AS u (relay, day, used) VALUES ($1, ${TODAY}, $3)
       ON CONFLICT (relay, day) DO UPDATE SET used = u.used + $3 WHERE u.used + $3 <= $2
       RETURNING u.day::text, ${ENDS_IN} AS "dayEndsInMs"`,
      [relay, limit, emails],
    );
    if (taken !== undefined) return { ...taken, emails };
  }
  const [now] = await database.query<Omit<Given, 'emails'>>(
    `SELECT ${TODAY}::text AS day, ${ENDS_IN} AS "dayEndsInMs"`,
  );
  return { ...now!, emails: 0 };
}

/** Today's emails by relay, for those with a daily limit. */
export async function usedToday(database: Database): Promise<Map<string, number>> {
  const rows = await database.query<{ relay: string; used: number }>(
    `SELECT relay, used FROM relay_usage WHERE day = ${TODAY}`,
  );
  return new Map(rows.map(({ relay, used }) => [relay, used]));
}

export async function pruneRelayUsage(database: Database): Promise<void> {
  await database.query(`DELETE FROM relay_usage WHERE day < ${TODAY} - 7`);
}
