// The time a thread was on a processor. On a machine that is busy with others the clock on the wall
// says nothing about who worked.
import { closeSync, openSync, readlinkSync, readSync } from 'node:fs';

export interface ThreadClock {
  /**
   * Milliseconds of the thread's work: Linux tells; elsewhere those of all threads, never too
   * little. Takes some microseconds.
   */
  workedMs(): number;
  close(): void;
}

/** What this thread is called by others of its process; undefined where the system has no name. */
export function ownThreadId(): string | undefined {
  try {
    return readlinkSync('/proc/thread-self').split('/').at(-1);
  } catch {
    return undefined;
  }
}

/** Of the thread that opens it, or of another one of this process. */
export function openThreadClock(threadId = ownThreadId()): ThreadClock {
  try {
    const file = openSync(`/proc/self/task/${threadId}/schedstat`, 'r');
    const line = Buffer.alloc(64);
    let ms = 0;
    return {
      workedMs() {
        try {
          const length = readSync(file, line, 0, line.length, 0);
          ms = Number.parseInt(line.toString('latin1', 0, length), 10) / 1e6;
        } catch {
          // A thread that has ended works no more.
        }
        return ms;
      },
      close: () => closeSync(file),
    };
  } catch {
    return { workedMs: processWorkedMs, close: () => undefined };
  }
}

/** Of all threads of this process. */
function processWorkedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
