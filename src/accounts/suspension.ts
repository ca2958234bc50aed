// Suspension: an operator stops an account. Its keys get 403 within a second (directory.ts); its
// people can still sign in and read. What it has queued or scheduled is held (claim_due.sql) and is
// sent when it is resumed.
import { Problem } from '../errors.ts';
import type { Queryable } from '../store/pool.ts';

export interface Suspension {
  at: string;
  reason: string;
}

export async function suspendAccount(
  database: Queryable,
  accountId: number,
  reason: string,
): Promise<void> {
  await change(
    database,
    accountId,
    `UPDATE accounts SET suspended_at = least(suspended_at, now()), suspended_reason = $2,
       version = version + 1 WHERE id = $1 RETURNING id`,
    reason.trim(),
  );
}

/** Lifts a pause (pause.ts) as well. */
export async function resumeAccount(database: Queryable, accountId: number): Promise<void> {
  await change(
    database,
    accountId,
    `UPDATE accounts SET suspended_at = NULL, suspended_reason = NULL, paused_at = NULL, paused_reason = NULL,
       resumed_at = now(), version = version + 1 WHERE id = $1 RETURNING id`,
  );
}

async function change(database: Queryable, accountId: number, sql: string, ...rest: string[]) {
  const rows = await database.query(sql, [accountId, ...rest]);
  if (rows.length === 0) {
    throw new Problem('not-found', `There is no account ${accountId}.`);
  }
}

/** By account; accounts that are not suspended are not included. */
export async function listSuspensions(
  database: Queryable,
  accountId?: number,
): Promise<Map<number, Suspension>> {
  const rows = await database.query<{ id: number; at: Date; reason: string }>(
    `SELECT id, suspended_at AS at, suspended_reason AS reason FROM accounts
     WHERE suspended_at IS NOT NULL AND ($1::bigint IS NULL OR id = $1)`,
    [accountId ?? null],
  );
  return new Map(rows.map(({ id, at, reason }) => [id, { at: at.toISOString(), reason }]));
}

/** An operator writes the reason, so it may lack a full stop. */
export function suspendedProblem(reason: string): Problem {
  return new Problem(
    'forbidden',
    `This account is suspended: ${asSentence(reason)} Write to the operator of this service.`,
  );
}

export const asSentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
