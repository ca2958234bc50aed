// Emails of 24 MB made to be slow to read: none holds the event loop for 100 ms of work.
import { expect, it } from 'vitest';
import { readMime } from '../../src/sending/submitted.ts';
import { readEmail } from '../../src/submission/email.ts';
import { longestBlockedMs } from '../support/blocked.ts';

const BYTES = 24 * 1024 * 1024;
const fill = (line: string, bytes = BYTES): string => line.repeat(Math.floor(bytes / line.length));
const multipart = (boundary: string): string =>
  `Content-Type: multipart/mixed; boundary="${boundary}"\r\n`;
/** Every level opens and none closes, so each looks through all that follows. */
const nested = (levels: number, boundary: (level: number) => string): string =>
  Array.from(
    { length: levels },
    (_, level) => `--${boundary(level)}\r\n${multipart(boundary(level + 1))}\r\n`,
  ).join('');

/** The best of three: what is slow is so every time. */
async function expectQuick(work: () => unknown): Promise<void> {
  let longest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3 && longest > 100; run++) {
    longest = Math.min(longest, await longestBlockedMs(work));
  }
  expect(longest).toBeLessThan(100);
}

// With a search for the whole boundary the last took 1.4 s.
it.each<[string, (level: number) => string, string]>([
  ['other lines', (level) => `b${level}`, `${'x'.repeat(70)}\r\n`],
  ['lines of dashes', (level) => `b${level}`, `${'-'.repeat(900)}\r\n`],
  ['half of the boundary', (level) => `${'a'.repeat(60)}x${level}`, `--${'a'.repeat(900)}\r\n`],
  [
    'nearly the boundary',
    (level) => `b${'a'.repeat(60)}${level}`,
    `${'a'.repeat(60)}-${'a'.repeat(700)}\r\n`,
  ],
])('sixteen parts in one another, and %s', async (_, boundary, line) => {
  const body = Buffer.from(nested(16, boundary) + fill(line), 'latin1');
  await expectQuick(() => readMime(multipart(boundary(0)), body, false));
});

it('more parts than anyone sends', async () => {
  const body = Buffer.from(fill('--b\r\nContent-Type: a/b\r\n\r\nx\r\n', 2 * 1024 * 1024));
  await expectQuick(() => readMime(multipart('b'), body, false));
  expect((await readMime(multipart('b'), body, false)).files.length).toBeLessThanOrEqual(5000);
});

it.each([
  ['names of content fields', (n: number) => `Content-${n.toString(36)}:\r\n`, ''],
  ['recipients', () => 'a@b.c,', 'To: '],
  ['ids', () => '<a@b>', 'References: '],
  ['encoded words', () => '=?iso-2022-jp?q?a?= ', 'Subject: '],
  ['comments', () => '(', 'To: '],
  ['parameters', () => ';a="\\"', 'Content-Type: a/b'],
])('a header of 60 KB of %s', async (_, piece, before) => {
  let field = before;
  for (let n = 0; field.length < 60_000; n++) field += piece(n);
  const raw = Buffer.from(`From: a@example.com\r\n${field}\r\n\r\nx\r\n`, 'latin1');
  await expectQuick(() => readEmail(raw, ['b@example.com'], true).catch(() => undefined));
});
