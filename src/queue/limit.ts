// The ceiling on the queue: how many emails wait and how many bytes they have, counted now and
// then. Past the limit, sends are refused: a full disk would stop everything, and for longer.
// Scheduled emails take up room for weeks, so they may have half of it: next month's emails must
// not keep out today's. Before: main.ts; checked by sending/batch.ts for every batch.
import { Problem } from '../errors.ts';
import type { Log } from '../process/log.ts';
import { createNap } from '../process/nap.ts';
import { recurringFault } from '../process/recurring-fault.ts';
import { pauseAfter } from '../process/sparingly.ts';
import type { Database } from '../store/pool.ts';

const LOOK_EVERY_MS = 1000;
/** While less than half of the room is taken, a long queue is counted this much less often. */
const RARELY = 5;

export interface QueueSize {
  emails: number;
  bytes: number;
}

export interface QueueWatch {
  /** What to tell callers while the queue is full. */
  fullness(): string | undefined;
  /** The same for scheduled emails, which may take half of the room. */
  scheduledFullness(): string | undefined;
  /** The same as an error, for /readyz. */
  requireRoom(): Promise<void>;
  /** Sends that were just accepted: they count at once, not only after the next count. */
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
  /** For each server, as of its last answer. */
  let sizes = new Map<string, QueueShares>();
  let known = NONE;
  /** Since the last count. */
  let grown = NONE;
  let full = false;
  let stopping = false;

  async function look(): Promise<void> {
    const before = grown;
    sizes = await sizesNow();
    known = [...sizes.values()].reduce((one, other) => sumShares(one, other), NONE);
    // What arrived during the count may be counted twice until the next one, but is never missed.
    grown = sumShares(grown, before, -1);
    if (full === (fullness() !== undefined)) return;
    full = !full;
    deps.log.warn(
      { ...known.all, mostEmails: deps.limit.emails, mostBytes: deps.limit.bytes },
      full ? 'the queue is full; new sends get 503' : 'the queue has room again',
    );
  }

  /** Nothing new is known about a node that is away; the others still count. */
  async function sizesNow(): Promise<Map<string, QueueShares>> {
    const nodes = deps.database.nodes();
    const looks = await Promise.allSettled(nodes.map(({ database }) => sizeHere(database)));
    const failed = looks.filter((it) => it.status === 'rejected');
    if (failed.length === nodes.length) throw failed[0]!.reason;
    for (const { reason } of failed) couldNotLook(reason);
    return new Map(
      nodes.map(({ name }, at) => {
        const look = looks[at]!;
        return [name, look.status === 'fulfilled' ? look.value : (sizes.get(name) ?? NONE)];
      }),
    );
  }

  const fullness = (): string | undefined =>
    describeFullness(sum(known.all, grown.all), deps.limit);
  const half: QueueSize = { emails: deps.limit.emails / 2, bytes: deps.limit.bytes / 2 };
  const isHalfFull = (): boolean => describeFullness(sum(known.all, grown.all), half) !== undefined;

  async function run(): Promise<void> {
    let tookMs = 0;
    while (!stopping) {
      const pauseMs = pauseAfter(tookMs, isHalfFull() ? 1 : RARELY);
      await rest(Math.max(LOOK_EVERY_MS, pauseMs));
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
      describeFullness(sum(known.scheduled, grown.scheduled), half) && SCHEDULED_FULL,
    async requireRoom() {
      const detail = fullness();
      if (detail !== undefined) throw new Problem('unavailable', detail);
    },
    grow(sends) {
      const scheduled = sends.filter(({ scheduledAtMs }) => scheduledAtMs !== null);
      grown = sumShares(grown, { all: sizeOf(sends), scheduled: sizeOf(scheduled) });
    },
    async close() {
      stopping = true;
      wake();
      await running;
    },
  };
}

const NOTHING: QueueSize = { emails: 0, bytes: 0 };

const sizeOf = (sends: readonly { size: number }[]): QueueSize => ({
  emails: sends.length,
  bytes: sends.reduce((bytes, { size }) => bytes + size, 0),
});

const sum = (one: QueueSize, other: QueueSize, times = 1): QueueSize => ({
  emails: one.emails + times * other.emails,
  bytes: one.bytes + times * other.bytes,
});

const NONE: QueueShares = { all: NOTHING, scheduled: NOTHING };

const sumShares = (one: QueueShares, other: QueueShares, times = 1): QueueShares => ({
  all: sum(one.all, other.all, times),
  scheduled: sum(one.scheduled, other.scheduled, times),
});

const SCHEDULED_FULL =
  'Too many emails are scheduled on this service. Send this one when its time has come, or try again later.';

export interface QueueShares {
  /** All rows, waiting or in hand, whatever their other columns say. */
  all: QueueSize;
  /** Those among them that were never tried and are scheduled. */
  scheduled: QueueSize;
}

/** On all servers; fails if one does not answer. */
export async function sizeOfQueue(database: Database): Promise<QueueShares> {
  const sizes = await Promise.all(database.nodes().map((node) => sizeHere(node.database)));
  return sizes.reduce((one, other) => sumShares(one, other), NONE);
}

async function sizeHere(server: Database): Promise<QueueShares> {
  const [row] = await server.prepared<Record<'mails' | 'bytes' | 'later' | 'later_bytes', number>>(
    'size-of-queue',
    'SELECT * FROM queue_size_here()',
    [],
  );
  const { mails: emails, bytes, later, later_bytes: laterBytes } = row!;
  return { all: { emails, bytes }, scheduled: { emails: later, bytes: laterBytes } };
}

/** What a full queue is full of; undefined: there is room. */
export function describeFullness(size: QueueSize, limit: QueueSize): string | undefined {
  if (size.emails >= limit.emails) {
    return `The queue is full: ${size.emails} emails are waiting for the relay, and QUEUE_LIMIT is ${limit.emails}.`;
  }
  if (size.bytes >= limit.bytes) {
    return `The queue is full: the emails waiting for the relay take ${inMb(size.bytes)}, and QUEUE_LIMIT_BYTES is ${inMb(limit.bytes)}.`;
  }
  return undefined;
}

const inMb = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MB`;
