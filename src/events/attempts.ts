// Attempts after which a recipient still had to wait, and the relay's reports of delays: what the
// timeline, which shows only final results, leaves out. Written by delivery/outcomes.ts and
// feedback/record.ts; shown on the message's page and by `message show`.
import { createHash } from 'node:crypto';
import { columnList } from '../store/columns.ts';
import type { Database, Queryable } from '../store/pool.ts';
import { storable } from './record.ts';

export interface TriedRecipient {
  recipient: string;
  /** unknown: the connection broke after the email, so it is unclear whether the relay has it. */
  result: 'deferred' | 'unknown';
  reply: string;
  /** The relay used; absent in a report, and in rows from before there were several. */
  relay?: string;
}

export interface KeptAttempt {
  /** Null: a report of the relay, after it accepted the email. */
  attempt: number | null;
  /** The server that was contacted, or that reported. */
  server: string;
  recipients: TriedRecipient[];
  /** Null: there is none. */
  nextAt: string | null;
}

export interface NewAttempt extends Omit<KeptAttempt, 'nextAt'> {
  accountId: number;
  messageId: Buffer;
  /** Identifies it when it is reported again. */
  identity: string;
  nextAfterMs: number | null;
}

/** A day has thirteen attempts; more than this is an abuse of reports. */
export const MOST_KEPT = 40;
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

export async function keepAttempts(
  client: Queryable,
  attempts: readonly NewAttempt[],
): Promise<void> {
  const after = ATTEMPT_COLUMNS.length;
  await client.query(
    `SELECT keep_attempts(${ATTEMPT_COLUMNS.asArguments()}, p_most => $${after + 1}, p_home => $${after + 2})`,
    [
      ...ATTEMPT_COLUMNS.values(attempts),
      MOST_KEPT,
      client.home(attempts.map(({ accountId }) => accountId)),
    ],
  );
}

const tidy = ({ recipient, reply, ...rest }: TriedRecipient): TriedRecipient => ({
  ...rest,
  recipient: storable(recipient),
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

/** The relay used for each recipient at the last attempt. */
export async function relaysOfLastAttempt(
  database: Queryable,
  accountId: number,
  uuid: string,
): Promise<Map<string, string>> {
  const attempts = await listAttempts(database, accountId, uuid);
  const tried = attempts.flatMap(({ recipients }) => recipients);
  return new Map(tried.flatMap(({ recipient, relay }) => (relay ? [[recipient, relay]] : [])));
}

export async function pruneAttempts(database: Database, retentionDays: number): Promise<void> {
  await database.query(`DELETE FROM delivery_attempts WHERE at < now() - $1 * interval '1 day'`, [
    retentionDays,
  ]);
}

/** The recipients of the message's last attempt whose outcome is unknown. */
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
