// A service process under watch: how long its event loop stood still and how far its memory rose
// while something was done to it.
import { readFileSync, writeFileSync } from 'node:fs';
import { slowness } from './blocked.ts';
import { type ServiceProcess, startProcess } from './process.ts';

export interface WatchedProcess extends ServiceProcess {
  watch(work: () => Promise<unknown>): Promise<Seen>;
}

export interface Seen {
  /**
   * How long the loop was blocked, in milliseconds of work of an ordinary machine, each time it was
   * for more than 100.
   */
  stands: number[];
  /** From what it had before to the most it had, in MB. */
  grewMb: number;
  /** The same from what it had when it was watched first. */
  aboveFirstMb: number;
}

/** Asking takes a tenth of a second of one core. */
const SPEED_ASKED_EVERY_MS = 3000;

export async function startWatched(env: Record<string, string>): Promise<WatchedProcess> {
  const service = await startProcess(env);
  const file = (name: string): string => `/proc/${service.child.pid}/${name}`;
  const megabytes = (field: string): number =>
    Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(file('status'), 'utf8'))?.[1]) /
    1024;
  const blocks = (): number[] =>
    service
      .output()
      .split('\n')
      .filter((line) => line.includes('was blocked'))
      .map((line) => JSON.parse(line).ms as number);
  let firstMb: number | undefined;
  return {
    ...service,
    async watch(work) {
      const before = blocks().length;
      // The highest mark starts again.
      writeFileSync(file('clear_refs'), '5');
      const memory = megabytes('VmRSS');
      firstMb ??= memory;
      const slowest = await slowestDuring(work);
      // Behind this answer the watch of the loop has looked at all that came before.
      for (let n = 0; n < 3; n++) await (await fetch(`${service.url}/readyz`)).text();
      const most = megabytes('VmHWM');
      return {
        stands: blocks()
          .slice(before)
          .map((ms) => ms / slowest)
          .filter((ms) => ms > 100),
        grewMb: most - memory,
        aboveFirstMb: most - firstMb,
      };
    },
  };
}

/** Asked while the work runs: once it is over the machine is quick again. */
async function slowestDuring(work: () => Promise<unknown>): Promise<number> {
  let slowest = slowness();
  const timer = setInterval(() => {
    slowest = Math.max(slowest, slowness());
  }, SPEED_ASKED_EVERY_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return Math.max(slowest, slowness());
}
