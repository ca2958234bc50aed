// The CPU time of a thread. On a machine that is busy with others, wall time does not show who
// worked.
import { closeSync, openSync, readlinkSync, readSync } from 'node:fs';

export interface ThreadClock {
  /**
   * CPU milliseconds of the thread on Linux; elsewhere those of all threads, so never too few.
   * Takes a few microseconds.
   */
  workedMs(): number;
  close(): void;
}

/** The name of this thread for others in its process; undefined if the system has none. */
export function ownThreadId(): string | undefined {
  try {
    return readlinkSync('/proc/thread-self').split('/').at(-1);
  } catch {
    return undefined;
  }
}

/** For the thread that opens it, or another one of this process. */
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
          // The thread has ended.
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
