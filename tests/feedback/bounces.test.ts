// Whole emails without a delivery-status part, as Exchange, qmail, Exim, Gmail and gateways write
// them; auto-replies; others.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseReport } from '../../src/feedback/report.ts';

const folder = new URL('../fixtures/bounces/', import.meta.url);
const manifest: Record<string, { kind: string; recipients: object[] }> = JSON.parse(
  readFileSync(new URL('manifest.json', folder), 'utf8'),
);

describe('every email of the corpus', () => {
  it('is a corpus worth its name', () => {
    const bounces = Object.values(manifest).filter(({ kind }) => kind === 'bounce');
    expect(bounces.length).toBeGreaterThanOrEqual(50);
  });

  it.each(Object.entries(manifest))('%s', (file, expected) => {
    const raw = readFileSync(new URL(file, folder));
    const report = parseReport(raw);
    expect(report.kind).toBe(expected.kind);
    expect(report.recipients).toHaveLength(expected.recipients.length);
    expect(report.recipients).toMatchObject(expected.recipients);
    if (raw.includes('X-SM-Message-Id')) {
      expect(report.original.ourId).toBe('msg_01JBM5Q8ZC7V3N9X4T2K6D0HWA');
      expect(report.original.messageId).toBe('01JBM5Q8ZC7V3N9X4T2K6D0HWA@acme.test');
    }
  });
});

it('quotes the server, not the letter around it', () => {
  const report = parseReport(readFileSync(new URL('exim-rcpt-refused.eml', folder)));
  expect(report.recipients[0]?.smtp_response).toBe(
    '550 5.1.1 <joe@example.org>: Recipient address rejected: User unknown in local recipient table',
  );
});
