// Suppressions: addresses an account must not write to any more. Asked by delivery when a mail is handed over, written by feedback.
import { addressKey } from '../addresses.ts';
import type { Database, Queryable } from '../store/pool.ts';

export const SUPPRESSION_REASONS = ['bounce', 'complaint', 'unsubscribe', 'manual'] as const;
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];

export interface Suppression {
  accountId: number;
  address: string;
  reason: SuppressionReason;
  messageUuid: string | null;
}

/** Adds what is not there yet; the first reason stays. */
export async function suppress(client: Queryable, entries: readonly Suppression[]): Promise<void> {
  if (entries.length === 0) return;
  await client.query(
    `INSERT INTO suppressions (account_id, address, reason, message_id)
     SELECT DISTINCT ON (s.account_id, s.address) s.*
     FROM unnest($1::bigint[], $2::text[], $3::text[], $4::uuid[]) AS s (account_id, address, reason, message_id)
     ORDER BY s.account_id, s.address
     ON CONFLICT DO NOTHING`,
    [
      entries.map((entry) => entry.accountId),
      entries.map((entry) => addressKey(entry.address)),
      entries.map((entry) => entry.reason),
      entries.map((entry) => entry.messageUuid),
    ],
  );
}

/** Which of the recipients are suppressed, as `account address` of their normalised form: see `suppressionKey`. */
export async function suppressedAmong(
  database: Database,
  recipients: readonly { accountId: number; address: string }[],
): Promise<Set<string>> {
  const rows = await database.prepared<{ account_id: number; address: string }>(
    'suppressed-among',
    `SELECT s.account_id, s.address FROM suppressions s
     JOIN unnest($1::bigint[], $2::text[]) AS r (account_id, address)
       ON s.account_id = r.account_id AND s.address = r.address`,
    [
      recipients.map((recipient) => recipient.accountId),
      recipients.map((recipient) => addressKey(recipient.address)),
    ],
  );
  return new Set(rows.map((row) => `${row.account_id} ${row.address}`));
}

export const suppressionKey = (accountId: number, address: string): string =>
  `${accountId} ${addressKey(address)}`;
