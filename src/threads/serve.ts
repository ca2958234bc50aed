// In the thread: batches of orders come in, results go out. Before it: thread.ts posts a batch.
// After it: thread.ts gets answers.
import { parentPort, workerData } from 'node:worker_threads';
import { Problem } from '../errors.ts';
import { openThreadClock, ownThreadId, type ThreadClock } from '../process/thread-clock.ts';

/**
 * Plain work on what can be cloned; `thing` gives what was handed over once for many orders. May
 * throw a Problem.
 */
// biome-ignore lint/suspicious/noExplicitAny: each job has its own input
export type Job = (input: any, thing: (key: string) => unknown) => unknown;
export type Jobs = Record<string, Job>;

export interface Batch {
  /** New to this thread, by their keys. */
  things: [key: string, value: unknown][];
  /** Keys of what it need not keep any longer. */
  forget: string[];
  orders: [job: string, input: unknown][];
}

/** Place in the batch, milliseconds it took, and what came out. */
export type JobDone = [place: number, ms: number, result: Result];
export type Result =
  | { output: unknown }
  | { problem: Pick<Problem, 'code' | 'detail' | 'faults'> }
  | { failure: unknown };

/** The thread has loaded what it runs; under which name the system knows it, if under any. */
export interface Ready {
  ready: string | undefined;
}

export interface JobsDone {
  answers: JobDone[];
  /** The batch is over; what has no answer was not begun. */
  over: boolean;
}

/** The place of the order a thread works on, for whoever has to find the guilty one. */
export const RESTING = -1;

/** After so long a batch is given back: others may have been waiting. */
const LONGEST_BATCH_MS = 20;
/** What is done is sent together, but those at the front need not wait for all. */
const ANSWER_EVERY_MS = 5;

/** What the pool was opened with for its threads. */
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
      Atomics.store(progress, 0, place);
      const result = attempt(() => jobs[name]!(input, thing));
      const nowMs = watch();
      answers.push([place, nowMs - doneMs, result]);
      doneMs = nowMs;
      if (nowMs > LONGEST_BATCH_MS) break;
      if (nowMs - answeredMs > ANSWER_EVERY_MS) {
        post({ answers, over: false });
        answers = [];
        answeredMs = nowMs;
      }
    }
    Atomics.store(progress, 0, RESTING);
    post({ answers, over: true });
    if (tidy !== undefined) setImmediate(tidy);
  });

  function post(message: JobsDone): void {
    port.postMessage(message, joinBytes(message.answers));
  }

  // Nested too deep, or more than its memory holds: what it was is known on the other side.
  port.on('messageerror', (error) => {
    throw error;
  });
  port.postMessage({ ready: ownThreadId() } satisfies Ready);
}

/**
 * How long this thread worked since. The exact clock is asked only where the one on the wall went
 * on suspiciously far.
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

/** Bytes that have so many in a buffer of their own change hands as they are. */
const LARGE_BYTES = 64 * 1024;

/** What holds bytes: an output, or a list in one. */
type Holder = Record<string, unknown>;

/**
 * Bytes of all outputs, one after the other in one buffer that changes hands: copying each by
 * itself took 60 µs an email. Large ones are not copied at all, and what is shared stays where it
 * is.
 */
function joinBytes(answers: JobDone[]): ArrayBuffer[] {
  const found: [holder: Holder, field: string, bytes: Uint8Array][] = [];
  const whole = new Set<ArrayBuffer>();
  function collect(holder: Holder): void {
    for (const [field, value] of Object.entries(holder)) {
      if (Array.isArray(value)) collect(value as unknown as Holder);
      if (!(value instanceof Uint8Array) || value.buffer instanceof SharedArrayBuffer) continue;
      if (isAlone(value)) whole.add(value.buffer as ArrayBuffer);
      else found.push([holder, field, value]);
    }
  }
  for (const [, , result] of answers) {
    if (!('output' in result) || typeof result.output !== 'object' || result.output === null) {
      continue;
    }
    collect(result.output as Holder);
  }
  if (found.length === 0) return [...whole];
  const joined = new ArrayBuffer(found.reduce((sum, [, , bytes]) => sum + bytes.length, 0));
  let at = 0;
  for (const [holder, field, bytes] of found) {
    const place = new Uint8Array(joined, at, bytes.length);
    place.set(bytes);
    holder[field] = place;
    at += bytes.length;
  }
  return [...whole, joined];
}

/** It fills most of its buffer, which is then nobody else's. */
const isAlone = ({ buffer, length }: Uint8Array): boolean =>
  length >= LARGE_BYTES && length * 2 > buffer.byteLength;
