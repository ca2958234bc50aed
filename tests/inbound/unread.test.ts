// Reports that no thread can read: killed in time, kept for people with the reason, and answered
// with 250 so that they are not sent again forever. If we are too busy, that is our own trouble:
// 451.
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listKept } from '../../src/feedback/kept.ts';
import { createMatcher } from '../../src/feedback/match.ts';
import { openReportRecorder } from '../../src/feedback/record.ts';
import { createReporters } from '../../src/feedback/reporters.ts';
import { type FeedbackListener, startFeedbackListener } from '../../src/inbound/feedback-smtp.ts';
import { systemClock } from '../../src/process/clock.ts';
import { JobStopped } from '../../src/process/job-stopped.ts';
import { createLog } from '../../src/process/log.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { openPool, type Pool } from '../../src/threads/pool.ts';
import type { ServiceJobs } from '../../src/threads/worker.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const log = createLog('silent');
const returnPathKeys = [Buffer.alloc(32, 7)] as const;
let test: TestDatabase;
let pool: Pool<ServiceJobs>;
let listener: FeedbackListener;

beforeAll(async () => {
  test = await createTestDatabase();
  const { database } = test;
  const file = new URL('./hostile-reader.js', import.meta.url);
  const metrics = createMetrics();
  pool = openPool<ServiceJobs>({ file, threads: 2, log, metrics, deadlineMs: 2000, memoryMb: 32 });
  // As main.ts builds it, but for the reader.
  listener = await startFeedbackListener(
    {
      ...{ database, clock: systemClock, log, returnPathKeys, bounceDomain: 'bounces.test' },
      recorder: openReportRecorder({ database, metrics: createMetrics(), nowMs: Date.now }),
      matcher: createMatcher({ database, clock: systemClock, returnPathKeys }),
      reporters: createReporters({
        trusted: [],
        lookUp: async () => [],
        verify: async () => false,
        nowMs: Date.now,
      }),
      read: (input, network) =>
        pool.run('read-report', input, { share: network }).catch((error) => {
          if (error instanceof JobStopped) return { stopped: error.reason };
          throw error;
        }),
      isReturnPathOf: async () => false,
    },
    { host: '127.0.0.1', port: 0 },
  );
});
afterAll(async () => {
  await listener.stop();
  await pool.close();
  await test.drop();
});

async function deliver(raw: string): Promise<string> {
  const transport = createTransport({ host: '127.0.0.1', port: listener.port, ignoreTLS: true });
  try {
    const envelope = { from: '', to: 'complaints@bounces.test' };
    return (await transport.sendMail({ envelope, raw })).response;
  } catch (error) {
    return (error as { response?: string }).response ?? (error as Error).message;
  } finally {
    transport.close();
  }
}

it.each([
  ['endless', 'too-slow'],
  ['filling', 'too-slow'],
  ['hoarding', 'too-large'],
  ['failing', 'unreadable'],
])('%s: kept as %s, and the next email is read', async (subject, why) => {
  const raw = `Subject: ${subject}\r\nMessage-ID: <${subject}@x.example>\r\n\r\nhello`;
  expect(await deliver(raw)).toMatch(/^250 /);
  expect(await deliver(`Subject: after ${subject}\r\n\r\nhello after ${subject}`)).toMatch(/^250 /);
  const kept = await listKept(test.database, { limit: 100 });
  expect(kept.find((it) => it.subject === subject)).toMatchObject({ kind: 'other', why });
  expect(kept.find((it) => it.subject === `after ${subject}`)).toMatchObject({ why: 'no-news' });
});

it('while nobody can read it must be sent again', async () => {
  await pool.close();
  expect(await deliver('Subject: late\r\n\r\nhello')).toMatch(/^451 /);
  expect((await listKept(test.database, { limit: 100 })).some((it) => it.subject === 'late')).toBe(
    false,
  );
});
