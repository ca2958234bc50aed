// The ceiling on the queue: how many emails wait and how many bytes they have, looked at now and
// then. Past the limit, sends are refused: a full disk would stop everything, and for longer. What
// is scheduled takes its place for weeks, so it may have half of the room: nobody's emails of next
// month keep out those of today. Before: main.ts; asked by sending/batch.ts for every batch.
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
  /** The same for what is scheduled, which may take half of the room. */
  scheduledFullness(): string | undefined;
  /** The same as an error, for /readyz. */
  requireRoom(): Promise<void>;
  /** Sends that were just accepted: they count at once, not with the next look. */
  grow(sends: readonly { size: number; scheduledAtMs: number | null }[]): void;
  close(): Promise<void>;
}

export async function watchQueue(deps: {
  database: Database;
  log: Log;
  limit: QueueSize;
}): Promise<QueueWatch> {
  const couldNotLook = recurringFault(deps.log, 'warn', 'could not check how long the queue is');
  const { rest, wake } = createNap();
  let known: QueueShares = { all: NOTHING, scheduled: NOTHING };
  /** Since the last look. */
  let grown: QueueShares = { all: NOTHING, scheduled: NOTHING };
  let full = false;
  let stopping = false;

  async function look(): Promise<void> {
    const before = grown;
    known = await sizeOfQueue(deps.database);
    // What came in while it looked may be counted twice until the next look, never not at all.
    grown = {
      all: sum(grown.all, before.all, -1),
      scheduled: sum(grown.scheduled, before.scheduled, -1),
    };
    if (full === (fullness() !== undefined)) return;
    full = !full;
    deps.log.warn(
      { ...known.all, limit: deps.limit },
      full ? 'the queue is full; new sends get 503' : 'the queue has room again',
    );
  }

  const fullness = (): string | undefined =>
    describeFullness(sum(known.all, grown.all), deps.limit);
  const forScheduled: QueueSize = { mails: deps.limit.mails / 2, bytes: deps.limit.bytes / 2 };

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
    scheduledFullness: () =>
      describeFullness(sum(known.scheduled, grown.scheduled), forScheduled) && SCHEDULED_FULL,
    async requireRoom() {
      const detail = fullness();
      if (detail !== undefined) throw new Problem('unavailable', detail);
    },
    grow(sends) {
      const scheduled = sends.filter(({ scheduledAtMs }) => scheduledAtMs !== null);
      grown = {
        all: sum(grown.all, sizeOf(sends)),
        scheduled: sum(grown.scheduled, sizeOf(scheduled)),
      };
    },
    async close() {
      stopping = true;
      wake();
      await running;
    },
  };
}

const NOTHING: QueueSize = { mails: 0, bytes: 0 };

const sizeOf = (sends: readonly { size: number }[]): QueueSize => ({
  mails: sends.length,
  bytes: sends.reduce((bytes, { size }) => bytes + size, 0),
});

const sum = (one: QueueSize, other: QueueSize, times = 1): QueueSize => ({
  mails: one.mails + times * other.mails,
  bytes: one.bytes + times * other.bytes,
});

const SCHEDULED_FULL =
  'Too many emails are scheduled on this service. Send this one when its time has come, or try again later.';

export interface QueueShares {
  /** Every row waits or is in hand, whatever its other columns say. */
  all: QueueSize;
  /** Those among them that were never tried and wait for their time. */
  scheduled: QueueSize;
}

export async function sizeOfQueue(database: Database): Promise<QueueShares> {
  const [row] = await database.prepared<QueueSize & { later: number; laterBytes: number }>(
    'size-of-queue',
    `SELECT count(*)::float8 AS mails, coalesce(sum(size), 0)::float8 AS bytes,
            count(*) FILTER (WHERE ${SCHEDULED})::float8 AS later,
            coalesce(sum(size) FILTER (WHERE ${SCHEDULED}), 0)::float8 AS "laterBytes"
     FROM due_messages`,
    [],
  );
  const { mails, bytes, later, laterBytes } = row!;
  return { all: { mails, bytes }, scheduled: { mails: later, bytes: laterBytes } };
}

const SCHEDULED = `state = 'waiting' AND attempts = 0`;

/** What a full queue is full of; undefined: there is room. */
export function describeFullness(size: QueueSize, limit: QueueSize): string | undefined {
  if (size.mails >= limit.mails) {
    return `The queue is full: ${size.mails} emails are waiting for the relay, and QUEUE_LIMIT is ${limit.mails}.`;
  }
  if (size.bytes >= limit.bytes) {
    return `The queue is full: the emails waiting for the relay take ${inMb(size.bytes)}, and QUEUE_LIMIT_BYTES is ${inMb(limit.bytes)}.`;
  }
  return undefined;
}

const inMb = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MB`;
