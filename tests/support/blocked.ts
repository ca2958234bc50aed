// How long some work takes, or blocks the event loop at a stretch: the milliseconds that this
// thread worked, so that a busy machine adds nothing, scaled to a machine of ordinary speed, so
// that a slow one fails nothing.
import { openThreadClock, type ThreadClock } from '../../src/process/thread-clock.ts';

/**
 * What the work in ordinaryWork() takes on the machines that the tests' milliseconds were chosen
 * on.
 */
const ORDINARY_MS = 40;

export function openTestClock(): ThreadClock {
  const by = slowness();
  const clock = openThreadClock();
  return { ...clock, workedMs: () => clock.workedMs() / by };
}

/** A shared machine is half as fast in one minute as in the next. */
const KNOWN_FOR_MS = 1000;
let known: { slowness: number; atMs: number } | undefined;

/** How many times longer than ordinary this machine takes now; a quick one counts as ordinary. */
export function slowness(): number {
  if (known !== undefined && performance.now() - known.atMs < KNOWN_FOR_MS) return known.slowness;
  const clock = openThreadClock();
  let best = Number.POSITIVE_INFINITY;
  // The first time, some are for the compilers.
  for (let run = known === undefined ? 8 : 3; run > 0; run--) {
    const before = clock.workedMs();
    ordinaryWork();
    best = Math.min(best, clock.workedMs() - before);
  }
  clock.close();
  known = { slowness: Math.max(1, best / ORDINARY_MS), atMs: performance.now() };
  return known.slowness;
}

/** Nothing of ours, but what our readers of text do as well. */
function ordinaryWork(): number {
  let text = '';
  for (let at = 0; at < 20_000; at++) text += `<p class="a${at}">word ${at} &amp; more</p>\n`;
  const words = new Map<string, string[]>();
  for (const [, name, said] of text.matchAll(/<p class="(\w+)">([^<]*)<\/p>/g))
    words.set(name!, said!.split(' '));
  return JSON.stringify(JSON.parse(JSON.stringify([...words]))).replaceAll('&amp;', '&').length;
}

export async function longestBlockedMs(work: () => unknown): Promise<number> {
  const clock = openTestClock();
  let longest = 0;
  let last = clock.workedMs();
  let done = false;
  const look = () => {
    const now = clock.workedMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const lookAtEveryTurn = () => {
    if (done) return;
    look();
    setImmediate(lookAtEveryTurn);
  };
  setImmediate(lookAtEveryTurn);
  try {
    await work();
  } finally {
    done = true;
    look();
    clock.close();
  }
  return longest;
}

/** Of work without pauses. */
export function workedMs(work: () => unknown): number {
  const clock = openTestClock();
  const before = clock.workedMs();
  try {
    work();
    return clock.workedMs() - before;
  } finally {
    clock.close();
  }
}
