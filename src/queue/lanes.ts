// Lanes: which class an email has within the lane of its account, and how it enters the lane when
// its time has come. Written by sending/batch.ts, read by claim_due.
import type { Database } from '../store/pool.ts';

/**
 * Urgent goes first and bulk last, and each gets a share. What the sandbox captures needs no relay,
 * and is a separate class so that it can be found while there is none. The numbers are stored.
 */
export const CLASSES = { urgent: 0, normal: 1, bulk: 2, captured: 3 } as const;

export type EmailClass = keyof typeof CLASSES;

const FILLED_AT_A_TIME = 2000;

/** Puts emails whose time has come into their lanes. Returns whether there may be more. */
export async function fillLanes(database: Database): Promise<boolean> {
  const [row] = await database.prepared<{ come: number }>(
    'fill-lanes',
    'SELECT fill_lanes($1) AS come',
    [FILLED_AT_A_TIME],
  );
  return row!.come === FILLED_AT_A_TIME;
}
