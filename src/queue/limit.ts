// The ceiling on the queue: how many mails wait and how many bytes they have, looked at now and
// then. Past the limit, sends are refused: a full disk would stop everything, and for longer.
// Before: main.ts; asked by sending/batch.ts for every batch.
import { Problem } from '../errors.ts';
import type { Log } from '../log.ts';
import { createNap } from '../nap.ts';
import { recurringFault } from '../recurring-fault.ts';
import type { Database } from '../store/pool.ts';

const LOOK_EVERY_MS = 1000;
/**
 * Counting a million rows takes the server 0.1 s: it may spend this share of its time on it, and no
 * more.
 */
const MOST_OF_THE_TIME = 0.02;

export interface QueueSize {
  mails: number;
  bytes: number;
}

export interface QueueWatch {
  /** What to tell callers while the queue is full. */
  fullness(): string | undefined;
  /** The same as an error, for /readyz. */
  requireRoom(): Promise<void>;
  /** Sends that were just accepted: they count at once, not with the next look. */
  grow(sends: readonly { size: number }[]): void;
  close(): Promise<void>;
}

export async function watchQueue(deps: {
  database: Database;
  log: Log;
  limit: QueueSize;
}): Promise<QueueWatch> {
  const couldNotLook = recurringFault(deps.log, 'warn', 'could not look how long the queue is');
  const { rest, wake } = createNap();
  let known: QueueSize = { mails: 0, bytes: 0 };
  /** Since the last look. */
  const grown: QueueSize = { mails: 0, bytes: 0 };
  let full = false;
  let stopping = false;

  async function look(): Promise<void> {
    const { mails, bytes } = grown;
    known = await sizeOfQueue(deps.database);
    // What came in while it looked may be counted twice until the next look, never not at all.
    grown.mails -= mails;
    grown.bytes -= bytes;
    if (full === (fullness() !== undefined)) return;
    full = !full;
    deps.log.warn(
      { ...known, limit: deps.limit },
      full ? 'the queue is full; new sends get 503' : 'the queue has room again',
    );
  }

  const fullness = (): string | undefined =>
    describeFullness(
      { mails: known.mails + grown.mails, bytes: known.bytes + grown.bytes },
      deps.limit,
    );

  async function run(): Promise<void> {
    let tookMs = 0;
    while (!stopping) {
      await rest(Math.max(LOOK_EVERY_MS, tookMs / MOST_OF_THE_TIME));
      if (stopping) return;
      const startedAtMs = performance.now();
      await look().catch(couldNotLook);
      tookMs = performance.now() - startedAtMs;
    }
  }

  await look();
  const running = run();
  return {
    fullness,
    async requireRoom() {
      const detail = fullness();
      if (detail !== undefined) throw new Problem('unavailable', detail);
    },
    grow(sends) {
      grown.mails += sends.length;
      for (const send of sends) grown.bytes += send.size;
    },
    async close() {
      stopping = true;
      wake();
      await running;
    },
  };
}

/** Every row waits or is in hand, whatever its other columns say. */
export async function sizeOfQueue(database: Database): Promise<QueueSize> {
  const [row] = await database.prepared<QueueSize>(
    'size-of-queue',
    'SELECT count(*)::float8 AS mails, coalesce(sum(size), 0)::float8 AS bytes FROM due_messages',
    [],
  );
  return row!;
}

/** What a full queue is full of; undefined: there is room. */
export function describeFullness(size: QueueSize, limit: QueueSize): string | undefined {
  if (size.mails >= limit.mails) {
    return `The queue is full: ${size.mails} mails wait for the relay, and QUEUE_LIMIT is ${limit.mails}.`;
  }
  if (size.bytes >= limit.bytes) {
    return `The queue is full: the mails that wait for the relay have ${inMb(size.bytes)}, and QUEUE_LIMIT_BYTES is ${inMb(limit.bytes)}.`;
  }
  return undefined;
}

const inMb = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MB`;
