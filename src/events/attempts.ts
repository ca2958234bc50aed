// Attempts after which somebody still had to wait, and the relay's reports of delays: what the
// timeline, which tells of ends only, leaves out. Written by delivery/outcomes.ts and
// feedback/record.ts; shown on the message's page and by `message show`.
import { createHash } from 'node:crypto';
import { columnList } from '../store/columns.ts';
import type { Database, Queryable } from '../store/pool.ts';
import { storable } from './record.ts';

export interface TriedRecipient {
  recipient: string;
  /** unknown: the line was cut after the mail, so nobody knows whether the relay has it. */
  result: 'deferred' | 'unknown';
  reply: string;
}

export interface KeptAttempt {
  /** Null: a report of the relay, after it took the mail. */
  attempt: number | null;
  /** Who was asked, or who reported. */
  server: string;
  recipients: TriedRecipient[];
  /** Null: there is none. */
  nextAt: string | null;
}

export interface NewAttempt extends Omit<KeptAttempt, 'nextAt'> {
  accountId: number;
  messageId: Buffer;
  /** What makes it the same when it is told again. */
  identity: string;
  nextAfterMs: number | null;
}

/** A day has thirteen attempts; more than this is somebody's game with reports. */
const MOST_KEPT = 40;
const LONGEST_REPLY = 500;

export const ATTEMPT_COLUMNS = columnList<NewAttempt>({
  account_id: { type: 'bigint', of: (it) => it.accountId },
  message_id: { type: 'uuid', of: (it) => it.messageId },
  id: { type: 'uuid', of: (it) => idOf(it) },
  attempt: { type: 'integer', of: (it) => it.attempt },
  server: { type: 'text', of: (it) => storable(it.server) },
  recipients: { type: 'text', of: (it) => JSON.stringify(it.recipients.map(tidy)) },
  after_ms: { type: 'integer', of: (it) => it.nextAfterMs },
});

/** One statement, so that it can stand in a larger one; its parameters start at `$first`. */
export const keepAttemptsSql = (first: number): string => `
  INSERT INTO delivery_attempts (account_id, message_id, id, attempt, server, recipients, next_at)
  SELECT k.account_id, k.message_id, k.id, k.attempt, k.server, k.recipients::jsonb,
         now() + k.after_ms * interval '1 millisecond'
  FROM ${ATTEMPT_COLUMNS.asRows('k', first)}
  WHERE ${MOST_KEPT} > (SELECT count(*) FROM delivery_attempts o
                        WHERE o.account_id = k.account_id AND o.message_id = k.message_id)
  ON CONFLICT DO NOTHING`;

export async function keepAttempts(
  client: Queryable,
  attempts: readonly NewAttempt[],
): Promise<void> {
  await client.query(keepAttemptsSql(1), ATTEMPT_COLUMNS.values(attempts));
}

const tidy = ({ recipient, result, reply }: TriedRecipient): TriedRecipient => ({
  recipient: storable(recipient),
  result,
  reply: storable(reply.slice(0, LONGEST_REPLY)),
});

const idOf = ({ messageId, identity }: NewAttempt): Buffer =>
  createHash('sha256').update(messageId).update(identity).digest().subarray(0, 16);

/** Oldest first. */
export async function listAttempts(
  database: Queryable,
  accountId: number,
  uuid: string,
): Promise<(KeptAttempt & { at: string })[]> {
  const rows = await database.query<
    Omit<KeptAttempt, 'nextAt'> & { at: Date; nextAt: Date | null }
  >(
    `SELECT at, attempt, server, recipients, next_at AS "nextAt" FROM delivery_attempts
     WHERE account_id = $1 AND message_id = $2 ORDER BY at, attempt`,
    [accountId, uuid],
  );
  return rows.map((row) => ({
    ...row,
    at: row.at.toISOString(),
    nextAt: row.nextAt?.toISOString() ?? null,
  }));
}

export async function pruneAttempts(database: Database, retentionDays: number): Promise<void> {
  await database.query(`DELETE FROM delivery_attempts WHERE at < now() - $1 * interval '1 day'`, [
    retentionDays,
  ]);
}

/** Those of the message's last attempt that nobody knows the outcome of. */
export async function unknownRecipients(
  client: Queryable,
  accountId: number,
  uuid: string,
): Promise<{ recipients: string[]; attempt: number }> {
  const attempts = await listAttempts(client, accountId, uuid);
  const last = attempts.findLast(({ attempt }) => attempt !== null);
  const unknown = last?.recipients.filter((it) => it.result === 'unknown') ?? [];
  return { recipients: unknown.map((it) => it.recipient), attempt: last?.attempt ?? 0 };
}
