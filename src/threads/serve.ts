// In the thread: batches of orders come in, results go out. Before it: thread.ts posts a batch.
// After it: thread.ts gets answers.
import { parentPort, workerData } from 'node:worker_threads';
import { isAlone } from '../bytes/large-bytes.ts';
import { Problem } from '../errors.ts';
import { openThreadClock, ownThreadId, type ThreadClock } from '../process/thread-clock.ts';

/**
 * Plain work on data that can be cloned; `thing` returns what was transferred once for many orders.
 * May throw a Problem.
 */
// biome-ignore lint/suspicious/noExplicitAny: each job has its own input
export type Job = (input: any, thing: (key: string) => unknown) => unknown;
export type Jobs = Record<string, Job>;

export interface Batch {
  /** New to this thread, by their keys. */
  things: [key: string, value: unknown][];
  /** Keys of things it no longer needs to keep. */
  forget: string[];
  orders: [job: string, input: unknown][];
}

/** Index in the batch, milliseconds it took, and the result. */
export type JobDone = [place: number, ms: number, result: Result];
export type Result =
  | { output: unknown }
  | { problem: Pick<Problem, 'code' | 'detail' | 'faults'> }
  | { failure: unknown };

/** The thread has loaded its file; with the system's name for the thread, if it has one. */
export interface Ready {
  ready: string | undefined;
}

export interface JobsDone {
  answers: JobDone[];
  /** The batch is over; orders without an answer were not started. */
  over: boolean;
}

/**
 * A thread's current index while it is between batches; otherwise the index of its current order.
 */
export const RESTING = -1;

/** What both sides of a thread share: the index of its current order, and whether it is to stop. */
export const PLACE = 0;
export const GIVE_WAY = 1;

/** After this time the rest of a batch is returned: others may be waiting. */
const LONGEST_BATCH_MS = 20;
/** Answers are sent together, but the first ones do not wait for all. */
const ANSWER_EVERY_MS = 5;

/** The data with which the pool was opened for its threads. */
export const given = <Given>(): Given => (workerData as { given: Given }).given;

/** `tidy`: what is done after each batch, once it is answered. */
export function serveJobs(jobs: Jobs, tidy?: () => void): void {
  const port = parentPort!;
  const { progress } = workerData as { progress: Int32Array };
  const clock = openThreadClock();
  const things = new Map<string, unknown>();
  const thing = (key: string): unknown => {
    if (things.has(key)) return things.get(key);
    throw new Error(`"${key}" was not handed over`);
  };

  port.on('message', (batch: Batch) => {
    for (const key of batch.forget) things.delete(key);
    for (const [key, value] of batch.things) things.set(key, value);
    const watch = startStopwatch(clock);
    let answers: JobDone[] = [];
    let answeredMs = 0;
    let doneMs = 0;
    for (const [place, [name, input]] of batch.orders.entries()) {
      Atomics.store(progress, PLACE, place);
      const result = attempt(() => jobs[name]!(input, thing));
      const nowMs = watch();
      answers.push([place, nowMs - doneMs, result]);
      doneMs = nowMs;
      if (nowMs > LONGEST_BATCH_MS || Atomics.load(progress, GIVE_WAY) === 1) break;
      if (nowMs - answeredMs > ANSWER_EVERY_MS) {
        post({ answers, over: false });
        answers = [];
        answeredMs = nowMs;
      }
    }
    Atomics.store(progress, PLACE, RESTING);
    post({ answers, over: true });
    if (tidy !== undefined) setImmediate(tidy);
  });

  function post(message: JobsDone): void {
    port.postMessage(message, joinBytes(message.answers));
  }

  // Nested too deep, or larger than its memory: the other side knows what it was.
  port.on('messageerror', (error) => {
    throw error;
  });
  port.postMessage({ ready: ownThreadId() } satisfies Ready);
}

/**
 * How long this thread has worked since. The CPU clock is read only if wall time is suspiciously
 * long.
 */
function startStopwatch(clock: ThreadClock): () => number {
  const startedMs = performance.now();
  const workedMs = clock.workedMs();
  let elsewhereMs = 0;
  let lastMs = startedMs;
  let sumMs = 0;
  return () => {
    const nowMs = performance.now();
    if (nowMs - lastMs > ANSWER_EVERY_MS) {
      const worked = clock.workedMs() - workedMs;
      elsewhereMs = Math.max(elsewhereMs, nowMs - startedMs - worked);
    }
    lastMs = nowMs;
    sumMs = Math.max(sumMs, nowMs - startedMs - elsewhereMs);
    return sumMs;
  };
}

function attempt(work: () => unknown): Result {
  try {
    return { output: work() };
  } catch (error) {
    if (error instanceof Problem) {
      const { code, detail, faults } = error;
      return { problem: { code, detail, faults } };
    }
    return { failure: error };
  }
}

/** From this size on, bytes in a buffer of their own are transferred instead of copied. */
const LARGE_BYTES = 64 * 1024;

/** What contains bytes: an output, or a list in one. */
type Holder = Record<string, unknown>;

/**
 * The bytes of all outputs, one after the other in one buffer that is transferred: copying each
 * separately took 60 µs per email. Large ones, and parts of them, are not copied at all, and shared
 * ones stay where they are.
 */
function joinBytes(answers: JobDone[]): ArrayBuffer[] {
  const found: [holder: Holder, field: string, bytes: Uint8Array][] = [];
  const whole = new Set<ArrayBuffer>();
  function collect(holder: Holder): void {
    for (const [field, value] of Object.entries(holder)) {
      if (Array.isArray(value)) collect(value as unknown as Holder);
      if (!(value instanceof Uint8Array) || value.buffer instanceof SharedArrayBuffer) continue;
      if (value.length >= LARGE_BYTES && isAlone(value)) whole.add(value.buffer as ArrayBuffer);
      else found.push([holder, field, value]);
    }
  }
  for (const [, , result] of answers) {
    if (!('output' in result) || typeof result.output !== 'object' || result.output === null) {
      continue;
    }
    collect(result.output as Holder);
  }
  const rest = found.filter(([, , { buffer }]) => !whole.has(buffer as ArrayBuffer));
  if (rest.length === 0) return [...whole];
  const joined = new ArrayBuffer(rest.reduce((sum, [, , bytes]) => sum + bytes.length, 0));
  let at = 0;
  for (const [holder, field, bytes] of rest) {
    const place = new Uint8Array(joined, at, bytes.length);
    place.set(bytes);
    holder[field] = place;
    at += bytes.length;
  }
  return [...whole, joined];
}
