// Amazon SES over HTTP: signed notifications become the timeline of the email they are about;
// nothing else gets in or out.
import { sign } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMatcher } from '../../src/feedback/match.ts';
import { openReportRecorder } from '../../src/feedback/record.ts';
import { canonicalString, type SnsMessage } from '../../src/feedback/sns.ts';
import { createBodies } from '../../src/http/body.ts';
import { answerSes } from '../../src/inbound/ses.ts';
import { systemClock } from '../../src/process/clock.ts';
import { createLog } from '../../src/process/log.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { openSecret } from '../../src/roles/secrets.ts';
import { openEngagementRecorder } from '../../src/tracking/record.ts';
import { rsaCertificate } from '../feedback/rsa-certificate.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';

const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:ses-events';
const SNS = 'https://sns.eu-central-1.amazonaws.com';
const amazon = rsaCertificate(Date.now() - 86_400_000, Date.now() + 86_400_000);
const stranger = rsaCertificate(Date.now() - 86_400_000, Date.now() + 86_400_000);

let sink: Awaited<ReturnType<typeof startSink>>;
let service: TestService;
let account: TestAccount;
let server: Server;
let url: string;
const fetched: string[] = [];

beforeAll(async () => {
  sink = await startSink();
  service = await startTestService({ RELAY_URL: sink.url });
  account = await service.account();
  const { database } = service;
  const metrics = createMetrics();
  const log = createLog('silent');
  const returnPathKeys = (await openSecret(database, undefined)).tokenKeys('return-path');
  // The endpoint as main.ts builds it, but for the wire to Amazon.
  const deps = {
    clock: systemClock,
    log,
    metrics,
    matcher: createMatcher({ database, clock: systemClock, returnPathKeys }),
    recorder: openReportRecorder({ database, metrics, nowMs: Date.now }),
    engagements: openEngagementRecorder({ database, clock: systemClock, log, metrics }),
    refusedPost: () => undefined,
    topics: [TOPIC],
    bodies: createBodies({ addressOf: () => undefined }),
    fetchText: async (from: string) => {
      fetched.push(from);
      return amazon.pem;
    },
  };
  server = createServer((request, response) => void answerSes(deps, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/inbound/ses`;
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await service.stop();
  await sink.stop();
});

function signed(changes: Partial<SnsMessage>, by = amazon): SnsMessage {
  const message: SnsMessage = {
    Type: 'Notification',
    MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
    TopicArn: TOPIC,
    Message: '{}',
    Timestamp: new Date().toISOString(),
    SignatureVersion: '2',
    Signature: '',
    SigningCertURL: `${SNS}/SimpleNotificationService-0123456789abcdef.pem`,
    ...changes,
  };
  const bytes = Buffer.from(canonicalString(message));
  return { ...message, Signature: sign('RSA-SHA256', bytes, by.privateKey).toString('base64') };
}

const post = async (message: unknown, to = url) =>
  (
    await fetch(to, {
      method: 'POST',
      headers: { 'content-type': 'text/plain; charset=UTF-8' },
      body: typeof message === 'string' ? message : JSON.stringify(message),
    })
  ).status;

interface Sent {
  id: string;
  headers: { name: string; value: string }[];
}

async function send(to = 'joe@example.org'): Promise<Sent> {
  const { id } = (await service.send(account.key, anEmail({ to: [to] }))).body;
  const { raw } = await until(() => sink.emails.find((it) => it.envelopeId === id));
  const value = (name: string) => new RegExp(`^${name}: (.*)\\r$`, 'm').exec(raw)![1]!;
  const names = ['X-SM-Message-Id', 'X-SM-Token'];
  return { id, headers: names.map((name) => ({ name, value: value(name) })) };
}

const notify = (
  eventType: string,
  sent: { headers?: Sent['headers'] },
  more: object,
  to = 'joe@example.org',
) =>
  signed({
    Message: JSON.stringify({
      eventType,
      mail: {
        timestamp: new Date().toISOString(),
        messageId: '0107018e-relay',
        destination: [to],
        headers: sent.headers ?? null,
        ...more,
      },
      ...more,
    }),
  });

const timeline = async (id: string) => (await service.get(account.key, `/v1/messages/${id}`)).body;
const ended = (id: string, status: string) =>
  until(async () => {
    const story = await timeline(id);
    expect(story.status).toBe(status);
    return story;
  });

describe('events of SES', () => {
  it('Delivery', async () => {
    const sent = await send();
    const delivery = {
      recipients: ['joe@example.org'],
      smtpResponse: '250 OK',
      reportingMTA: 'a8-70.smtp-out.amazonses.com',
    };
    expect(await post(notify('Delivery', sent, { delivery }))).toBe(200);
    expect((await ended(sent.id, 'delivered')).events[1]).toMatchObject({
      smtp_response: '250 OK',
      reporting_mta: 'a8-70.smtp-out.amazonses.com',
    });
  });

  it('Bounce suppresses, and is recorded once', async () => {
    const sent = await send('gone@example.org');
    const bounce = {
      bounceType: 'Permanent',
      bounceSubType: 'General',
      bouncedRecipients: [
        {
          emailAddress: 'gone@example.org',
          action: 'failed',
          status: '5.1.1',
          diagnosticCode: 'smtp; 550 5.1.1 user unknown',
        },
      ],
    };
    for (let copy = 0; copy < 2; copy++) {
      expect(await post(notify('Bounce', sent, { bounce }, 'gone@example.org'))).toBe(200);
    }
    const { events } = await ended(sent.id, 'bounced');
    expect(events).toHaveLength(2);
    expect(events[1]).toMatchObject({ bounce_type: 'permanent', reason: 'user-unknown' });
    const rows = await service.database.query(
      `SELECT FROM suppressions WHERE address = 'gone@example.org'`,
    );
    expect(rows).toHaveLength(1);
  });

  it('Complaint, Reject, Open and Click', async () => {
    const complained = await send('angry@example.org');
    const complaint = {
      complainedRecipients: [{ emailAddress: 'angry@example.org' }],
      complaintFeedbackType: 'abuse',
    };
    await post(notify('Complaint', complained, { complaint }, 'angry@example.org'));
    await ended(complained.id, 'complained');

    const rejected = await send('virus@example.org');
    await post(
      notify('Reject', rejected, { reject: { reason: 'Bad content' } }, 'virus@example.org'),
    );
    expect((await ended(rejected.id, 'bounced')).events[1]).toMatchObject({ reason: 'content' });

    const read = await send('reader@example.org');
    const who = {
      ipAddress: '192.0.2.7',
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0',
      timestamp: new Date().toISOString(),
    };
    await post(notify('Open', read, { open: who }));
    await ended(read.id, 'opened');
    await post(notify('Click', read, { click: { ...who, link: 'https://shop.example/' } }));
    expect((await ended(read.id, 'clicked')).events[2]).toMatchObject({
      url: 'https://shop.example/',
      ip_address: '192.0.2.7',
      machine: false,
    });
  });

  it('find their email by SES’s own id when headers are not included', async () => {
    const sent = await send('id@example.org');
    await until(async () => {
      const rows = await service.database.query(
        `UPDATE messages SET relay_message_id = '0107018e-own' WHERE recipients = '{id@example.org}' AND status = 'sent' RETURNING 1`,
      );
      return rows.length > 0;
    });
    const delivery = { recipients: ['id@example.org'], smtpResponse: '250 OK' };
    const body = JSON.stringify({
      notificationType: 'Delivery',
      mail: { messageId: '0107018e-own', destination: ['id@example.org'] },
      delivery,
    });
    expect(await post(signed({ Message: body }))).toBe(200);
    await ended(sent.id, 'delivered');
  });

  it('about email that is not ours are taken and forgotten', async () => {
    expect(
      await post(notify('Delivery', {}, { delivery: { recipients: ['x@example.org'] } })),
    ).toBe(200);
    expect(await post(signed({ Message: 'Successfully validated SNS topic' }))).toBe(200);
  });
});

describe('what is not let in', () => {
  const refusals: [string, () => unknown, number][] = [
    ['another topic', () => signed({ TopicArn: `${TOPIC}-2` }), 403],
    ['another signer', () => signed({}, stranger), 403],
    ['a changed message', () => ({ ...signed({}), Message: '{"eventType":"Bounce"}' }), 403],
    [
      'a certificate from elsewhere',
      () => signed({ SigningCertURL: 'https://sns.evil.example/a.pem' }),
      403,
    ],
    ['no JSON', () => 'x', 400],
    ['too much', () => 'x'.repeat(400_000), 400],
  ];
  it.each(refusals)('%s', async (_, message, status) => {
    expect(await post(message())).toBe(status);
  });

  it('and nothing is fetched for it, but a certificate of SNS for a topic of ours', async () => {
    fetched.length = 0;
    for (const [, message] of refusals) await post(message());
    expect(new Set(fetched)).toEqual(
      new Set([`${SNS}/SimpleNotificationService-0123456789abcdef.pem`]),
    );
  });

  it('everything, at a service without SES_TOPICS', async () => {
    expect(await post(signed({}), `${service.url}/inbound/ses`)).toBe(403);
    expect((await fetch(`${service.url}/inbound/ses`)).status).toBe(400);
  });

  it('more than 300 KB, announced or not', async () => {
    const body = 'x'.repeat(301 * 1024);
    const stream = new Blob([body]).stream();
    for (const init of [{ body }, { body: stream, duplex: 'half' }]) {
      const answer = await fetch(url, { method: 'POST', ...init } as RequestInit);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ detail: 'The body is larger than 300 KB.' });
    }
  });
});

describe('subscriptions', () => {
  const confirmation = (SubscribeURL: string) =>
    signed({ Type: 'SubscriptionConfirmation', Token: 't', SubscribeURL });

  it('are confirmed at the address SNS gives', async () => {
    fetched.length = 0;
    const address = `${SNS}/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=t`;
    expect(await post(confirmation(address))).toBe(200);
    expect(fetched.at(-1)).toBe(address);
  });

  it('are not confirmed anywhere else', async () => {
    fetched.length = 0;
    expect(await post(confirmation('https://internal.example/admin'))).toBe(403);
    expect(fetched).not.toContain('https://internal.example/admin');
  });
});
