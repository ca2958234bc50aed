// A delivery status notification (RFC 3464) as a real relay writes it: a note for people, the
// status per recipient, the returned headers.
import { randomBytes } from 'node:crypto';

export interface DsnRecipient {
  address: string;
  action: 'delivered' | 'failed' | 'delayed' | 'relayed' | 'expanded';
  /** RFC 3463. */
  status: string;
  diagnostic: string;
  remoteMta: string;
}

export interface DsnRequest {
  reportingMta: string;
  returnPath: string;
  envelopeId: string | null;
  recipients: readonly DsnRecipient[];
  /** The original email, whose headers are returned. */
  original: Buffer;
  date: Date;
}

const SUBJECTS = {
  delivered: 'Successful Mail Delivery Report',
  relayed: 'Successful Mail Delivery Report',
  expanded: 'Successful Mail Delivery Report',
  delayed: 'Delayed Mail (still being retried)',
  failed: 'Undelivered Mail Returned to Sender',
};

export function composeDsn(request: DsnRequest): Buffer {
  const boundary = `=_${randomBytes(12).toString('hex')}`;
  const date = request.date.toUTCString().replace('GMT', '+0000');
  const utf8 = request.recipients.some((recipient) => /[^\x00-\x7f]/.test(recipient.address));
  const subject = SUBJECTS[request.recipients[0]?.action ?? 'failed'];
  return Buffer.from(
    [
      `From: Mail Delivery System <MAILER-DAEMON@${request.reportingMta}>`,
      `To: <${request.returnPath}>`,
      `Subject: ${subject}`,
      `Date: ${date}`,
      `Message-ID: <${randomBytes(12).toString('hex')}@${request.reportingMta}>`,
      'Auto-Submitted: auto-replied',
      'MIME-Version: 1.0',
      `Content-Type: multipart/report; report-type=delivery-status; boundary="${boundary}"`,
      '',
      `--${boundary}`,
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 8bit',
      '',
      ...request.recipients.map(explain),
      '',
      `--${boundary}`,
      // RFC 6533: addresses that are not ASCII need the global form.
      `Content-Type: message/${utf8 ? 'global-delivery-status' : 'delivery-status'}`,
      ...(utf8 ? ['Content-Transfer-Encoding: 8bit'] : []),
      '',
      `Reporting-MTA: dns; ${request.reportingMta}`,
      ...(request.envelopeId === null ? [] : [`Original-Envelope-Id: ${request.envelopeId}`]),
      `Arrival-Date: ${date}`,
      ...request.recipients.flatMap(statusBlock),
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

function explain(recipient: DsnRecipient): string {
  return `<${recipient.address}>: ${recipient.action}; ${recipient.remoteMta} said: ${recipient.diagnostic}`;
}

function statusBlock(recipient: DsnRecipient): string[] {
  const type = /[^\x00-\x7f]/.test(recipient.address) ? 'utf-8' : 'rfc822';
  return [
    '',
    `Original-Recipient: ${type}; ${recipient.address}`,
    `Final-Recipient: ${type}; ${recipient.address}`,
    `Action: ${recipient.action}`,
    `Status: ${recipient.status}`,
    `Remote-MTA: dns; ${recipient.remoteMta}`,
    `Diagnostic-Code: smtp; ${recipient.diagnostic}`,
  ];
}

export function headersOf(email: Buffer): string {
  const end = email.indexOf('\r\n\r\n');
  return email.subarray(0, end < 0 ? email.length : end + 2).toString('utf8');
}
