// How long one account keeps its messages, if it wants less than the service as a whole, which
// deletes whole partitions (store/partitions.ts). Set by operations/retention.ts; maintenance
// deletes.
import { firstUuidAt } from '../ids.ts';
import type { Database, Queryable } from '../store/pool.ts';

export interface AccountRetention {
  /** Null: as long as the service keeps them. */
  retentionDays: number | null;
  contentRetentionDays: number | null;
}

const DAY_MS = 86_400_000;
/** A statement that deletes more would block others. */
const ROWS_AT_A_TIME = 5000;

export async function readRetention(
  database: Queryable,
  accountId: number,
): Promise<AccountRetention> {
  const [row] = await database.query<AccountRetention>(
    `SELECT retention_days AS "retentionDays", content_retention_days AS "contentRetentionDays"
     FROM account_retention WHERE account_id = $1`,
    [accountId],
  );
  return row ?? { retentionDays: null, contentRetentionDays: null };
}

export async function setRetention(
  database: Queryable,
  accountId: number,
  { retentionDays, contentRetentionDays }: AccountRetention,
): Promise<void> {
  await database.query(
    `INSERT INTO account_retention VALUES ($1, $2, $3)
     ON CONFLICT (account_id) DO UPDATE SET retention_days = $2, content_retention_days = $3`,
    [accountId, retentionDays, contentRetentionDays],
  );
}

/** Deletes messages that are past their account's retention. What is still to be sent stays. */
export async function pruneByAccount(database: Database, nowMs: number): Promise<void> {
  const accounts = await database.query<AccountRetention & { accountId: number }>(
    `SELECT account_id AS "accountId", retention_days AS "retentionDays",
            least(content_retention_days, retention_days) AS "contentRetentionDays"
     FROM account_retention`,
  );
  for (const { accountId, retentionDays, contentRetentionDays } of accounts) {
    const until = (days: number) => firstUuidAt(nowMs - days * DAY_MS);
    if (contentRetentionDays !== null) {
      const before = until(contentRetentionDays);
      await deleteOlder(database, 'contents', 'message_id', accountId, before);
      await deleteCopies(database, accountId, before);
    }
    if (retentionDays === null) continue;
    const before = until(retentionDays);
    await deleteOlder(database, 'events', 'message_id', accountId, before);
    await deleteOlder(database, 'delivery_attempts', 'message_id', accountId, before);
    await deleteOlder(database, 'webhook_deliveries', 'message_id', accountId, before);
    await deleteOlder(database, 'messages', 'id', accountId, before);
  }
}

async function deleteOlder(
  database: Database,
  table: string,
  id: string,
  accountId: number,
  before: string,
): Promise<void> {
  for (;;) {
    const rows = await database.query(
      `DELETE FROM ${table} t WHERE t.account_id = $1 AND t.${id} < $2 AND t.${id} = ANY (ARRAY(
         SELECT o.${id} FROM ${table} o WHERE o.account_id = $1 AND o.${id} < $2
           AND NOT EXISTS (SELECT FROM due_messages d WHERE d.account_id = $1 AND d.message_id = o.${id})
         ORDER BY o.${id} LIMIT ${ROWS_AT_A_TIME}))
       RETURNING 1`,
      [accountId, before],
    );
    if (rows.length === 0) return;
  }
}

/** Captured emails and kept reports: what was sent stands in them, whole or quoted. */
async function deleteCopies(database: Database, accountId: number, before: string): Promise<void> {
  for (const table of ['sandbox_mails', 'feedback_mails']) {
    await database.query(`DELETE FROM ${table} WHERE account_id = $1 AND message_id < $2`, [
      accountId,
      before,
    ]);
  }
}
