// Accounts: who sends. Created and changed by operators; the hot path reads them through
// directory.ts.
import { Problem } from '../errors.ts';
import type { Queryable } from '../store/pool.ts';
import { PLANS, type Plan } from './plans.ts';

export interface Account {
  id: number;
  name: string;
  plan: Plan;
  dailyQuota: number;
  ratePerSecond: number;
  trackOpens: boolean;
  trackClicks: boolean;
  /** List-Unsubscribe with one click (RFC 8058). */
  oneClickUnsubscribe: boolean;
  /** Email from a sender that cannot pass DMARC is refused, not just flagged. */
  refuseUnaligned: boolean;
  /** Every send is linted, and its answer says what was found. */
  lintSends: boolean;
  /** The language of its emails if a send names none; null: English. */
  locale: string | null;
  unknownOutcome: UnknownOutcome;
  /** Emails handed over at a time, across all delivery processes; null: no limit. */
  deliveryLimit: number | null;
  /** The first day's quota of a new account, doubled every day; null: it has no ramp. */
  rampStart: number | null;
  createdAt: string;
}

/**
 * What happens to an email if the connection broke after its content: nobody knows whether the
 * relay has it.
 */
export const UNKNOWN_OUTCOMES = ['send_again', 'count_as_sent'] as const;
export type UnknownOutcome = (typeof UNKNOWN_OUTCOMES)[number];

export interface AccountChange {
  name?: string;
  plan?: Plan;
  dailyQuota?: number;
  ratePerSecond?: number;
  trackOpens?: boolean;
  trackClicks?: boolean;
  oneClickUnsubscribe?: boolean;
  refuseUnaligned?: boolean;
  lintSends?: boolean;
  /** A language tag; '': none. */
  locale?: string;
  unknownOutcome?: UnknownOutcome;
  /** 0: no limit. */
  deliveryLimit?: number;
  /** 0: no ramp. */
  rampStart?: number;
}

interface AccountRow extends Omit<Account, 'dailyQuota' | 'ratePerSecond' | 'createdAt'> {
  dailyQuota: number | null;
  ratePerSecond: number | null;
  createdAt: Date;
}

const COLUMNS = `id, name, plan, daily_quota AS "dailyQuota", rate_per_second AS "ratePerSecond",
  track_opens AS "trackOpens", track_clicks AS "trackClicks", one_click_unsubscribe AS "oneClickUnsubscribe",
  refuse_unaligned AS "refuseUnaligned", lint_sends AS "lintSends", locale,
  unknown_outcome AS "unknownOutcome", delivery_limit AS "deliveryLimit", ramp_start AS "rampStart",
  created_at AS "createdAt"`;

export async function createAccount(
  database: Queryable,
  account: AccountChange & { name: string; plan: Plan },
): Promise<Account> {
  const [row] = await database.query<AccountRow>(
    `INSERT INTO accounts (name, plan, daily_quota, rate_per_second, track_opens, track_clicks, one_click_unsubscribe,
                           unknown_outcome, delivery_limit, ramp_start, refuse_unaligned, lint_sends,
                           locale)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, nullif($9, 0), nullif($10, 0), $11, $12, nullif($13, ''))
     RETURNING ${COLUMNS}`,
    [
      account.name,
      account.plan,
      account.dailyQuota ?? null,
      account.ratePerSecond ?? null,
      account.trackOpens ?? true,
      account.trackClicks ?? true,
      account.oneClickUnsubscribe ?? false,
      account.unknownOutcome ?? 'send_again',
      account.deliveryLimit ?? 0,
      account.rampStart ?? 0,
      account.refuseUnaligned ?? false,
      account.lintSends ?? false,
      account.locale ?? null,
    ],
  );
  return toAccount(row!);
}

export async function changeAccount(
  database: Queryable,
  id: number,
  change: AccountChange,
): Promise<Account> {
  const [row] = await database.query<AccountRow>(
    `UPDATE accounts SET version = version + 1, name = coalesce($2, name), plan = coalesce($3, plan),
       daily_quota = coalesce($4, daily_quota), rate_per_second = coalesce($5, rate_per_second),
       track_opens = coalesce($6, track_opens), track_clicks = coalesce($7, track_clicks),
       one_click_unsubscribe = coalesce($8, one_click_unsubscribe),
       unknown_outcome = coalesce($9, unknown_outcome), delivery_limit = nullif(coalesce($10, delivery_limit), 0),
       ramp_start = nullif(coalesce($11, ramp_start), 0),
       refuse_unaligned = coalesce($12, refuse_unaligned), lint_sends = coalesce($13, lint_sends),
       locale = nullif(coalesce($14, locale), '')
     WHERE id = $1 RETURNING ${COLUMNS}`,
    [
      id,
      change.name ?? null,
      change.plan ?? null,
      change.dailyQuota ?? null,
      change.ratePerSecond ?? null,
      change.trackOpens ?? null,
      change.trackClicks ?? null,
      change.oneClickUnsubscribe ?? null,
      change.unknownOutcome ?? null,
      change.deliveryLimit ?? null,
      change.rampStart ?? null,
      change.refuseUnaligned ?? null,
      change.lintSends ?? null,
      change.locale ?? null,
    ],
  );
  return toAccount(row ?? noAccount(id));
}

export async function getAccount(database: Queryable, id: number): Promise<Account> {
  const [row] = await database.query<AccountRow>(`SELECT ${COLUMNS} FROM accounts WHERE id = $1`, [
    id,
  ]);
  return toAccount(row ?? noAccount(id));
}

/** Undefined: there is no such account. */
export async function accountName(database: Queryable, id: number): Promise<string | undefined> {
  const [row] = await database.query<{ name: string }>('SELECT name FROM accounts WHERE id = $1', [
    id,
  ]);
  return row?.name;
}

/** By number; `after` is the last one on the previous page. Without a page, all. */
export async function listAccounts(
  database: Queryable,
  page: { after?: number | undefined; limit?: number } = {},
): Promise<Account[]> {
  const rows = await database.query<AccountRow>(
    `SELECT ${COLUMNS} FROM accounts WHERE id > $1 ORDER BY id LIMIT $2`,
    [page.after ?? 0, page.limit ?? null],
  );
  return rows.map(toAccount);
}

/** Within a transaction: one writer at a time counts or numbers what an account has. */
export async function lockAccount(client: Queryable, id: number): Promise<void> {
  const rows = await client.query('SELECT FROM accounts WHERE id = $1 FOR NO KEY UPDATE', [id]);
  if (rows.length === 0) noAccount(id);
}

function toAccount(row: AccountRow): Account {
  return {
    ...row,
    dailyQuota: row.dailyQuota ?? PLANS[row.plan].dailyQuota,
    ratePerSecond: row.ratePerSecond ?? PLANS[row.plan].ratePerSecond,
    createdAt: row.createdAt.toISOString(),
  };
}

function noAccount(id: number): never {
  throw new Problem('not-found', `There is no account ${id}.`, { see: 'list_accounts' });
}
