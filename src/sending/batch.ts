// Group commit: what arrived while the last commit was in flight goes to PostgreSQL in one statement.
// Before it: accept.ts has checked and packed a send. After it: the send is on disk, or it has a verdict why not.

import { PLANS } from '../accounts/plans.ts';
import { Problem } from '../errors.ts';
import { uuidToBytes } from '../ids.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import {
  arrayLiteral,
  byteaArray,
  int4Array,
  int8Array,
  textArray,
  uuidArray,
} from '../store/binary.ts';
import type { Database } from '../store/pool.ts';

/** A checked and rendered send, ready to be written. */
export interface PackedSend {
  id: Buffer;
  accountId: number;
  keyId: string | null;
  door: 'rest' | 'mcp' | 'dashboard';
  from: string;
  envelope: readonly string[];
  recipientCount: number;
  subject: string;
  tags: readonly string[] | null;
  template: string | null;
  templateVersion: number | null;
  brandingVersion: number | null;
  head: Buffer;
  html: Buffer | null;
  text: Buffer | null;
  attachments: Buffer | null;
  idempotency: { key: string; requestHash: Buffer } | null;
}

/** What is left of the account's allowance; null where the send did not ask for it. */
export interface Allowance {
  quota: number;
  quotaLeft: number;
  rate: number;
}

export type Verdict =
  | { kind: 'accepted' | 'repeated'; id: Buffer; allowance: Allowance | null }
  | { kind: 'conflict' | 'relay-down' }
  | { kind: 'over-quota' | 'over-rate'; retryAfterSeconds: number; allowance: Allowance };

export interface Batcher {
  add(send: PackedSend): Promise<Verdict>;
  /** Waits until everything added is written. */
  drain(): Promise<void>;
}

const MOST_IN_FLIGHT = 2;
const MOST_SENDS = 256;
const MOST_BYTES = 8 * 1024 * 1024;

interface Waiting {
  send: PackedSend;
  resolve: (verdict: Verdict) => void;
  reject: (error: unknown) => void;
}

export function openBatcher(deps: {
  database: Database;
  metrics: Metrics;
  log: Log;
  /** Asked once per batch: is the relay's circuit open? */
  relayIsDown: () => boolean;
  /** Told after each commit that there is something to hand over. */
  onCommitted: () => void;
}): Batcher {
  let waiting: Waiting[] = [];
  let scheduled = false;
  const inFlight = new Set<Promise<void>>();

  function schedule(): void {
    if (scheduled || waiting.length === 0 || inFlight.size >= MOST_IN_FLIGHT) return;
    scheduled = true;
    // Requests that were parsed in this turn of the event loop go together.
    setImmediate(() => {
      scheduled = false;
      const batch = takeBatch();
      if (batch.length === 0) return;
      const work = commit(batch).finally(() => {
        inFlight.delete(work);
        schedule();
      });
      inFlight.add(work);
      schedule();
    });
  }

  function takeBatch(): Waiting[] {
    let bytes = 0;
    let count = 0;
    while (count < waiting.length && count < MOST_SENDS) {
      bytes += sizeOf(waiting[count]!.send);
      if (count > 0 && bytes > MOST_BYTES) break;
      count++;
    }
    const batch = waiting.slice(0, count);
    waiting = waiting.slice(count);
    return batch;
  }

  async function commit(batch: Waiting[]): Promise<void> {
    try {
      const verdicts = await acceptSends(
        deps.database,
        batch.map((entry) => entry.send),
        deps.relayIsDown(),
      );
      deps.metrics.batchSize.observe(batch.length);
      deps.onCommitted();
      for (const [index, entry] of batch.entries()) entry.resolve(verdicts[index]!);
    } catch (error) {
      if (batch.length > 1 && isDataFault(error)) {
        // Nothing of the batch was written. One at a time, a bad send fails alone.
        deps.log.error(
          { err: error },
          'a batch was refused by the database; writing its sends one by one',
        );
        for (const entry of batch) await commit([entry]);
        return;
      }
      const problem = new Problem(
        'unavailable',
        'The database cannot be reached right now, so the mail was not accepted. Try again shortly; an Idempotency-Key makes that safe.',
        { retryAfterSeconds: 2, cause: error },
      );
      for (const entry of batch) entry.reject(isDataFault(error) ? error : problem);
    }
  }

  return {
    add(send) {
      return new Promise((resolve, reject) => {
        waiting.push({ send, resolve, reject });
        schedule();
      });
    },
    async drain() {
      while (waiting.length > 0 || inFlight.size > 0 || scheduled) {
        await Promise.all(inFlight);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

const sizeOf = (send: PackedSend): number =>
  send.head.length +
  (send.html?.length ?? 0) +
  (send.text?.length ?? 0) +
  (send.attachments?.length ?? 0);

/** SQLSTATE classes 22 (data), 23 (constraint) and 54 (limits): the statement's own fault, not the connection's. */
function isDataFault(error: unknown): boolean {
  const state = (error as { code?: unknown } | null)?.code;
  return typeof state === 'string' && /^(22|23|54)/.test(state);
}

const ACCEPT_SQL = `SELECT * FROM accept_sends(
  $1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::integer[], $6::text[], $7::text[],
  $8::text[], $9::integer[], $10::integer[], $11::text[], $12::uuid[],
  $13::bytea[], $14::bytea[], $15::bytea[], $16::bytea[], $17::text[], $18::bytea[],
  $19, $20, $21)`;

async function acceptSends(
  database: Database,
  sends: readonly PackedSend[],
  relayDown: boolean,
): Promise<Verdict[]> {
  const rows = await database.prepared<VerdictRow>('accept-sends', ACCEPT_SQL, [
    uuidArray(sends.map((send) => send.id)),
    int8Array(sends.map((send) => send.accountId)),
    textArray(sends.map((send) => send.from)),
    textArray(sends.map((send) => arrayLiteral(send.envelope))),
    int4Array(sends.map((send) => send.recipientCount)),
    textArray(sends.map((send) => send.subject)),
    textArray(sends.map((send) => send.tags && arrayLiteral(send.tags))),
    textArray(sends.map((send) => send.template)),
    int4Array(sends.map((send) => send.templateVersion)),
    int4Array(sends.map((send) => send.brandingVersion)),
    textArray(sends.map((send) => send.door)),
    uuidArray(sends.map((send) => send.keyId && uuidToBytes(send.keyId)) as (Buffer | null)[]),
    byteaArray(sends.map((send) => send.head)),
    byteaArray(sends.map((send) => send.html)),
    byteaArray(sends.map((send) => send.text)),
    byteaArray(sends.map((send) => send.attachments)),
    textArray(sends.map((send) => send.idempotency?.key ?? null)),
    byteaArray(sends.map((send) => send.idempotency?.requestHash ?? null)),
    relayDown,
    PLANS.paid.dailyQuota,
    PLANS.paid.ratePerSecond,
  ]);
  return rows.map(toVerdict);
}

interface VerdictRow {
  verdict: Verdict['kind'];
  message_id: string;
  retry_after: number | null;
  quota: number | null;
  quota_left: number | null;
  rate: number | null;
}

function toVerdict(row: VerdictRow): Verdict {
  const allowance =
    row.quota === null || row.quota_left === null || row.rate === null
      ? null
      : { quota: row.quota, quotaLeft: row.quota_left, rate: row.rate };
  switch (row.verdict) {
    case 'accepted':
    case 'repeated':
      return { kind: row.verdict, id: uuidToBytes(row.message_id), allowance };
    case 'over-quota':
    case 'over-rate':
      return { kind: row.verdict, retryAfterSeconds: row.retry_after!, allowance: allowance! };
    default:
      return { kind: row.verdict };
  }
}
