// What runs in the threads of pool.test.ts: jobs as hostile as a stranger's text may make them. Plain JavaScript: threads load
// what was built.
import { Problem } from '../../dist/errors.js';
import { serveJobs } from '../../dist/threads/serve.js';

const seen = [];

serveJobs({
  double: (input) => input * 2,
  bytes: (text) => ({ text, bytes: Buffer.from(text) }),
  refuse: (detail) => {
    throw new Problem('invalid', detail, { cause: { line: 3 } });
  },
  fail: () => {
    throw new TypeError('a fault of ours');
  },
  loopForever: () => {
    for (;;);
  },
  takeAllMemory: () => {
    const all = [];
    for (;;) all.push(new Array(1000).fill(all.length));
  },
  work: (ms) => {
    const end = performance.now() + ms;
    while (performance.now() < end);
    return ms;
  },
  /** Which things are there, and which orders this very thread has seen. */
  look: ({ keys, mark }, thing) => {
    if (mark) seen.push(mark);
    return { found: keys.map(thing), seen: [...seen] };
  },
});
