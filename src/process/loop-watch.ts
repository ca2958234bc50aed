// Watches the event loop: how late it is, how often it was blocked, and what started just before.
// Built by main.ts; doors note what they start, /metrics shows the figures, the log has a line for
// every block.
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { openThreadClock } from './thread-clock.ts';

export interface LoopWatch {
  /** Notes the start of work whose length a stranger may decide. Costs almost nothing. */
  note(what: string, account?: number): void;
  stop(): void;
}

const BEAT_MS = 25;
const STOOD_STILL_MS = 100;
const MOST_NOTED = 8;
/** Reading the catalogue takes a moment, before anyone can ask for anything: not worth a line. */
const STARTING_MS = 5000;

export function startLoopWatch(deps: {
  metrics: Pick<Metrics, 'loopDelay' | 'loopStands'>;
  log: Log;
}): LoopWatch {
  const noted: { what: string; account: number | undefined; atMs: number }[] = [];
  const { workedMs, close } = openThreadClock();
  const startedMs = performance.now();
  let next = 0;
  let [beatMs, beatWorkedMs] = [performance.now(), workedMs()];

  const timer = setInterval(() => {
    const [nowMs, nowWorkedMs] = [performance.now(), workedMs()];
    const lateMs = Math.max(0, nowMs - beatMs - BEAT_MS);
    // Time in which the machine was busy with others does not count.
    const blockedMs = Math.min(lateMs, nowWorkedMs - beatWorkedMs);
    deps.metrics.loopDelay.observe(lateMs / 1000);
    if (blockedMs > STOOD_STILL_MS) {
      deps.metrics.loopStands.inc();
      const begun = noted
        .filter(({ atMs }) => atMs >= beatMs)
        .sort((one, other) => one.atMs - other.atMs)
        .map(({ what, account, atMs }) => ({ what, account, msAgo: Math.round(nowMs - atMs) }));
      if (begun.length > 0 || nowMs - startedMs > STARTING_MS) {
        deps.log.warn({ ms: Math.round(blockedMs), begun }, 'the event loop was blocked');
      }
    }
    [beatMs, beatWorkedMs] = [nowMs, nowWorkedMs];
  }, BEAT_MS);
  timer.unref();

  return {
    note(what, account) {
      noted[next] = { what, account, atMs: performance.now() };
      next = (next + 1) % MOST_NOTED;
    },
    stop() {
      clearInterval(timer);
      close();
    },
  };
}
