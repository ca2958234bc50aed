// One thread, seen from the main one: started, given one batch at a time, watched, and ended if it
// cannot be trusted to end by itself. Before it: pool.ts decides what runs. After it: serve.ts in
// the thread.
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { openThreadClock, type ThreadClock } from '../process/thread-clock.ts';
import {
  type Batch,
  GIVE_WAY,
  type JobDone,
  type JobsDone,
  PLACE,
  RESTING,
  type Ready,
} from './serve.ts';

/**
 * Something large that many orders refer to by key; it is sent to each thread once. A key always
 * means the same value.
 */
export interface Thing {
  key: string;
  value: unknown;
  /** Roughly how many bytes it has. */
  size: number;
}

export interface ThreadOrder {
  job: string;
  input: unknown;
  uses: readonly Thing[];
  /** Buffers of the input: they are transferred to the thread and empty here afterwards. */
  transfer: readonly ArrayBuffer[];
}

export interface ThreadEvents {
  ready(): void;
  answered(answers: JobDone[]): void;
  /** The batch is over. */
  resting(): void;
  /** It ended by itself: out of memory, or a fault of ours. */
  died(error: Error): void;
  /** It ended, whatever the cause, and its memory is free. */
  gone(): void;
}

export type Thread = ReturnType<typeof startThread>;

/** How many things a thread keeps. Compiled templates take about ten times their source. */
const MOST_THINGS = 1000;
const MOST_THING_BYTES = 2 * 1024 * 1024;

/**
 * At its limit a thread gets 16 MB more in which to end. A collection moves up to a third of the
 * young space into the old space at once: with more than 48 MB (Node 24 defaults to 192) it may
 * need more than those 16 MB, and V8 then ends the whole process. A quarter of that costs no time,
 * and is what a thread may take beside its limit.
 */
const YOUNG_MB = 12;

/**
 * When it unrolls loops, V8 of Node 24 drops their check for interrupts where they only call
 * something built in, such as `fill`: a thread in such a loop could neither be ended nor held to
 * its limit, and took 14 GB. Older ones do not know the flag, or do not need it.
 */
if (Number.parseInt(process.versions.v8, 10) >= 13) {
  setFlagsFromString('--no-turboshaft-loop-unrolling');
}

export interface ThreadOptions {
  /** What it runs: a file that calls serveJobs. */
  file: URL;
  memoryMb: number;
  /** Data for the file, cloned. */
  given: unknown;
}

export function startThread({ file, memoryMb, given }: ThreadOptions, events: ThreadEvents) {
  const progress = new Int32Array(new SharedArrayBuffer(8));
  progress[PLACE] = RESTING;
  const worker = new Worker(file, {
    workerData: { progress, given },
    // Empty, so that a stranger's text can read nothing of ours, and no test runner's loader is
    // used.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: YOUNG_MB },
  });
  const known = new Map<string, number>();
  let knownBytes = 0;
  let ended = false;
  let clock: ThreadClock | undefined;

  worker.on('message', (message: Ready | JobsDone) => {
    if (ended) return;
    if ('ready' in message) {
      clock = openThreadClock(message.ready);
      return events.ready();
    }
    events.answered(message.answers);
    if (message.over) events.resting();
  });
  worker.on('messageerror', lost);
  worker.on('error', (error: Error) => lost(error));
  worker.on('exit', (code) => {
    lost(new Error(`a thread ended on its own, with code ${code}`));
    clock?.close();
    events.gone();
  });

  function lost(error: Error): void {
    if (ended) return;
    ended = true;
    events.died(error);
  }

  /**
   * Things new to the thread, and which of the oldest it may drop for them: never one that this
   * batch uses.
   */
  function handOver(orders: readonly ThreadOrder[]): Pick<Batch, 'things' | 'forget'> {
    const fresh = new Map<string, unknown>();
    const used = new Set<string>();
    for (const { key, value, size } of orders.flatMap(({ uses }) => uses)) {
      used.add(key);
      if (known.has(key)) continue;
      known.set(key, size);
      knownBytes += size;
      fresh.set(key, value);
    }
    const forget: string[] = [];
    if (fresh.size > 0) {
      for (const [key, size] of known) {
        if (known.size <= MOST_THINGS && knownBytes <= MOST_THING_BYTES) break;
        if (used.has(key)) continue;
        known.delete(key);
        knownBytes -= size;
        forget.push(key);
      }
    }
    return { things: [...fresh], forget };
  }

  return {
    work(orders: readonly ThreadOrder[]): void {
      const batch: Batch = {
        ...handOver(orders),
        orders: orders.map(({ job, input }) => [job, input]),
      };
      Atomics.store(progress, GIVE_WAY, 0);
      worker.postMessage(
        batch,
        orders.flatMap(({ transfer }) => [...transfer]),
      );
    },
    /**
     * CPU time of this thread only: what others do on this machine, or in this process, does not
     * count.
     */
    workedMs: () => clock?.workedMs() ?? 0,
    /** The index in its batch of the current order; RESTING between batches. */
    place: () => Atomics.load(progress, PLACE),
    /** It returns the rest of its batch after the current order. */
    giveWay: () => void Atomics.store(progress, GIVE_WAY, 1),
    /** Immediate for us. A native call still runs to its end: `gone` reports when. */
    end(): Promise<unknown> {
      ended = true;
      return worker.terminate();
    },
  };
}
