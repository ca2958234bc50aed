// Complaints: the feedback reports of the fixtures, Microsoft's own form, and what is left when a
// report hides names.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseReport } from '../../src/feedback/report.ts';

const fixture = (name: string) =>
  readFileSync(new URL(`../fixtures/arf/${name}.eml`, import.meta.url));

describe('RFC 5965', () => {
  it.each([
    ['lab-abuse', 'abuse', 'ok@sink.test', 'msg_abc+1=x'],
    ['lab-abuse-headers-only', 'abuse', 'ok@sink.test', null],
    ['lab-abuse-redacted', 'abuse', null, null],
    ['lab-authfailure', 'auth-failure', 'ok@sink.test', null],
    ['lab-notspam', 'not-spam', 'ok@sink.test', null],
    ['lab-optout', 'opt-out', 'ok@sink.test', null],
    ['lab-sent', 'abuse', 'ok@sink.test', null],
  ])('%s', (name, feedbackType, address, envelopeId) => {
    const report = parseReport(fixture(name));
    expect(report).toMatchObject({ kind: 'arf', feedback_type: feedbackType });
    expect(report.recipients).toEqual([
      {
        address,
        action: null,
        status: null,
        bounce_type: null,
        reason: null,
        consequence: null,
        smtp_response: null,
        reporting_mta: 'mail.fbl.test',
        remote_mta: null,
        fingerprint: expect.stringMatching(/^[\da-f]{32}$/),
      },
    ]);
    expect(report.original).toMatchObject({
      messageId: 'c021cc49-6ffe-9308-f1df-a255f80550fe@bounces.test',
      envelopeId,
      arrivedAt: expect.any(Date),
    });
  });

  it('matches a redacted report by our header', () => {
    const raw = fixture('lab-abuse-redacted')
      .toString('latin1')
      .replace('X-Msg-ID: msg_abc', 'X-SM-Message-Id: msg_01JBM5Q8ZC7V3N9X4T2K6D0HWA');
    expect(parseReport(Buffer.from(raw, 'latin1')).original.ourId).toBe(
      'msg_01JBM5Q8ZC7V3N9X4T2K6D0HWA',
    );
  });

  it.each(['message/rfc822', 'text/rfc822', 'text/rfc822-headers'])(
    'reads the email that comes with it as %s',
    (type) => {
      const raw = fixture('lab-abuse').toString('latin1').replace('message/rfc822', type);
      const { original } = parseReport(Buffer.from(raw, 'latin1'));
      expect(original.messageId).toBe('c021cc49-6ffe-9308-f1df-a255f80550fe@bounces.test');
    },
  );

  it('names everyone the report names', () => {
    const raw = fixture('lab-abuse')
      .toString('latin1')
      .replace(/^(Original-Rcpt-To: ).*$/im, '$1<a@sink.test>\n$1<b@sink.test>');
    const { recipients } = parseReport(Buffer.from(raw, 'latin1'));
    expect(recipients.map(({ address }) => address)).toEqual(['a@sink.test', 'b@sink.test']);
  });

  it('survives a boundary whose line lost its indentation', () => {
    const raw = fixture('lab-abuse').toString('latin1').replace('     boundary=', 'boundary=');
    expect(parseReport(Buffer.from(raw, 'latin1'))).toMatchObject({
      kind: 'arf',
      feedback_type: 'abuse',
    });
  });
});

it("reads Outlook.com's junk mail reports", () => {
  const report = parseReport(
    Buffer.from(`From: staff@hotmail.com
Subject: complaint about message from 192.0.2.3
To: complaints@bounces.test
Content-Type: multipart/mixed; boundary="F484"

--F484
Content-Type: message/rfc822

X-HmXmrOriginalRecipient: someone@hotmail.com
X-SM-Message-Id: msg_01JBM5Q8ZC7V3N9X4T2K6D0HWA
From: Acme <news@acme.test>
--F484--
`),
  );
  expect(report).toMatchObject({
    kind: 'arf',
    feedback_type: 'abuse',
    recipients: [{ address: 'someone@hotmail.com' }],
    original: { ourId: 'msg_01JBM5Q8ZC7V3N9X4T2K6D0HWA' },
  });
});
