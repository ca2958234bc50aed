// Delivery status notifications as a real Postfix wrote them: every file, against the manifest of
// what was sent and what came.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseReport } from '../../src/feedback/report.ts';

const folder = new URL('../fixtures/dsn/', import.meta.url);
const manifest: {
  sent: Record<string, [string, number, string][]>;
  dsns: Record<string, { fields: Record<string, string>[] }>;
} = JSON.parse(readFileSync(new URL('manifest.json', folder), 'utf8'));

// The manifest knows codes and words; why a recipient failed is our judgement.
const REASONS: Record<string, string> = {
  'tempfail@sink.test': 'expired',
  'full@sink.test': 'mailbox-full',
  'u@dead.test': 'expired',
  'tiny@dsn.test': 'mailbox-full',
  'blocked@sink.test': 'spam',
  'ghost@dsn.test': 'user-unknown',
  'disabled@sink.test': 'mailbox-disabled',
  'dmarc@sink.test': 'authentication',
  'fullperm@sink.test': 'mailbox-full',
  'moved@sink.test': 'moved',
  'multiline@sink.test': 'user-unknown',
  'nouser-noenh@sink.test': 'user-unknown',
  'spam@sink.test': 'spam',
  'toobig@sink.test': 'too-large',
  'nouser@sink.test': 'user-unknown',
  'nouser+ünï@sink.test': 'user-unknown',
};

/** Only who is not there any more, or has gone elsewhere, gets no more email at once. */
const consequenceOf = (status: string, reason: string) => {
  if (status.startsWith('4')) return 'none';
  if (['user-unknown', 'moved', 'host-unknown'].includes(reason)) return 'suppress';
  return ['mailbox-full', 'mailbox-disabled'].includes(reason) ? 'strike' : 'none';
};

const value = (field: string | undefined) => field?.replace(/^[\w-]+;\s*/, '');

describe('every DSN of the manifest', () => {
  it.each(Object.keys(manifest.dsns))('%s', (file) => {
    const scenario = file.split('.')[0]!;
    const [message, ...blocks] = manifest.dsns[file]!.fields;
    const report = parseReport(readFileSync(new URL(file, folder)));
    expect(report.kind).toBe('dsn');
    expect(report.feedback_type).toBeNull();
    expect(report.recipients.map(({ fingerprint: _, ...recipient }) => recipient)).toEqual(
      blocks.map((block) => {
        const address = value(block['Original-Recipient'])!;
        const failed = block.Action === 'failed';
        return {
          address,
          action: block.Action,
          status: block.Status,
          bounce_type: failed ? (block.Status!.startsWith('5') ? 'permanent' : 'transient') : null,
          reason: failed ? REASONS[address] : null,
          smtp_response: value(block['Diagnostic-Code']),
          consequence: failed ? consequenceOf(block.Status!, REASONS[address]!) : null,
          reporting_mta: value(message!['Reporting-MTA']),
          remote_mta: value(block['Remote-MTA']) ?? null,
        };
      }),
    );
    const sentTo = manifest.sent[scenario]!.map(([address]) => address).filter(
      (to) => to !== 'DATA',
    );
    expect(report.original).toMatchObject({
      messageId: `${scenario}@bounces.test`,
      envelopeId: message!['Original-Envelope-Id'] ?? null,
      recipients: sentTo,
      arrivedAt: new Date(message!['Arrival-Date']!.replace(/\(.*/, '')),
    });
  });
});

const dsn = (
  status: string,
  type = 'message/delivery-status',
) => `From: MAILER-DAEMON@mx.example.org
Subject: Undelivered Mail Returned to Sender
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b
Content-Type: text/plain

<joe@example.org>: the mailbox is over quota
--b
Content-Type: ${type}
Content-Transfer-Encoding: 8bit

Reporting-MTA: dns; mx.example.org

${status}
--b
Content-Type: text/rfc822-headers

X-SM-Message-Id: msg_01JBM5Q8ZC7V3N9X4T2K6D0HWA
Message-ID: <1@acme.test>
--b--
`;
const recipients = (status: string, type?: string) =>
  parseReport(Buffer.from(dsn(status, type))).recipients;

describe('fields of RFC 3464 and RFC 6533', () => {
  it('takes the address we sent to, not what forwarding made of it', () => {
    const [recipient] = recipients(
      'Final-Recipient: rfc822; box17@store.example.org\nOriginal-Recipient: rfc822;joe@example.org\nAction: failed\nStatus: 5.1.1',
    );
    expect(recipient?.address).toBe('joe@example.org');
  });

  it('undoes xtext that a server left in', () => {
    const [recipient] = recipients(
      'Final-Recipient: rfc822; joe+tag@example.org\nOriginal-Recipient: rfc822;joe+2Btag@example.org\nAction: failed\nStatus: 5.1.1',
    );
    expect(recipient?.address).toBe('joe+tag@example.org');
  });

  it('reads UTF-8 addresses as they are and as \\x{…}', () => {
    const type = 'message/global-delivery-status';
    expect(
      recipients('Final-Recipient: utf-8; jürgen@example.org\nAction: failed', type)[0]?.address,
    ).toBe('jürgen@example.org');
    expect(
      recipients('Final-Recipient: utf-8; j\\x{FC}rgen@example.org\nAction: failed', type)[0]
        ?.address,
    ).toBe('jürgen@example.org');
  });

  it('reads brackets, comments, lower-case names and a status with words', () => {
    const [recipient] = recipients(
      'final-recipient: RFC822;<joe@example.org> (was lost)\naction: Failed (in the end)\nstatus: 5.2.2 (mailbox full)\nremote-mta: dns;[192.0.2.7] (TCP|1|2)',
    );
    expect(recipient).toMatchObject({
      address: 'joe@example.org',
      action: 'failed',
      status: '5.2.2',
      reason: 'mailbox-full',
      remote_mta: '192.0.2.7',
    });
  });

  it('takes the reason from the notice when there is no diagnostic code', () => {
    expect(
      recipients('Final-Recipient: rfc822; joe@example.org\nAction: failed\nStatus: 5.0.0')[0]
        ?.reason,
    ).toBe('mailbox-full');
  });

  it('separates recipients that forgot the empty line, and joins a group that has one too many', () => {
    const together = recipients(
      'Final-Recipient: rfc822; a@example.org\nAction: failed\nStatus: 5.1.1\nFinal-Recipient: rfc822; b@example.org\nAction: delayed\nStatus: 4.2.2',
    );
    expect(together.map(({ address, action, status }) => [address, action, status])).toEqual([
      ['a@example.org', 'failed', '5.1.1'],
      ['b@example.org', 'delayed', '4.2.2'],
    ]);
    const torn = recipients(
      'Final-Recipient: rfc822; a@example.org\n\nAction: failed\nStatus: 5.1.1\n\nDiagnostic-Code: smtp; 550 5.1.1 unknown',
    );
    expect(torn).toHaveLength(1);
    expect(torn[0]).toMatchObject({
      address: 'a@example.org',
      action: 'failed',
      status: '5.1.1',
      smtp_response: '550 5.1.1 unknown',
    });
  });

  it.each(['text/plain; name=details.txt', 'application/octet-stream'])(
    'reads a status part that a gateway renamed to %s',
    (type) => {
      const status = 'Final-Recipient: rfc822; joe@example.org\nAction: failed\nStatus: 5.1.1';
      const report = parseReport(Buffer.from(dsn(status, type)));
      expect(report.kind).toBe('dsn');
      expect(report.recipients).toMatchObject([{ address: 'joe@example.org', status: '5.1.1' }]);
    },
  );

  it('understands "expired" and a missing action', () => {
    expect(
      recipients(
        'Final-Recipient: rfc822; a@example.org\nAction: expired\nDiagnostic-Code: Connection timed out',
      )[0],
    ).toMatchObject({
      action: 'failed',
      bounce_type: 'transient',
      reason: 'expired',
    });
    expect(recipients('Final-Recipient: rfc822; a@example.org\nStatus: 5.1.1')[0]?.action).toBe(
      'failed',
    );
    expect(recipients('Final-Recipient: rfc822; a@example.org\nStatus: 2.0.0')[0]?.action).toBe(
      'delivered',
    );
  });
});

describe('the same report', () => {
  const failed =
    'Final-Recipient: rfc822; joe@example.org\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 unknown';
  it('has the same fingerprint in whatever envelope it comes', () => {
    const again = `Received: by another.test; now\nDate: later\nMessage-ID: <2@another.test>\n${dsn(failed)}`;
    expect(parseReport(Buffer.from(again)).recipients).toEqual(recipients(failed));
  });

  it('has another fingerprint when it says something else', () => {
    const prints = [
      failed,
      failed.replace('5.1.1', '5.1.2'),
      failed.replace('joe', 'ann'),
      failed.replace('failed', 'delayed'),
    ].map((status) => recipients(status)[0]?.fingerprint);
    expect(new Set(prints).size).toBe(4);
  });

  it('finds our own header in what came back', () => {
    expect(parseReport(Buffer.from(dsn(failed))).original).toMatchObject({
      ourId: 'msg_01JBM5Q8ZC7V3N9X4T2K6D0HWA',
      messageId: '1@acme.test',
    });
  });
});
