// Amazon SES: both forms of its events in the shape of every other report. Bodies after the
// examples of its developer guide.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Problem } from '../../src/errors.ts';
import { readSes } from '../../src/feedback/ses.ts';

const mail = {
  timestamp: '2026-11-15T00:00:00.000Z',
  messageId: '010701929d0c9e7a-5f6e-000000',
  source: 'news@acme.test',
  destination: ['joe@example.org'],
  headersTruncated: false,
  headers: [
    { name: 'From', value: 'Acme <news@acme.test>' },
    { name: 'X-SM-Message-Id', value: 'msg_01JBM5Q8ZC7V3N9X4T2K6D0HWA' },
    { name: 'Message-ID', value: '<1@acme.test>' },
  ],
  commonHeaders: { messageId: '<1@acme.test>', subject: 'Your order' },
  tags: {},
};
const read = (body: object) => readSes(JSON.stringify({ mail, ...body }))!;
const bounce = (fields: object) => ({
  eventType: 'Bounce',
  bounce: {
    bounceType: 'Permanent',
    bounceSubType: 'General',
    timestamp: '2026-11-15T00:00:02.000Z',
    feedbackId: '0107',
    reportingMTA: 'dns; b1.smtp-out.amazonses.com',
    bouncedRecipients: [
      {
        emailAddress: 'joe@example.org',
        action: 'failed',
        status: '5.1.1',
        diagnosticCode: 'smtp; 550 5.1.1 user unknown',
      },
    ],
    ...fields,
  },
});

describe('Delivery', () => {
  it.each(['eventType', 'notificationType'])('as %s', (name) => {
    const event = read({
      [name]: 'Delivery',
      delivery: {
        timestamp: '2026-11-15T00:00:01.000Z',
        recipients: ['joe@example.org'],
        smtpResponse: '250 2.6.0 Message received',
        reportingMTA: 'a8-70.smtp-out.amazonses.com',
      },
    });
    expect(event).toMatchObject({
      kind: 'delivery',
      relayMessageId: mail.messageId,
      at: new Date('2026-11-15T00:00:01.000Z'),
      report: {
        kind: 'dsn',
        recipients: [
          {
            address: 'joe@example.org',
            action: 'delivered',
            bounce_type: null,
            smtp_response: '250 2.6.0 Message received',
            reporting_mta: 'a8-70.smtp-out.amazonses.com',
          },
        ],
        original: {
          ourId: 'msg_01JBM5Q8ZC7V3N9X4T2K6D0HWA',
          messageId: '1@acme.test',
          recipients: ['joe@example.org'],
        },
      },
    });
  });
});

describe('Bounce', () => {
  it('carries what the receiving server said', () => {
    expect(read(bounce({})).report.recipients).toMatchObject([
      {
        address: 'joe@example.org',
        action: 'failed',
        status: '5.1.1',
        bounce_type: 'permanent',
        reason: 'user-unknown',
        smtp_response: '550 5.1.1 user unknown',
        reporting_mta: 'b1.smtp-out.amazonses.com',
      },
    ]);
  });

  const silent = [{ emailAddress: 'joe@example.org' }];
  it.each([
    ['Permanent', 'NoEmail', 'permanent', 'user-unknown'],
    ['Permanent', 'Suppressed', 'permanent', 'suppressed'],
    ['Permanent', 'OnAccountSuppressionList', 'permanent', 'suppressed'],
    ['Transient', 'MailboxFull', 'transient', 'mailbox-full'],
    ['Transient', 'MessageTooLarge', 'transient', 'too-large'],
    ['Transient', 'ContentRejected', 'transient', 'content'],
    ['Transient', 'AttachmentRejected', 'transient', 'content'],
    ['Undetermined', 'Undetermined', 'transient', 'other'],
  ])('%s %s is %s, %s', (bounceType, bounceSubType, type, reason) => {
    const event = read(bounce({ bounceType, bounceSubType, bouncedRecipients: silent }));
    expect(event.report.recipients).toMatchObject([{ bounce_type: type, reason }]);
  });

  it('has a result for each recipient', () => {
    const bouncedRecipients = [
      { emailAddress: 'a@example.org' },
      { emailAddress: 'b@example.org' },
    ];
    const { recipients } = read(bounce({ bouncedRecipients })).report;
    expect(recipients.map(({ address }) => address)).toEqual(['a@example.org', 'b@example.org']);
    expect(new Set(recipients.map(({ fingerprint }) => fingerprint)).size).toBe(2);
  });
});

it('Complaint is an abuse report unless it says otherwise', () => {
  const complaint = {
    complainedRecipients: [{ emailAddress: 'joe@example.org' }],
    timestamp: '2026-11-15T00:00:00.000Z',
    feedbackId: '1',
  };
  const report = read({ notificationType: 'Complaint', complaint }).report;
  expect(report).toMatchObject({
    kind: 'arf',
    feedback_type: 'abuse',
    recipients: [{ address: 'joe@example.org', action: null }],
  });
  const other = read({
    eventType: 'Complaint',
    complaint: { ...complaint, complaintFeedbackType: 'not-spam' },
  }).report;
  expect(other.feedback_type).toBe('not-spam');
});

it('Open and Click carry who and where', () => {
  const open = {
    timestamp: '2026-11-15T00:00:03.000Z',
    ipAddress: '192.0.2.1',
    userAgent: 'Mozilla/5.0 (X11)',
  };
  expect(read({ eventType: 'Open', open })).toMatchObject({
    kind: 'open',
    userAgent: 'Mozilla/5.0 (X11)',
    ipAddress: '192.0.2.1',
    url: null,
  });
  const click = { ...open, link: 'https://acme.test/x', linkTags: null };
  expect(read({ eventType: 'Click', click })).toMatchObject({
    kind: 'click',
    url: 'https://acme.test/x',
    report: { kind: 'other', recipients: [] },
  });
});

it('the second open is another event, the same notification is not', () => {
  const open = (timestamp: string) =>
    read({ eventType: 'Open', open: { timestamp, ipAddress: '192.0.2.1', userAgent: 'x' } })
      .fingerprint;
  expect(open('2026-11-15T00:00:03.000Z')).toBe(open('2026-11-15T00:00:03.000Z'));
  expect(open('2026-11-15T00:00:04.000Z')).not.toBe(open('2026-11-15T00:00:03.000Z'));
});

it('Reject is a bounce of everyone for the content', () => {
  expect(read({ eventType: 'Reject', reject: { reason: 'Bad content' } })).toMatchObject({
    kind: 'reject',
    report: {
      recipients: [
        {
          address: 'joe@example.org',
          action: 'failed',
          bounce_type: 'permanent',
          reason: 'content',
          smtp_response: 'Bad content',
        },
      ],
    },
  });
});

it('DeliveryDelay is a delay', () => {
  const deliveryDelay = {
    delayType: 'MailboxFull',
    timestamp: '2026-11-15T00:00:03.000Z',
    delayedRecipients: [
      { emailAddress: 'joe@example.org', status: '4.2.2', diagnosticCode: 'smtp; 452 4.2.2 full' },
    ],
  };
  expect(read({ eventType: 'DeliveryDelay', deliveryDelay })).toMatchObject({
    kind: 'delay',
    report: {
      recipients: [
        { action: 'delayed', status: '4.2.2', bounce_type: null, smtp_response: '452 4.2.2 full' },
      ],
    },
  });
});

it('what needs no answer gets none', () => {
  expect(
    readSes('Successfully validated SNS topic for Amazon SES event publishing.'),
  ).toBeUndefined();
  for (const eventType of ['Send', 'Rendering Failure', 'Subscription', 'Tomorrow'])
    expect(read({ eventType })).toBeUndefined();
});

it('answers anything with an event, nothing or a Problem', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.jsonValue().map((value) => JSON.stringify({ eventType: 'Bounce', mail, bounce: value })),
      ),
      (text) => {
        try {
          readSes(text);
        } catch (error) {
          expect(error).toBeInstanceOf(Problem);
        }
      },
    ),
  );
});
