// Volume: how many messages an account sent in each hour and what happened to them, for charts.
// Before it: statistics.ts. After it: kept-hours.ts counts the hours that are out of date.
import type { Database } from '../store/pool.ts';
import { type HourTable, idHourMs, readHours, type Span } from './kept-hours.ts';
import { type MessageStatus, STATUSES } from './status.ts';

/** By name, so that counts stay valid when a status is added. */
export type StatusCounts = Record<MessageStatus, number>;

export interface HourVolume {
  hourMs: number;
  counts: StatusCounts;
}

export interface Volume {
  /** Hours in which something was sent, oldest first. */
  hours: HourVolume[];
  /** False: some hours have not been counted yet. */
  complete: boolean;
}

export async function readVolume(
  database: Database,
  accountId: number,
  period: Span,
  nowMs: number,
): Promise<Volume> {
  const { hours, complete } = await readHours(database, VOLUME, accountId, period, nowMs);
  const sent = hours
    .filter(({ counts }) => Object.keys(counts).length > 0)
    .map(({ hourMs, counts }) => ({ hourMs, counts: { ...NONE, ...counts } }));
  return { hours: sent, complete };
}

/** Only the statuses that occurred are kept. */
const VOLUME: HourTable<Partial<StatusCounts>> = {
  table: 'message_hours',
  none: () => ({}),
  async count(database, accountId, { first, end }) {
    const rows = await database.query<{ hourMs: number; status: MessageStatus; count: number }>(
      `SELECT ${idHourMs('id')} AS "hourMs", status, count(*) AS count
       FROM messages WHERE account_id = $1 AND id >= $2 AND id < $3 GROUP BY 1, 2`,
      [accountId, first, end],
    );
    const hours = new Map<number, Partial<StatusCounts>>();
    for (const { hourMs, status, count } of rows) {
      hours.set(hourMs, { ...hours.get(hourMs), [status]: count });
    }
    return hours;
  },
};

const NONE = Object.fromEntries(STATUSES.map((status) => [status, 0])) as StatusCounts;
