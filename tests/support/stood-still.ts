// A test that failed while the machine stood still is run once more (vitest.config.ts), and says
// so: for a moment the service could not reach its database or its relay, said so truthfully, and
// the test was about something else. Nothing else is ever repeated.
import { readFileSync } from 'node:fs';
import { afterEach, inject } from 'vitest';

afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return;
  const longestMs = Math.max(0, ...stillsSince(task.result.startTime ?? 0));
  if (longestMs === 0) return;
  throw new Error(
    `The machine stood still for ${(longestMs / 1000).toFixed(1)} s during this test, or PostgreSQL took that long to write.`,
  );
});

function stillsSince(fromMs: number): number[] {
  const noted = readFileSync(inject('stillsFile'), 'utf8').trimEnd().split('\n');
  return noted.flatMap((line) => {
    const [beganMs = 0, endedMs = 0] = line.split(' ').map(Number);
    return endedMs > fromMs ? [endedMs - beganMs] : [];
  });
}
