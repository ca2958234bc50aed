// Threads for work whose cost depends on a stranger's text: it runs beside the main thread, within
// limits of memory and time, and is killed when it exceeds them. Before it: a feature gives an
// order. After it: the job's output, a Problem, or JobStopped.
import { Problem } from '../errors.ts';
import { JobStopped } from '../process/job-stopped.ts';
import type { Log } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';
import { createLanes, type Share, type Waiting } from './lanes.ts';
import type { JobDone, Jobs } from './serve.ts';
import { startThread, type Thing, type Thread, type ThreadOrder } from './thread.ts';

export interface RunOptions {
  share: Share;
  uses?: readonly Thing[];
  /** Roughly how many bytes the input has; large ones do not share a batch. */
  size?: number;
  /** Buffers of the input: they are transferred, so the order is tried only once. */
  transfer?: readonly ArrayBuffer[];
  /** Called with how long a thread worked on it, even if there was no result. */
  spent?: (ms: number) => void;
}

export interface Pool<Known extends Jobs> {
  run<Name extends keyof Known & string>(
    job: Name,
    input: Parameters<Known[Name]>[0],
    options: RunOptions,
  ): Promise<ReturnType<Known[Name]>>;
  close(): Promise<void>;
}

export interface PoolOptions {
  /** What the threads run: a file that calls serveJobs. */
  file: URL;
  /** Data that each thread starts with. */
  given?: unknown;
  /** At least 2: if one is slow or was killed, another remains. */
  threads: number;
  log: Log;
  metrics: Pick<Metrics, 'jobsStopped' | 'jobWait' | 'jobBatch'>;
  /**
   * CPU time for one order: wall time alone does not count, because the machine may be busy with
   * others.
   */
  deadlineMs?: number;
  memoryMb?: number;
  /** How long an order waits for its turn before it is refused. */
  longestWaitMs?: number;
  mostWaiting?: number;
  /** False: a thread is started only when there is work for it. */
  startAhead?: boolean;
}

interface Order extends ThreadOrder, Waiting {
  /** How many threads ran out of memory while working on it. */
  strikes: number;
  spent: (ms: number) => void;
  resolve: (output: unknown) => void;
  reject: (error: unknown) => void;
}

interface Member {
  thread: Thread;
  state: 'starting' | 'idle' | 'busy';
  /** By their index; undefined once answered. */
  batch: (Order | undefined)[];
  givenMs: number;
  /** It is doing slow or suspect work. */
  slow: boolean;
  /** It was told to return what is left of its batch. */
  givesWay: boolean;
  /** The share whose work caused it to be ended. */
  guilty: Share | undefined;
  /** The work on one order, at the last check. */
  watched: { order: Order | undefined; sinceMs: number; workedMs: number };
}

const WATCH_EVERY_MS = 50;
/**
 * A thread that works on one order for this many times the deadline is stuck, however busy the
 * machine is.
 */
const STUCK = 20;
const START_AGAIN_AFTER_MS = 1000;

export function openPool<Known extends Jobs>(options: PoolOptions): Pool<Known> {
  const { file, given, threads, log, metrics } = options;
  const { deadlineMs = 500, memoryMb = 32, longestWaitMs = 15_000, mostWaiting = 4000 } = options;
  const { startAhead = true } = options;
  const lanes = createLanes<Order>();
  const members = new Set<Member>();
  /** Ended, but possibly still in a native call that nothing can interrupt. */
  let leaving = 0;
  let startAfterMs = 0;
  let scheduled = false;
  let watching: NodeJS.Timeout | undefined;
  let closed = false;
  keepOneIdle();

  function start(): void {
    const member: Member = {
      state: 'starting',
      batch: [],
      givenMs: 0,
      slow: false,
      givesWay: false,
      guilty: undefined,
      watched: { order: undefined, sinceMs: 0, workedMs: 0 },
      thread: startThread(
        { file, memoryMb, given },
        {
          ready: () => rest(member),
          answered: (answers) => answer(member, answers),
          resting: () => rest(member),
          died: (error) => lose(member, error),
          gone: () => {
            leaving--;
            if (member.guilty !== undefined) lanes.release(member.guilty);
            if (!closed) dispatch();
          },
        },
      ),
    };
    members.add(member);
  }

  /**
   * Besides the busy threads one is ready or starting, so that a killed one is replaced at once;
   * where none is started ahead, only if someone waits: a thread takes 12 MB.
   */
  function keepOneIdle(): void {
    if (closed || performance.now() < startAfterMs) return;
    if (!startAhead && lanes.count() === 0) return;
    const spare = [...members].some(({ state }) => state !== 'busy');
    if (!spare && members.size < threads && members.size + leaving < threads * 2) start();
  }

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    // What arrived during this turn of the event loop is sent together.
    setImmediate(() => {
      scheduled = false;
      dispatch();
    });
  }

  function dispatch(): void {
    for (const member of members) {
      if (lanes.count() === 0) break;
      if (member.state !== 'idle') continue;
      const batch = lanes.take({ alsoSlow: mayTakeSlow(), running: running() });
      if (batch.length === 0) break;
      give(member, batch);
    }
    keepOneIdle();
    if (lanes.count() > 0) makeWay();
    watch();
  }

  /**
   * If someone waits while one share has several orders in a batch, that batch ends early: others
   * wait for one order of a flood, not for 24.
   */
  function makeWay(): void {
    const busy = [...members];
    if (busy.some(({ state, givesWay }) => state !== 'busy' || givesWay)) return;
    if (!lanes.isKeptWaiting(running())) return;
    const crowded = busy.find((member) => new Set(sharesOf(member)).size < sharesOf(member).length);
    if (crowded === undefined) return;
    crowded.givesWay = true;
    crowded.thread.giveWay();
  }

  const sharesOf = ({ batch }: Member): Share[] => batch.flatMap((order) => order?.share ?? []);
  const running = (): Set<Share> => new Set([...members].flatMap(sharesOf));

  /** Slow work never takes the last thread, so that other work goes on. */
  function mayTakeSlow(): boolean {
    const slow = [...members].filter((member) => member.slow).length;
    return slow < Math.max(1, threads - 1);
  }

  function give(member: Member, batch: Order[]): void {
    member.state = 'busy';
    member.givesWay = false;
    member.batch = batch;
    member.givenMs = performance.now();
    member.slow = batch.some(({ alone, share }) => alone || lanes.isSlow(share));
    metrics.jobBatch.observe(batch.length);
    metrics.jobWait.observe((member.givenMs - batch[0]!.sinceMs) / 1000);
    try {
      member.thread.work(batch);
    } catch (error) {
      // Something in it cannot be cloned, which is our fault; the state of the thread is unknown.
      for (const order of left(member)) order.reject(error);
      drop(member);
    }
  }

  function answer(member: Member, answers: JobDone[]): void {
    for (const [place, ms, result] of answers) {
      const order = member.batch[place]!;
      member.batch[place] = undefined;
      lanes.note(order.share, ms);
      order.spent(ms);
      if ('output' in result) order.resolve(result.output);
      else if ('failure' in result) order.reject(result.failure);
      else {
        const { code, detail, faults } = result.problem;
        order.reject(new Problem(code, detail, { faults }));
      }
    }
  }

  function rest(member: Member): void {
    lanes.putBack(left(member));
    member.state = 'idle';
    member.slow = false;
    if (lanes.count() > 0) schedule();
  }

  function left(member: Member): Order[] {
    const orders = member.batch.filter((order) => order !== undefined);
    member.batch = [];
    return orders;
  }

  /** Checks whether an order takes too long, or waits too long. */
  function watch(): void {
    if (watching !== undefined || closed) return;
    if (lanes.count() === 0 && ![...members].some(({ state }) => state === 'busy')) return;
    watching = setTimeout(() => {
      watching = undefined;
      for (const member of members) if (member.state === 'busy') lookAt(member);
      dispatch();
      for (const order of lanes.takeOlderThan(performance.now() - longestWaitMs)) {
        order.reject(tooBusy());
      }
    }, WATCH_EVERY_MS);
  }

  function lookAt(member: Member): void {
    const order = member.batch[member.thread.place()];
    const { watched } = member;
    const [nowMs, nowWorkedMs] = [performance.now(), member.thread.workedMs()];
    if (order === undefined || watched.order !== order) {
      member.watched = { order, sinceMs: nowMs, workedMs: nowWorkedMs };
      return;
    }
    const tookMs = nowMs - watched.sinceMs;
    const worked = Math.min(tookMs, nowWorkedMs - watched.workedMs);
    if (worked < deadlineMs && tookMs < deadlineMs * STUCK) return;
    log.warn({ job: order.job, share: order.share, ms: tookMs }, 'a job was stopped: too long');
    // A native call runs to its end on a core: at most one for each share.
    member.guilty = order.share;
    lanes.hold(order.share);
    drop(member);
    stop(order, 'time', tookMs);
    lanes.putBack(left(member).filter((other) => other !== order));
    schedule();
  }

  function drop(member: Member): void {
    members.delete(member);
    leaving++;
    void member.thread.end();
  }

  function stop(order: Order, reason: JobStopped['reason'], ms: number): void {
    metrics.jobsStopped.inc({ reason });
    lanes.note(order.share, ms);
    order.spent(ms);
    order.reject(new JobStopped(reason));
  }

  /**
   * A thread ran out of memory. The order it worked on is suspect and retried once, alone, because
   * others may have filled the thread before; the second time it is guilty. If the orders
   * themselves were too large to read, none can be blamed.
   */
  function lose(member: Member, error: Error): void {
    members.delete(member);
    leaving++;
    if (closed) return;
    if (member.state === 'starting') startAfterMs = performance.now() + START_AGAIN_AFTER_MS;
    const current = member.batch[member.thread.place()];
    const orders = left(member);
    const suspects = current === undefined ? orders : [current];
    log.warn(
      { err: error, jobs: suspects.map(({ job, share }) => ({ job, share })) },
      'a thread ended before its work was done',
    );
    const innocent = orders.filter((order) => {
      if (!suspects.includes(order)) return true;
      order.alone = true;
      order.strikes++;
      if (order.strikes === 1 && order.transfer.length === 0) return true;
      stop(order, 'memory', performance.now() - member.givenMs);
      return false;
    });
    lanes.putBack(innocent);
    schedule();
  }

  return {
    run: (job, input, { share, uses = [], size = 0, transfer = [], spent = () => undefined }) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(tooBusy());
        if (lanes.count() >= mostWaiting) {
          const latest = lanes.takeFromLongest(share);
          if (latest === undefined) return reject(tooBusy());
          latest.reject(tooBusy());
        }
        lanes.add({
          resolve: resolve as (output: unknown) => void,
          sinceMs: performance.now(),
          ...{ job, input, uses, share, size, transfer, spent, reject },
          ...{ strikes: 0, alone: false },
        });
        schedule();
      }),
    async close() {
      closed = true;
      clearTimeout(watching);
      for (const order of lanes.takeOlderThan(Number.POSITIVE_INFINITY)) order.reject(tooBusy());
      await Promise.all(
        [...members].map((member) => {
          for (const order of left(member)) order.reject(tooBusy());
          return member.thread.end();
        }),
      );
    },
  };
}

const tooBusy = (): Problem =>
  new Problem('unavailable', 'The service is too busy right now. Try again shortly.', {
    retryAfterSeconds: 2,
  });
