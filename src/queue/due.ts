// Due rows: claiming them, and how many there are. Before: sending/batch.ts wrote them. After:
// delivery/outcomes.ts records what happened to them. Claim → commit → talk → record: no
// transaction is open while a worker talks to the network.
import { bytesToUuid, uuidToBytes } from '../ids.ts';
import type { Database } from '../store/pool.ts';
import type { EmailClass } from './lanes.ts';
import type { Lease } from './leases.ts';

export interface ClaimedMessage {
  accountId: number;
  messageId: Buffer;
  class: Exclude<EmailClass, 'captured'>;
  /** The number of this claim of the email: the outcome counts only if there is no later one. */
  claims: number;
  /** Including this one. */
  attempts: number;
  /** Recipients still to be handed over; null: all. */
  remaining: string[] | null;
  /** Those among them for whom it is unknown whether the relay has the email. */
  unknown: string[] | null;
  /** Bytes of content. */
  size: number;
  /** Its account has a limit of its own: when this is finished, another may be taken. */
  laneIsLimited: boolean;
}

export interface Claim {
  lease: Lease;
  rows: ClaimedMessage[];
  /** By the database's clock. */
  atMs: number;
  /** Where the next round continues. */
  lastLane: number;
  /** There may be more that is ready. */
  leftSome: boolean;
  /** There may be more that also has room: another round is worth it at once. */
  leftRoom: boolean;
}

export interface Room {
  /** Roughly how many emails to take. */
  most: number;
  /** The lane after which the round begins. */
  after: number;
  /** Accounts that have enough in hand. */
  full: readonly number[];
}

/**
 * By their numbers. Captured email shares its way with nothing else, so there it counts as normal.
 */
const CLASS_NAMES = ['urgent', 'normal', 'bulk', 'normal'] as const;
/** Served in one round; the next one continues after them. */
const LANES_A_ROUND = 32;

interface ClaimedRow extends Omit<ClaimedMessage, 'messageId' | 'class' | 'laneIsLimited'> {
  uuid: string;
  class: number;
  atMs: number;
  lastLane: number;
  /**
   * A lane that gave fewer of this class has none ready left, and no lane was left out; null: it
   * has a limit of its own.
   */
  share: number | null;
}

/**
 * One round over the lanes of a node. Undefined: nothing is ready. Nothing is claimed after
 * `doneBy`, by the database's clock.
 */
export async function claimDue(
  database: Database,
  lease: Lease,
  { most, after, full }: Room,
  doneBy: Date | null = null,
): Promise<Claim | undefined> {
  const rows = await database.call<ClaimedRow>(
    'claim-due',
    `SELECT account_id AS "accountId", message_id AS uuid, class, claims, attempts, remaining, unknown, size,
            now_ms AS "atMs", last_lane AS "lastLane", share
     FROM claim_due($1, $2, $3, $4, $5, $6, $7)`,
    [lease.id, after, most, LANES_A_ROUND, full, database.home([]) !== null, doneBy],
  );
  return claimOf(lease, rows, most);
}

/**
 * The same, only for what the sandbox captures: no relay can take anything. One account at a time,
 * each a task of one shard if the tables are distributed.
 */
export async function claimCaptured(
  database: Database,
  lease: Lease,
  { most, after, full }: Room,
  doneBy: Date | null = null,
): Promise<Claim | undefined> {
  const accounts = await database.query<{ id: number; atMs: number }>(
    'SELECT captured_lanes() AS id, extract(epoch FROM now())::float8 * 1000 AS "atMs"',
  );
  const rows: ClaimedRow[] = [];
  for (const { id, atMs } of accounts.filter((account) => !full.includes(account.id))) {
    if (rows.length >= most) break;
    rows.push(
      ...(await database.prepared<ClaimedRow>('claim-captured', CLAIM_CAPTURED_SQL, [
        ...[lease.id, id, most - rows.length, after, doneBy, atMs],
      ])),
    );
  }
  return claimOf(lease, rows, most);
}

/** The time is a parameter: Citus accepts no function of time in RETURNING. */
const CLAIM_CAPTURED_SQL = `
  WITH taken AS MATERIALIZED (
    SELECT message_id FROM due_messages
    WHERE account_id = $2 AND state = 'ready' AND class = 3
      AND coalesce($5::timestamptz, 'infinity') > now()
    ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
  )
  UPDATE due_messages d SET state = 'in hand', lease = $1, claims = d.claims + 1, attempts = d.attempts + 1
  FROM taken t WHERE d.account_id = $2 AND d.message_id = t.message_id
  RETURNING d.account_id AS "accountId", d.message_id AS uuid, d.class, d.claims, d.attempts, d.remaining,
            d.unknown, d.size, $6::float8 AS "atMs", $4::bigint AS "lastLane", $3::integer AS share`;

/** Class and lane. */
const placeOf = (row: ClaimedRow): number => row.accountId * CLASS_NAMES.length + row.class;

function claimOf(lease: Lease, rows: ClaimedRow[], most: number): Claim | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const lanes = new Set(rows.map(({ accountId }) => accountId));
  const given = new Map<number, number>();
  for (const row of rows) given.set(placeOf(row), (given.get(placeOf(row)) ?? 0) + 1);
  const leftSome = rows.some((row) => row.share !== null && given.get(placeOf(row))! >= row.share);
  return {
    leftSome,
    leftRoom: leftSome && (rows.length < most || lanes.size >= LANES_A_ROUND),
    lease,
    atMs: first.atMs,
    lastLane: first.lastLane,
    rows: rows.map((row) => ({
      accountId: row.accountId,
      messageId: uuidToBytes(row.uuid),
      class: CLASS_NAMES[row.class]!,
      claims: row.claims,
      attempts: row.attempts,
      remaining: row.remaining,
      unknown: row.unknown,
      size: row.size,
      laneIsLimited: row.share === null,
    })),
  };
}

/**
 * Puts back what a node has in hand under a lease but its process does not know about: it was
 * claimed by a statement whose answer was lost, and would stay in hand for as long as the process
 * lives. Returns how many.
 */
export async function giveBackStrays(
  database: Database,
  lease: Lease,
  known: readonly Pick<ClaimedMessage, 'accountId' | 'messageId'>[],
): Promise<number> {
  const [row] = await database.query<{ back: number }>(
    'SELECT give_back_strays($1, $2, $3) AS back',
    [lease.id, known.map((row) => row.accountId), known.map((row) => bytesToUuid(row.messageId))],
  );
  return row!.back;
}

export interface QueueState {
  depth: number;
  /** Age of the oldest that could have been taken. Emails of a halted account are not late. */
  ageSeconds: number;
  setAside: number;
}

export async function queueState(database: Database): Promise<QueueState> {
  const [row] = await database.query<{ depth: number; age: number | null; setAside: number }>(
    `SELECT count(*) FILTER (WHERE d.state <> 'set aside') AS depth,
            extract(epoch FROM now() - min(d.due_at) FILTER (WHERE d.state IN ('ready', 'waiting') AND d.due_at <= now()
              AND a.paused_at IS NULL AND a.suspended_at IS NULL))::float8 AS age,
            count(*) FILTER (WHERE d.state = 'set aside') AS "setAside"
     FROM due_messages d LEFT JOIN accounts a ON a.id = d.account_id`,
  );
  return { depth: row?.depth ?? 0, ageSeconds: row?.age ?? 0, setAside: row?.setAside ?? 0 };
}
