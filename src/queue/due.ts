// Due rows: claiming them, and how many there are. Before: sending/batch.ts wrote them. After:
// delivery/outcomes.ts records what
// became of them. Claim → commit → talk → record: no transaction is open while a worker talks to
// the network.
import { bytesToUuid, uuidToBytes } from '../ids.ts';
import type { Database } from '../store/pool.ts';
import type { MailClass } from './lanes.ts';
import type { Lease } from './leases.ts';

export interface ClaimedMessage {
  accountId: number;
  messageId: Buffer;
  class: MailClass;
  /** Which claim of this mail it is: the outcome counts only while there is no later one. */
  claims: number;
  /** Counting this one. */
  attempts: number;
  /** Recipients still to be handed over; null: all. */
  remaining: string[] | null;
  /** Those among them of whom nobody knows whether the relay has the mail. */
  unknown: string[] | null;
  /** Bytes of content. */
  size: number;
}

export interface Claim {
  lease: Lease;
  rows: ClaimedMessage[];
  /** By the database's clock. */
  atMs: number;
  /** Where the next round goes on. */
  lastLane: number;
}

export interface Room {
  /** Mails to take, roughly. */
  most: number;
  /** The lane after which the round begins. */
  after: number;
  /** Accounts that have enough in hand. */
  full: readonly number[];
}

const CLASS_NAMES: readonly MailClass[] = ['urgent', 'normal', 'bulk'];
/** Served in one round; the next one goes on behind them. */
const LANES_A_ROUND = 32;

interface ClaimedRow extends Omit<ClaimedMessage, 'messageId' | 'class'> {
  uuid: string;
  class: number;
  atMs: number;
  lastLane: number;
}

/**
 * One round over the lanes. Undefined: nothing is ready. After `doneBy`, by the database's clock,
 * nothing is claimed any more.
 */
export async function claimDue(
  database: Database,
  lease: Lease,
  { most, after, full }: Room,
  doneBy: Date | null = null,
): Promise<Claim | undefined> {
  const rows = await database.prepared<ClaimedRow>(
    'claim-due',
    `SELECT account_id AS "accountId", message_id AS uuid, class, claims, attempts, remaining, unknown, size,
            now_ms AS "atMs", last_lane AS "lastLane"
     FROM claim_due($1, $2, $3, $4, $5)
     WHERE coalesce($6::timestamptz, 'infinity') > now() AND in_time($6)`,
    [lease.id, after, most, LANES_A_ROUND, full, doneBy],
  );
  const [first] = rows;
  if (first === undefined) return undefined;
  return {
    lease,
    atMs: first.atMs,
    lastLane: first.lastLane,
    rows: rows.map(({ uuid, atMs: _, lastLane: __, ...row }) => ({
      ...row,
      class: CLASS_NAMES[row.class]!,
      messageId: uuidToBytes(uuid),
    })),
  };
}

/**
 * Puts back what is in hand under a lease and not among what its process knows of: it was claimed
 * by a statement whose answer was lost, and would stay in hand for as long as the process lives.
 * Answers how many.
 */
export async function giveBackStrays(
  database: Database,
  lease: Lease,
  known: readonly Pick<ClaimedMessage, 'accountId' | 'messageId'>[],
): Promise<number> {
  const rows = await database.query(
    `UPDATE due_messages d SET state = 'ready', lease = NULL, attempts = d.attempts - 1
     WHERE d.state = 'in hand' AND d.lease = $1 AND NOT EXISTS (
       SELECT FROM unnest($2::bigint[], $3::uuid[]) AS k (account_id, message_id)
       WHERE k.account_id = d.account_id AND k.message_id = d.message_id)
     RETURNING 1`,
    [lease.id, known.map((row) => row.accountId), known.map((row) => bytesToUuid(row.messageId))],
  );
  return rows.length;
}

export interface QueueState {
  depth: number;
  /** Of the oldest that could be taken and was not. What a paused account holds is not late. */
  ageSeconds: number;
  setAside: number;
}

export async function queueState(database: Database): Promise<QueueState> {
  const [row] = await database.query<{ depth: number; age: number | null; setAside: number }>(
    `SELECT count(*) FILTER (WHERE state <> 'set aside') AS depth,
            extract(epoch FROM now() - min(due_at) FILTER (WHERE state IN ('ready', 'waiting') AND due_at <= now()
              AND account_id NOT IN (SELECT id FROM accounts WHERE paused_at IS NOT NULL)))::float8 AS age,
            count(*) FILTER (WHERE state = 'set aside') AS "setAside"
     FROM due_messages`,
  );
  return { depth: row?.depth ?? 0, ageSeconds: row?.age ?? 0, setAside: row?.setAside ?? 0 };
}
