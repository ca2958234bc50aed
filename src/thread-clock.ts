// The time a thread was on a processor. On a machine that is busy with others the clock on the wall
// says nothing about who worked.
import { closeSync, openSync, readSync } from 'node:fs';

export interface ThreadClock {
  /**
   * Milliseconds of this thread's work: Linux tells; elsewhere those of all threads, never too
   * little. Takes some microseconds.
   */
  workedMs(): number;
  close(): void;
}

/** Of the thread that opens it. */
export function openThreadClock(): ThreadClock {
  try {
    const file = openSync('/proc/thread-self/schedstat', 'r');
    const line = Buffer.alloc(64);
    return {
      workedMs() {
        const length = readSync(file, line, 0, line.length, 0);
        return Number.parseInt(line.toString('latin1', 0, length), 10) / 1e6;
      },
      close: () => closeSync(file),
    };
  } catch {
    return { workedMs: processWorkedMs, close: () => undefined };
  }
}

/** Of all threads of this process. */
export function processWorkedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
