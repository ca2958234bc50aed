// A thread for templates has room for the largest that doors pass on, and no more.
import { afterAll, describe, expect, it } from 'vitest';
import type { LintedEmail } from '../../src/lint/lint.ts';
import { createLog } from '../../src/process/log.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { brandingContext } from '../../src/templates/branding.ts';
import { defaultBranding } from '../../src/templates/branding-fields.ts';
import { ownCatalogFiles } from '../../src/templates/catalog.ts';
import type { EmailOrder } from '../../src/templates/email-maker.ts';
import { openPool } from '../../src/threads/pool.ts';
import type { ServiceJobs } from '../../src/threads/worker.ts';
import { WORKER_FILE } from '../../src/threads/worker-file.ts';

const MB = 1024 * 1024;
const repeated = (piece: string, bytes: number): string =>
  piece.repeat(Math.floor(bytes / Buffer.byteLength(piece)));

const pool = openPool<ServiceJobs>({
  ...{ file: WORKER_FILE, given: ownCatalogFiles(), threads: 2 },
  ...{ log: createLog('silent'), metrics: createMetrics() },
  // It is about memory, however busy the machine is.
  ...{ deadlineMs: 60_000, longestWaitMs: 60_000 },
});
afterAll(() => pool.close());

const order = (changes: Partial<EmailOrder>): EmailOrder => ({
  ...{ slug: 'welcome', template: null, branding: brandingContext(defaultBranding) },
  ...{ locale: undefined, standardLocale: undefined, subject: undefined, text: undefined },
  ...changes,
  variables: { name: 'Ada', action_url: 'https://example.com/', ...changes.variables },
});

describe('variables of 8 MB', () => {
  it.each<[string, () => unknown]>([
    ['texts', () => Array.from({ length: 8000 }, (_, n) => `${n}`.padEnd(1000, 'word '))],
    ['numbers', () => Array.from({ length: 400_000 }, (_, n) => n * 1.5)],
    [
      'rows',
      () => {
        const note = 'blue, size 42, delivered on Monday morning, or later that day';
        return Array.from({ length: 60_000 }, (_, n) => ({
          name: `Item ${n}`,
          price: '9.90',
          note,
        }));
      },
    ],
  ])('%s', async (_, list) => {
    const made = await pool.run('make-mail', order({ variables: { list: list() } }), {
      share: 'a',
    });
    expect(Buffer.from(made.html).toString()).toContain('Ada');
  });
});

describe('an email of 10 MB that is checked', () => {
  it.each(['<p>word word word</p>\n', '注文番号をご確認ください。&amp;', 'word &amp; '])(
    'of %s',
    async (piece) => {
      const email: LintedEmail = {
        ...{ subject: 'Hello', html: repeated(piece, 10_000_000), text: null },
        ...{ broadcast: false, unsubscribe: true },
      };
      expect(await pool.run('lint-email', email, { share: 'a' })).toBeInstanceOf(Array);
    },
  );
});

it('what fills it is stopped, and takes less than 64 MB', async () => {
  await pool.run('make-mail', order({}), { share: 'b' });
  const html = `{% set tables = '<table><tr><td>x'*60000 %}${'{{ tables|safe }}'.repeat(8)}`;
  const template = { subject: 'Tables', preheader: '', html, text: '' };
  const before = process.memoryUsage.rss();
  let most = 0;
  const watching = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss() - before);
  }, 5);
  const stopped = pool.run('make-mail', order({ template }), { share: 'a' });
  await expect(stopped).rejects.toMatchObject({ reason: 'memory' });
  clearInterval(watching);
  expect(most / MB).toBeLessThan(64);
});
