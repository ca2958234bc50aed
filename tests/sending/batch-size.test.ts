// A small request that would produce a large batch is refused before and while its emails are
// composed: memory stays within what 25 MB take.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listedEmails } from '../../src/sending/batch-request.ts';
import { countBytes } from '../../src/sending/batch-size.ts';
import { anEmail, request, startTestService, type TestService } from '../support/service.ts';

const MB = 1024 * 1024;
const recipients = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ to: `reader-${n}@example.net` }));

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ ROLES: 'api' });
});
afterAll(() => service.stop());

// It took 6 GB, and the database was out of reach for a minute.
it('20 MB of HTML for 100 recipients are refused at once', async () => {
  const { key } = await service.account();
  const { to: _, ...email } = anEmail({ html: 'x'.repeat(20 * MB) });
  const before = process.memoryUsage().rss;
  const { status, body } = await request(`${service.url}/v1/send/batch`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ ...email, recipients: recipients(100) }),
  });
  expect(status).toBe(400);
  expect(body.detail).toContain('larger than 50 MB together');
  // The request, here and there.
  expect(process.memoryUsage().rss - before).toBeLessThan(300 * MB);
});

it('files, texts and variables count alike, each as often as it is sent', () => {
  const { to: _, ...email } = anEmail({});
  const listed = (changes: object, count: number) =>
    listedEmails({ ...email, ...changes, recipients: recipients(count) } as never).emails.length;
  const file = { filename: 'a', content_type: 'a/b', content_base64: 'A'.repeat(MB) };
  expect(listed({ attachments: [file] }, 40)).toBe(40);
  expect(() => listed({ attachments: [file] }, 60)).toThrow('50 MB');
  expect(() => listed({ text: 'x'.repeat(MB) }, 60)).toThrow('50 MB');
  expect(() => listed({ variables: { a: ['x'.repeat(MB)] } }, 60)).toThrow('50 MB');
});

it('what templates make of little is counted when it is made', () => {
  const requireModest = countBytes();
  for (let n = 0; n < 6; n++) requireModest(8 * MB);
  expect(() => requireModest(8 * MB)).toThrow('50 MB');
  // A smaller one still has room.
  requireModest(MB);
});
