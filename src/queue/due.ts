// Due rows with leases: claim, extend, finish. Used by delivery; a row is due again by itself when its worker dies.
// Claim → commit → talk → record: no transaction is open while a worker talks to the network.
import { bytesToUuid, newIdBytes, uuidToBytes } from '../ids.ts';
import type { Database } from '../store/pool.ts';

export interface ClaimedMessage {
  accountId: number;
  messageId: Buffer;
  /** Counting this one. */
  attempts: number;
  /** Recipients still to be handed over; null: all. */
  remaining: string[] | null;
  /** Bytes of content. */
  size: number;
}

export interface Claim {
  lease: string;
  rows: ClaimedMessage[];
}

const CLAIM_SQL = `
  UPDATE due_messages d SET due_at = $1::timestamptz + $2 * interval '1 millisecond', lease = $3, attempts = d.attempts + 1
  FROM (SELECT account_id, message_id FROM due_messages
        WHERE due_at <= $1 ORDER BY due_at LIMIT $4 FOR UPDATE SKIP LOCKED) c
  WHERE d.account_id = c.account_id AND d.message_id = c.message_id
  RETURNING d.account_id AS "accountId", d.message_id AS uuid, d.attempts, d.remaining, d.size`;

/** Takes up to `limit` due rows for `leaseMs`; other workers pass over them until then. */
export async function claimDue(
  database: Database,
  nowMs: number,
  options: { limit: number; leaseMs: number },
): Promise<Claim> {
  const lease = bytesToUuid(newIdBytes(nowMs));
  const rows = await database.prepared<Omit<ClaimedMessage, 'messageId'> & { uuid: string }>(
    'claim-due',
    CLAIM_SQL,
    [new Date(nowMs), options.leaseMs, lease, options.limit],
  );
  return {
    lease,
    rows: rows.map(({ uuid, ...row }) => ({ ...row, messageId: uuidToBytes(uuid) })),
  };
}

/** Keeps what is still in hand from being taken by others. */
export async function extendLease(
  database: Database,
  nowMs: number,
  lease: string,
  leaseMs: number,
): Promise<void> {
  await database.prepared(
    'extend-lease',
    `UPDATE due_messages SET due_at = $1::timestamptz + $2 * interval '1 millisecond' WHERE lease = $3`,
    [new Date(nowMs), leaseMs, lease],
  );
}

/** Gives back what was claimed and not begun, at once and without counting an attempt. */
export async function releaseUnbegun(
  database: Database,
  nowMs: number,
  lease: string,
  rows: readonly ClaimedMessage[],
): Promise<void> {
  await database.query(
    `UPDATE due_messages d SET due_at = $1, lease = NULL, attempts = d.attempts - 1
     FROM unnest($3::bigint[], $4::uuid[]) AS r (account_id, message_id)
     WHERE d.account_id = r.account_id AND d.message_id = r.message_id AND d.lease = $2`,
    [
      new Date(nowMs),
      lease,
      rows.map((row) => row.accountId),
      rows.map((row) => bytesToUuid(row.messageId)),
    ],
  );
}

export interface QueueState {
  depth: number;
  ageSeconds: number;
}

export async function queueState(database: Database, nowMs: number): Promise<QueueState> {
  const [row] = await database.query<{ depth: number; age: number | null }>(
    `SELECT count(*) AS depth,
            extract(epoch FROM $1::timestamptz - min(due_at) FILTER (WHERE due_at <= $1))::float8 AS age
     FROM due_messages`,
    [new Date(nowMs)],
  );
  return { depth: row?.depth ?? 0, ageSeconds: row?.age ?? 0 };
}

/** A message that is not handed over yet. */
export interface Waiting {
  attempts: number;
  dueAt: string;
  /** Recipients still to be handed over; null: all. */
  remaining: string[] | null;
  lastResponse: string | null;
}

/** Undefined: there is nothing left to hand over. */
export async function findWaiting(
  database: Database,
  accountId: number,
  uuid: string,
): Promise<Waiting | undefined> {
  const [row] = await database.query<Omit<Waiting, 'dueAt'> & { dueAt: Date }>(
    `SELECT attempts, due_at AS "dueAt", remaining, last_response AS "lastResponse"
     FROM due_messages WHERE account_id = $1 AND message_id = $2`,
    [accountId, uuid],
  );
  return row && { ...row, dueAt: row.dueAt.toISOString() };
}
