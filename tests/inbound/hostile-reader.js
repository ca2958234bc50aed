// A reader of reports as bad as one could be, for unread.test.ts: what the subject says happens.
// Plain JavaScript: threads load what was built.
import { readReceived } from '../../dist/feedback/received.js';
import { serveJobs } from '../../dist/threads/serve.js';

serveJobs({
  'read-report': (input) => {
    const text = Buffer.from(input.raw).toString('latin1');
    if (text.includes('Subject: endless')) for (;;);
    // Only calls of something built in: Node 24 could not be interrupted there.
    if (text.includes('Subject: filling')) for (let n = 0; ; n++) new Array(1000).fill(n);
    if (text.includes('Subject: hoarding')) {
      const all = [];
      for (;;) all.push(new Array(1000).fill(all.length));
    }
    if (text.includes('Subject: failing')) throw new TypeError('a fault of ours');
    return readReceived(input);
  },
});
