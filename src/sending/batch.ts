// Group commit: what arrived while the last commit was in flight goes to PostgreSQL in one
// statement. Before it: accept.ts has checked and packed a send. After it: the send is on disk, or
// it has a verdict why not.

import { PLANS } from '../accounts/plans.ts';
import { freeBytes } from '../bytes/free-bytes.ts';
import { Problem } from '../errors.ts';
import { uuidToBytes } from '../ids.ts';
import { DOORS, type Door } from '../messages/door.ts';
import { problemOf } from '../process/connection-fault.ts';
import { createGroupCommit, type GroupCommit, isDataFault } from '../process/group-commit.ts';
import type { Metrics } from '../process/metrics.ts';
import { databaseAway } from '../store/connection.ts';
import type { Database } from '../store/pool.ts';
import { type PackedSend, SEND_COLUMNS } from './packed-send.ts';

/** What is left of the account's allowance; null where the send did not ask for it. */
export interface Allowance {
  quota: number;
  quotaLeft: number;
  rate: number;
}

export type Verdict =
  | {
      kind: 'accepted' | 'repeated';
      id: Buffer;
      allowance: Allowance | null;
      /** Someone in it may get no copy, if the send asked. */
      listed: boolean;
    }
  | { kind: 'conflict' | 'relay-down' | 'queue-full' }
  /**
   * Nothing is wrong with it, but with another send of a request that is accepted as a whole or not
   * at all.
   */
  | { kind: 'withheld' }
  | { kind: 'over-quota' | 'over-rate'; retryAfterSeconds: number; allowance: Allowance }
  | { kind: 'over-cap'; retryAfterSeconds: number; capLeft: number };

export interface Batcher extends GroupCommit<PackedSend, Verdict> {
  /** The sends of one request, in a transaction of their own; a verdict for each, in order. */
  addTogether(request: Together): Promise<Verdict[]>;
}

/** The sends of one request, through one API key. */
export interface Together {
  sends: readonly PackedSend[];
  /** All of them or none: if one is refused, the others are withheld. */
  whole: boolean;
}

export function openBatcher(deps: {
  database: Database;
  metrics: Metrics;
  /** Asked once per batch: is the relay's circuit open? */
  relayIsDown: () => boolean;
  /** Asked once per batch: is the queue full? */
  queueIsFull?: () => boolean;
  /** The database's clock, if batches must not be accepted late. */
  databaseNowMs?: () => number;
  /** Called after each commit: there is something to hand over. */
  onCommitted: (sends: readonly PackedSend[]) => void;
  onFailed?: (error: unknown) => void;
}): Batcher {
  // Present from the start: a rate needs a value before the first send.
  for (const door of DOORS) deps.metrics.accepted.inc({ door }, 0);
  const ordinary = createGroupCommit({
    mostInFlight: 2,
    worthAnother: 48,
    mostItems: 256,
    mostBytes: 8 * LARGE_BYTES,
    sizeOf: (send) => send.size,
    ownerOf: (send) => send.accountId,
    apart: (send) => deps.database.near(send.accountId),
    write,
  });
  const oneByOne = (mostInFlight: number) =>
    createGroupCommit<Together, Verdict[]>({
      ...{ mostInFlight, mostItems: 1 },
      ownerOf: ({ sends }) => sends[0]!.accountId,
      apart: ({ sends }) => deps.database.near(sends[0]!.accountId),
      write: async ([request]) => [await write(request!.sends, request!.whole)],
    });
  const together = oneByOne(2);
  // Alongside the others: nobody waits until 25 MB are on disk.
  const large = oneByOne(1);
  return {
    add: (send) =>
      send.size > LARGE_BYTES
        ? large.add({ sends: [send], whole: false }).then(([verdict]) => verdict!)
        : ordinary.add(send),
    addTogether: (request) => (isLarge(request) ? large : together).add(request),
    async drain() {
      await Promise.all([ordinary.drain(), together.drain(), large.drain()]);
    },
  };

  async function write(sends: readonly PackedSend[], whole = false): Promise<Verdict[]> {
    const relayDown = deps.relayIsDown() && !sends.every(isCaptured);
    // Captured email needs no relay, and is written separately while none can be reached.
    if (relayDown && sends.some(isCaptured)) return await writeApart(sends);
    try {
      const closed = relayDown ? 'relay-down' : deps.queueIsFull?.() ? 'queue-full' : null;
      const nowMs = deps.databaseNowMs?.();
      const doneBy = nowMs === undefined ? null : new Date(nowMs + DONE_WITHIN_MS);
      const node = deps.database.near(sends[0]!.accountId);
      const verdicts = await acceptSends(node, { sends, whole }, closed, doneBy);
      deps.metrics.batchSize.observe(sends.length);
      countAccepted(deps.metrics, sends, verdicts);
      for (const send of sends) freeContent(send);
      deps.onCommitted(sends);
      return verdicts;
    } catch (error) {
      if (isDataFault(error)) throw error;
      deps.onFailed?.(error);
      throw notAccepted(error);
    }
  }

  /** From several callers: a request that must be whole has one key, and therefore one kind. */
  async function writeApart(sends: readonly PackedSend[]): Promise<Verdict[]> {
    const captured = await write(sends.filter(isCaptured));
    const others = await write(sends.filter((send) => !isCaptured(send)));
    return sends.map((send) => (isCaptured(send) ? captured : others).shift()!);
  }
}

/**
 * Made for this send alone, and on disk by now: soon the same bytes are loaded to be handed over.
 */
function freeContent({ html, text, attachments }: PackedSend): void {
  for (const content of [html, text, attachments]) {
    if (typeof content !== 'string') freeBytes(content);
  }
}

const isCaptured = ({ sandbox }: PackedSend): boolean => sandbox === true;

const LARGE_BYTES = 1024 * 1024;

const isLarge = ({ sends }: Together): boolean =>
  sends.reduce((sum, { size }) => sum + size, 0) > 8 * LARGE_BYTES;

const isAccepted = ({ kind }: Verdict): boolean => kind === 'accepted' || kind === 'repeated';

function countAccepted(
  { accepted }: Metrics,
  sends: readonly PackedSend[],
  verdicts: readonly Verdict[],
): void {
  const byDoor = new Map<Door, number>();
  sends.forEach(({ door }, index) => {
    if (isAccepted(verdicts[index]!)) byDoor.set(door, (byDoor.get(door) ?? 0) + 1);
  });
  for (const [door, count] of byDoor) accepted.inc({ door }, count);
}

/**
 * A server that was frozen, or whose packets were delayed, may read a batch or continue with it
 * long after its callers were told 503 and have retried. It must not accept it then. A batch that
 * froze while it was being written to disk cannot be taken back.
 */
const DONE_WITHIN_MS = 5000;

function notAccepted(error: unknown): Problem {
  const { detail, retryAfterSeconds = 2 } =
    problemOf(error) ?? new Problem('unavailable', 'The database could not store the email.');
  return new Problem(
    'unavailable',
    `${detail} The email was not accepted; an Idempotency-Key makes it safe to send it again.`,
    { retryAfterSeconds, cause: error },
  );
}

const after = SEND_COLUMNS.length;
const ACCEPT_SQL = `SELECT * FROM accept_sends(
  ${SEND_COLUMNS.asArguments()},
  p_relay_down => $${after + 1}, p_default_quota => $${after + 2}, p_default_rate => $${after + 3},
  p_whole => $${after + 4}, p_apart => $${after + 5})
  WHERE coalesce($${after + 6}::timestamptz, 'infinity') > now() AND in_time($${after + 6})`;

async function acceptSends(
  database: Database,
  { sends, whole }: Together,
  closed: 'relay-down' | 'queue-full' | null,
  doneBy: Date | null,
): Promise<Verdict[]> {
  const rows = await database.call<AllowanceRow | ListedRow | VerdictRow>(
    'accept-sends',
    ACCEPT_SQL,
    [
      ...SEND_COLUMNS.values(sends),
      closed !== null,
      PLANS.paid.dailyQuota,
      PLANS.paid.ratePerSecond,
      whole,
      database.home([]) !== null,
      doneBy,
    ],
  );
  // Every batch asks for an account's allowance or finds a key used before: no row means that it
  // came too late.
  if (rows.length === 0) throw databaseAway('the batch reached the database too late');
  const allowances = new Map<number, Allowance>();
  const verdicts = new Map<number, VerdictRow>();
  const listed = new Set<number>();
  for (const row of rows) {
    if (row.n === null) {
      allowances.set(row.account_id, {
        quota: row.quota,
        quotaLeft: row.quota_left,
        rate: row.rate,
      });
    } else if (row.verdict === 'listed') listed.add(row.n - 1);
    else verdicts.set(row.n - 1, row);
  }
  return sends.map((send, index) => {
    const allowance = allowances.get(send.accountId) ?? null;
    return toVerdict(send, verdicts.get(index), { allowance, listed: listed.has(index) }, closed);
  });
}

/** What is left of one account's allowance after the batch. */
interface AllowanceRow {
  n: null;
  account_id: number;
  quota: number;
  quota_left: number;
  rate: number;
}

/** A send that asked, and has a recipient in a list; n is its place in the batch, from 1. */
interface ListedRow {
  n: number;
  verdict: 'listed';
}

/** A send that was not simply accepted. */
interface VerdictRow {
  n: number;
  verdict: Exclude<Verdict['kind'], 'accepted' | 'queue-full'>;
  message_id: string;
  retry_after: number | null;
  cap_left: number | null;
}

function toVerdict(
  send: PackedSend,
  row: VerdictRow | undefined,
  { allowance, listed }: { allowance: Allowance | null; listed: boolean },
  closed: 'relay-down' | 'queue-full' | null,
): Verdict {
  if (row === undefined) return { kind: 'accepted', id: send.id, allowance, listed };
  switch (row.verdict) {
    case 'repeated':
      return { kind: 'repeated', id: uuidToBytes(row.message_id), allowance, listed };
    case 'over-quota':
    case 'over-rate':
      return { kind: row.verdict, retryAfterSeconds: row.retry_after!, allowance: allowance! };
    case 'over-cap':
      return { kind: 'over-cap', retryAfterSeconds: row.retry_after!, capLeft: row.cap_left! };
    case 'relay-down':
      // The statement knows that nothing new is accepted, but not why.
      return { kind: closed ?? 'relay-down' };
    default:
      return { kind: row.verdict };
  }
}
