// What runs in the threads of pool.test.ts: jobs as hostile as a stranger's text may make them.
// Plain JavaScript: threads load what was built.
import { readFileSync } from 'node:fs';
import { Problem } from '../../dist/errors.js';
import { openThreadClock } from '../../dist/process/thread-clock.js';
import { serveJobs } from '../../dist/threads/serve.js';

const seen = [];
const { workedMs } = openThreadClock();

serveJobs({
  double: (input) => input * 2,
  bytes: (text) => ({ text, bytes: Buffer.from(text) }),
  /** Two parts of what it was given, and all of it. */
  halve: (bytes) => {
    const half = bytes.length / 2;
    return { halves: [bytes.subarray(0, half), bytes.subarray(half)], bytes };
  },
  refuse: (detail) => {
    throw new Problem('invalid', detail, { faults: [{ path: 'html', message: 'x', line: 3 }] });
  },
  fail: () => {
    throw new TypeError('a fault of ours');
  },
  loopForever: () => {
    for (;;);
  },
  /** A native call that nothing interrupts: until someone writes into the pipe. */
  readPipe: (path) => {
    Atomics.add(path.begun, 0, 1);
    return readFileSync(path.name, 'utf8');
  },
  /**
   * Not by `new Array(1000)`: from Node 24 on, V8 leaves a loop around a constant size without a
   * place to be stopped at.
   */
  takeAllMemory: () => {
    const all = [];
    for (;;) all.push(Array.from({ length: 1000 }, () => all.length));
  },
  /** All that is young is still in use when it is collected. */
  takeAllMemoryAtOnce: () => {
    const lists = `[${'[],'.repeat(100_000)}[]]`;
    for (let all; ; ) all = { all, more: JSON.parse(lists) };
  },
  /** So many milliseconds on a processor, however long that takes. */
  work: (ms) => {
    const end = workedMs() + ms;
    while (workedMs() < end);
    return ms;
  },
  /** Says that it began, and waits until the gate is opened. */
  hold: (gate) => {
    Atomics.add(gate, 1, 1);
    Atomics.wait(gate, 0, 0);
    return 'held';
  },
  /** Says that it began, and works only with a ticket, which it uses up. */
  takeTicket: (tickets) => {
    Atomics.add(tickets, 1, 1);
    for (;;) {
      const left = Atomics.load(tickets, 0);
      if (left === 0) Atomics.wait(tickets, 0, 0);
      else if (Atomics.compareExchange(tickets, 0, left, left - 1) === left) return left;
    }
  },
  /** Which things are there, and which orders this very thread has seen. */
  look: ({ keys, mark }, thing) => {
    if (mark) seen.push(mark);
    return { found: keys.map(thing), seen: [...seen] };
  },
});
