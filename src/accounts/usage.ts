// Usage: the state of today's quota. Counted by accept_sends (SQL) when an email is accepted; read
// here for people, and given back for what was cancelled.

import { idTimeMs, uuidToBytes } from '../ids.ts';
import type { Clock } from '../process/clock.ts';
import type { Queryable } from '../store/pool.ts';
import type { Account } from './accounts.ts';
import { quotaOn } from './plans.ts';

const DAY_MS = 86_400_000;

/** Today's recipients (UTC), by account. Accounts that sent nothing today are not included. */
export async function readUsage(
  database: Queryable,
  nowMs: number,
  accountId?: number,
): Promise<Map<number, number>> {
  const rows = await database.query<{ accountId: number; recipients: number }>(
    `SELECT account_id AS "accountId", recipients FROM account_usage
     WHERE day = $1 AND ($2::bigint IS NULL OR account_id = $2)`,
    [new Date(nowMs).toISOString().slice(0, 10), accountId ?? null],
  );
  return new Map(rows.map((row) => [row.accountId, row.recipients]));
}

/** When today's quota resets. */
export const nextMidnight = (nowMs: number): Date =>
  new Date((Math.floor(nowMs / DAY_MS) + 1) * DAY_MS);

export interface Quota {
  /** Recipients today. */
  limit: number;
  used: number;
  left: number;
  resetsAt: string;
  ratePerSecond: number;
}

export async function readQuota(
  { database, clock }: { database: Queryable; clock: Clock },
  account: Account,
): Promise<Quota> {
  const nowMs = clock.nowMs();
  const used = (await readUsage(database, nowMs, account.id)).get(account.id) ?? 0;
  const limit = quotaOn(nowMs, account);
  return {
    limit,
    used,
    left: Math.max(0, limit - used),
    resetsAt: nextMidnight(nowMs).toISOString(),
    ratePerSecond: account.ratePerSecond,
  };
}

/**
 * Gives today's quota, and the cap of the key, back what a message took that nobody receives. What
 * it took on another day stays taken. An address that was written twice counted twice and is given
 * back once.
 */
export async function giveBackQuota(
  client: Queryable,
  message: { accountId: number; uuid: string; recipients: readonly string[]; keyId: string | null },
): Promise<void> {
  const { accountId, uuid, recipients, keyId } = message;
  const day = new Date(idTimeMs(uuidToBytes(uuid))).toISOString().slice(0, 10);
  // The account's row first, in the same order as accept_sends.
  await client.query(
    `UPDATE account_usage SET recipients = greatest(0, recipients - $3)
     WHERE account_id = $1 AND day = $2`,
    [accountId, day, recipients.length],
  );
  if (keyId === null) return;
  await client.query(
    `UPDATE key_usage SET recipients = greatest(0, recipients - $4)
     WHERE account_id = $1 AND key_id = $2 AND day = $3`,
    [accountId, keyId, day, recipients.length],
  );
}
