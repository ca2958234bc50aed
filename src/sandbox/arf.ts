// A complaint (RFC 5965) as a mailbox provider's feedback loop sends it: a note, the report, the
// email's headers.
import { randomBytes } from 'node:crypto';
import { headersOf } from './dsn.ts';

export interface ComplaintRequest {
  reportingHost: string;
  to: string;
  returnPath: string;
  complainer: string;
  /** The original email, whose headers are returned. */
  original: Buffer;
  date: Date;
}

export function composeComplaint(request: ComplaintRequest): Buffer {
  const boundary = `=_${randomBytes(12).toString('hex')}`;
  const date = request.date.toUTCString().replace('GMT', '+0000');
  const utf8 = /[^\x00-\x7f]/.test(request.complainer);
  return Buffer.from(
    [
      `From: Feedback Loop <feedback@${request.reportingHost}>`,
      `To: <${request.to}>`,
      'Subject: Complaint about an email',
      `Date: ${date}`,
      `Message-ID: <${randomBytes(12).toString('hex')}@${request.reportingHost}>`,
      'MIME-Version: 1.0',
      `Content-Type: multipart/report; report-type=feedback-report; boundary="${boundary}"`,
      '',
      `--${boundary}`,
      'Content-Type: text/plain; charset=us-ascii',
      '',
      'A recipient reported this email as spam.',
      '',
      `--${boundary}`,
      'Content-Type: message/feedback-report',
      ...(utf8 ? ['Content-Transfer-Encoding: 8bit'] : []),
      '',
      'Feedback-Type: abuse',
      'User-Agent: Sandmartin-Sandbox/1',
      'Version: 1',
      `Original-Mail-From: <${request.returnPath}>`,
      `Original-Rcpt-To: <${request.complainer}>`,
      `Arrival-Date: ${date}`,
      `Reporting-MTA: dns; ${request.reportingHost}`,
      '',
      `--${boundary}`,
      'Content-Type: text/rfc822-headers',
      '',
      headersOf(request.original),
      `--${boundary}--`,
      '',
    ].join('\r\n'),
  );
}
