// The feedback listener over real SMTP: who is let in, what a report does, and what is kept for
// people.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerFeedback } from '../../src/cli/feedback.ts';
import { registerFeedbackList } from '../../src/cli/feedback-list.ts';
import { listKept, pruneKept } from '../../src/feedback/kept.ts';
import { composeComplaint } from '../../src/sandbox/arf.ts';
import { composeDsn, type DsnRecipient } from '../../src/sandbox/dsn.ts';
import { runInProcess } from '../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createAuthority } from '../support/https-receiver.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { startSink } from '../support/smtp-sink.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

const BOUNCES = 'bounces.test';
let sink: Awaited<ReturnType<typeof startSink>>;
let database: TestDatabase;
let proxy: TcpProxy;
let service: TestService;
let account: TestAccount;

beforeAll(async () => {
  // A relay that takes everything and reports nothing: the reports are the test's.
  sink = await startSink();
  database = await createTestDatabase();
  proxy = await startTcpProxy(database.url);
  service = await startTestService(
    { RELAY_URL: sink.url, BOUNCE_DOMAIN: BOUNCES },
    { on: { ...database, url: proxy.url } },
  );
  account = await service.account();
});
afterAll(async () => {
  await service.stop();
  await proxy.close();
  await database.drop();
  await sink.stop();
});

/** The copy of one recipient. */
interface Sent {
  id: string;
  to: string[];
  from: string;
  raw: Buffer;
}

let people = 0;
/** Each email to someone else, by default: reports suppress people. */
async function send(to = [`person${++people}@example.net`], by = account): Promise<Sent> {
  return (await sendAll(to, by))[0]!;
}

/** In the order of the recipients. */
async function sendAll(to: string[], by = account): Promise<Sent[]> {
  const { id } = (await service.send(by.key, anEmail({ to }))).body;
  const copies = () => sink.emails.filter((it) => it.envelopeId === id);
  await until(() => copies().length === to.length);
  return copies().map((it) => ({ id, to: it.recipients, from: it.from, raw: Buffer.from(it.raw) }));
}

/** Hands an email to the listener; answers what it said. */
async function deliver(to: string | string[], raw: Buffer | string, options = {}) {
  const transport = createTransport({
    host: '127.0.0.1',
    port: service.feedbackPort,
    tls: { rejectUnauthorized: false },
    ...options,
  });
  try {
    const { response } = await transport.sendMail({ envelope: { from: '', to }, raw });
    return response;
  } catch (error) {
    return (error as { response?: string }).response ?? (error as Error).message;
  } finally {
    transport.close();
  }
}

const dsn = (sent: Sent, ...recipients: Partial<DsnRecipient>[]) =>
  composeDsn({
    reportingMta: 'relay.test',
    returnPath: sent.from,
    envelopeId: sent.id,
    original: sent.raw,
    date: new Date(),
    recipients: recipients.map((recipient) => ({
      address: sent.to[0]!,
      action: 'failed',
      status: '5.1.1',
      diagnostic: '550 5.1.1 User unknown',
      remoteMta: 'mx.example.net',
      ...recipient,
    })),
  });

const timeline = async (id: string, by = account) =>
  (await service.get(by.key, `/v1/messages/${id}`)).body;
const types = async (id: string) =>
  (await timeline(id)).events.map((event: { type: string }) => event.type);
const suppressed = async (by = account) =>
  (
    await database.database.query<{ address: string }>(
      `SELECT address FROM suppressions WHERE account_id = $1
       UNION SELECT address FROM unsubscribes WHERE account_id = $1 ORDER BY 1`,
      [by.id],
    )
  ).map((row) => row.address);

describe('who is let in', () => {
  it('signed return paths and the complaints mailbox, nothing else', async () => {
    const { from } = await send();
    const [local, token] = from.split('@')[0]!.split('+');
    const forged = `${token!.slice(0, -1)}${token!.endsWith('a') ? 'b' : 'a'}`;
    for (const to of [
      'postmaster@elsewhere.test',
      `hostmaster@${BOUNCES}`,
      `bounce@${BOUNCES}`,
      `bounce+@${BOUNCES}`,
      `${local}+${forged}@${BOUNCES}`,
      `${local}+${token}@elsewhere.test`,
      'complaints@elsewhere.test',
    ]) {
      expect(await deliver(to, 'Subject: x\r\n\r\nx')).toMatch(/^550 /);
    }
    expect(await deliver(from.toUpperCase(), dsn(await send()))).toMatch(/^250 /);
  });

  it('over STARTTLS, with the certificate of the operator where there is one', async () => {
    const sent = await send();
    expect(await deliver(sent.from, dsn(sent), { requireTLS: true })).toMatch(/^250 /);

    const folder = mkdtempSync(join(tmpdir(), 'sandmartin-tls-'));
    const authority = createAuthority();
    const { cert, key } = authority.issue({ names: ['mx.bounces.test'] });
    writeFileSync(join(folder, 'cert.pem'), cert);
    writeFileSync(join(folder, 'key.pem'), key);
    const other = await startTestService(
      {
        ROLES: 'feedback',
        BOUNCE_DOMAIN: BOUNCES,
        FEEDBACK_TLS_CERT: join(folder, 'cert.pem'),
        FEEDBACK_TLS_KEY: join(folder, 'key.pem'),
      },
      { on: database },
    );
    const strict = {
      port: other.feedbackPort,
      requireTLS: true,
      tls: { ca: authority.ca, servername: 'mx.bounces.test' },
    };
    expect(await deliver(sent.from, dsn(sent), strict)).toMatch(/^250 /);
    await other.stop();
    rmSync(folder, { recursive: true });
  });

  it('at most ten recipients an email and forty connections a network', async () => {
    const many = Array.from({ length: 12 }, (_, index) => send([`p${index}@example.net`]));
    const paths = (await Promise.all(many)).map((sent) => sent.from);
    const transport = createTransport({
      host: '127.0.0.1',
      port: service.feedbackPort,
      ignoreTLS: true,
    });
    const { rejected } = await transport.sendMail({
      envelope: { from: '', to: paths },
      raw: 'Subject: x\r\n\r\nx',
    });
    expect(rejected).toHaveLength(2);
    transport.close();

    const greeting = () =>
      new Promise<{ text: string; end: () => void }>((resolve) => {
        const socket = connect(service.feedbackPort, '127.0.0.1');
        socket.on('error', () => undefined);
        socket.once('data', (data) =>
          resolve({ text: data.toString(), end: () => socket.destroy() }),
        );
      });
    const open = await Promise.all(Array.from({ length: 45 }, greeting));
    expect(open.filter(({ text }) => text.startsWith('220'))).toHaveLength(40);
    expect(open.filter(({ text }) => text.startsWith('421'))).toHaveLength(5);
    for (const { end } of open) end();
    const sent = await send();
    await until(async () => expect(await deliver(sent.from, dsn(sent))).toMatch(/^250 /) ?? true);
  });
});

describe('a delivery report', () => {
  it('is recorded once however often it comes', async () => {
    const sent = await send(['once@example.net']);
    for (let copy = 0; copy < 3; copy++) {
      // Each copy has a Message-ID, a Date and a boundary of its own.
      expect(await deliver(sent.from, dsn(sent, { address: 'once@example.net' }))).toMatch(/^250 /);
    }
    expect(await timeline(sent.id)).toMatchObject({
      status: 'bounced',
      events: [
        { type: 'sent' },
        {
          type: 'bounced',
          recipients: ['once@example.net'],
          bounce_type: 'permanent',
          reason: 'user-unknown',
          smtp_response: '550 5.1.1 User unknown',
          remote_mta: 'mx.example.net',
          suppressed: true,
        },
      ],
    });
    expect(await suppressed()).toContain('once@example.net');
  });

  it.each([
    ['delivered', '2.0.0', 'delivered'],
    ['relayed', '2.0.0', 'delivered'],
    ['expanded', '2.0.0', 'delivered'],
  ] as const)('%s is %s', async (action, status, type) => {
    const sent = await send();
    await deliver(sent.from, dsn(sent, { action, status, diagnostic: '250 2.0.0 Ok' }));
    expect(await timeline(sent.id)).toMatchObject({
      status: type,
      events: [
        { type: 'sent' },
        { type, smtp_response: '250 2.0.0 Ok', remote_mta: 'mx.example.net' },
      ],
    });
  });

  it('failed with 4.x is transient and suppresses nobody', async () => {
    const sent = await send(['full@example.net']);
    const full = {
      address: 'full@example.net',
      status: '4.2.2',
      diagnostic: '452 4.2.2 Over quota',
    };
    await deliver(sent.from, dsn(sent, full));
    expect((await timeline(sent.id)).events[1]).toMatchObject({
      bounce_type: 'transient',
      reason: 'mailbox-full',
    });
    expect(await suppressed()).not.toContain('full@example.net');
  });

  it('delayed is kept on the message, and is no event', async () => {
    const sent = await send();
    const delay = {
      action: 'delayed',
      status: '4.4.1',
      diagnostic: '451 4.4.1 No answer',
    } as const;
    await deliver(sent.from, dsn(sent, delay));
    const [row] = await database.database.query<{ last_delay: object }>(
      'SELECT last_delay FROM messages WHERE last_delay IS NOT NULL',
    );
    expect(row!.last_delay).toMatchObject({
      recipients: sent.to,
      smtp_response: '451 4.4.1 No answer',
    });
    expect(await timeline(sent.id)).toMatchObject({ status: 'sent', events: [{ type: 'sent' }] });
  });

  it('speaks about the recipient whose copy it is about, and nobody else', async () => {
    const to = ['Bob@Example.NET', 'jürgen@bücher.example', 'eve@example.net'];
    const [bob, jürgen, eve] = await sendAll(to);
    const sent = bob!;
    await deliver(bob!.from, dsn(bob!, { address: 'bob@example.net' }));
    const delivered = { action: 'delivered', status: '2.0.0' } as const;
    await deliver(jürgen!.from, dsn(jürgen!, { ...delivered, address: 'jürgen@bücher.example' }));
    // Eve knows the return path of her own copy: she can say that she got it, whatever names she
    // writes.
    const lie = dsn(eve!, { ...delivered, address: 'jürgen@bücher.example' });
    await deliver(eve!.from, lie);
    const { events } = await timeline(sent.id);
    const about = (type: string) =>
      events
        .filter((event: { type: string }) => event.type === type)
        .map((it: { recipients: string[] }) => it.recipients);
    expect(about('delivered')).toEqual([['jürgen@xn--bcher-kva.example'], ['eve@example.net']]);
    expect(about('bounced')).toEqual([['Bob@example.net']]);
    expect(await suppressed()).toContain('bob@example.net');
  });

  it('about a forwarded address means the one recipient there was', async () => {
    const sent = await send(['list@example.net']);
    await deliver(sent.from, dsn(sent, { address: 'member@elsewhere.example' }));
    expect((await timeline(sent.id)).events[1]).toMatchObject({ recipients: ['list@example.net'] });
    expect(await suppressed()).toContain('list@example.net');
  });

  it('may return the whole email, of 30 MB', async () => {
    const sent = await send(['huge@example.net']);
    const report = dsn(sent, { address: 'huge@example.net' });
    const filler = Buffer.alloc(30 * 1024 * 1024, `${'x'.repeat(76)}\r\n`);
    expect(await deliver(sent.from, Buffer.concat([report, filler]))).toMatch(/^250 /);
    expect(await types(sent.id)).toEqual(['sent', 'bounced']);
  });

  it('of more than 50 MB is refused', async () => {
    const sent = await send();
    const filler = Buffer.alloc(51 * 1024 * 1024, `${'x'.repeat(76)}\r\n`);
    expect(await deliver(sent.from, Buffer.concat([dsn(sent), filler]))).toMatch(/^552 /);
    expect(await types(sent.id)).toEqual(['sent']);
  });
});

describe('a complaint', () => {
  const complaint = (sent: Sent, change: (raw: string) => string = (raw) => raw) =>
    Buffer.from(
      change(
        composeComplaint({
          reportingHost: 'fbl.test',
          to: `complaints@${BOUNCES}`,
          returnPath: sent.from,
          complainer: sent.to[0]!,
          original: sent.raw,
          date: new Date(),
        }).toString(),
      ),
    );
  const without =
    (...names: string[]) =>
    (raw: string) =>
      names.reduce(
        (text, name) => text.replace(new RegExp(`^${name}:.*\\r\\n(?:[ \\t].*\\r\\n)*`, 'gim'), ''),
        raw,
      );
  const anonymous = (raw: string) =>
    without('Original-Rcpt-To', 'Original-Mail-From', 'To', 'Return-Path')(raw);

  it.each<[string, (raw: string) => string]>([
    ['our signed header', without('X-SM-Message-Id', 'Message-ID')],
    [
      'our signed header alone, names redacted',
      (raw) => anonymous(without('X-SM-Message-Id', 'Message-ID')(raw)),
    ],
    ['the return path it names', without('X-SM-Token', 'X-SM-Message-Id', 'Message-ID')],
    [
      'the return path of the returned email',
      (raw) =>
        without('X-SM-Token')(raw).replace(
          /^Original-Mail-From: (<.*>)([\s\S]*?)^From: Acme/m,
          '$2Return-Path: $1\r\nFrom: Acme',
        ),
    ],
  ])('finds its email by %s', async (_, change) => {
    const other = await service.account();
    const sent = await send(undefined, other);
    expect(await deliver(`complaints@${BOUNCES}`, complaint(sent, change))).toMatch(/^250 /);
    expect(await timeline(sent.id, other)).toMatchObject({
      status: 'complained',
      events: [
        { type: 'sent' },
        { type: 'complained', feedback_type: 'abuse', recipients: sent.to },
      ],
    });
    expect(await suppressed(other)).toEqual(sent.to);
  });

  it('counts at abuse@ as well, and what else people write there is kept for people', async () => {
    const sent = await send();
    expect(
      await deliver(
        `Abuse@${BOUNCES}`,
        complaint(sent, (raw) => raw),
      ),
    ).toMatch(/^250 /);
    expect(await timeline(sent.id)).toMatchObject({ status: 'complained' });

    const bystander = await send(['bystander@example.net']);
    const forged = without('X-SM-Token', 'X-SM-Message-Id', 'Return-Path');
    for (const [to, raw] of [
      [`postmaster@${BOUNCES}`, 'Subject: to the postmaster\r\n\r\nYour MX is down.'],
      [`ABUSE@${BOUNCES}`, 'Subject: to abuse\r\n\r\nI get mail that I do not want.'],
      [`abuse@${BOUNCES}`, dsn(bystander, {})],
    ] as const) {
      expect(await deliver(to, raw)).toMatch(/^250 /);
    }
    const forPeople = await listKept(database.database, { limit: 100, forPeople: true });
    expect(forPeople.map(({ why }) => why)).toEqual(['for-people', 'for-people', 'for-people']);
    expect(forPeople.map(({ subject }) => subject)).toContain('to the postmaster');
    // What looks like a bounce there speaks about nobody, and neither does a complaint without a
    // token.
    const bare = complaint(bystander, (raw) => forged(raw).replace(/^Original-Mail-From:.*$/m, ''));
    expect(await deliver(`abuse@${BOUNCES}`, bare)).toMatch(/^250 /);
    expect(await types(bystander.id)).toEqual(['sent']);
    expect(await suppressed()).not.toContain('bystander@example.net');
  });

  it('with a forged header is nobody’s', async () => {
    const sent = await send(['forged@example.net']);
    const forged = complaint(sent, (raw) =>
      without(
        'X-SM-Message-Id',
        'Message-ID',
        'Original-Rcpt-To',
        'To',
      )(raw).replace(/^(X-SM-Token: \w+)\w{5}/im, '$1aaaaa'),
    );
    await deliver(`complaints@${BOUNCES}`, forged);
    expect(await types(sent.id)).toEqual(['sent']);
  });

  it('is recorded once however often it comes', async () => {
    const sent = await send(['thrice@example.net']);
    for (let copy = 0; copy < 3; copy++) await deliver(`complaints@${BOUNCES}`, complaint(sent));
    expect(await types(sent.id)).toEqual(['sent', 'complained']);
  });

  it.each([
    ['opt-out', ['sent'], true, false],
    ['not-spam', ['sent'], false, true],
    ['auth-failure', ['sent'], false, true],
    ['fraud', ['sent', 'complained'], true, false],
  ])('of type %s: events %j, suppressed %j, kept %j', async (type, events, suppresses, keeps) => {
    const other = await service.account();
    const sent = await send(undefined, other);
    await deliver(
      `complaints@${BOUNCES}`,
      complaint(sent, (raw) => raw.replace('Feedback-Type: abuse', `Feedback-Type: ${type}`)),
    );
    const story = await timeline(sent.id, other);
    expect(story.events.map((event: { type: string }) => event.type)).toEqual(events);
    expect(await suppressed(other)).toEqual(suppresses ? sent.to : []);
    const kept = (await listKept(database.database, { limit: 100 })).filter(
      (it) => it.messageId === sent.id,
    );
    expect(kept.map((it) => it.feedbackType)).toEqual(keeps ? [type] : []);
  });
});

describe('everything else', () => {
  const vacation = (id: string) =>
    `From: Ada <ada@example.net>\r\nSubject: =?UTF-8?Q?Bin_im_Urlaub_=E2=80=93_bis_Montag?=\r\nMessage-ID: <${id}@example.net>\r\nAuto-Submitted: auto-replied\r\n\r\nI am out of office until Monday.\r\n`;

  it('is kept raw for people, once, and makes no event', async () => {
    const sent = await send();
    for (let copy = 0; copy < 2; copy++) {
      const traced = `Received: from x by y; copy ${copy}\r\n${vacation('v1')}`;
      expect(await deliver(sent.from, traced)).toMatch(/^250 /);
    }
    expect(await types(sent.id)).toEqual(['sent']);
    const kept = (await listKept(database.database, { limit: 100 })).filter(
      (it) => it.messageId === sent.id,
    );
    expect(kept).toMatchObject([
      {
        kind: 'auto-reply',
        subject: 'Bin im Urlaub – bis Montag',
        accountId: account.id,
        recipient: sent.from,
      },
    ]);

    const run = (...args: string[]) =>
      runInProcess(
        (program) => registerFeedbackList(registerFeedback(program)),
        ['feedback', ...args],
        {
          DATABASE_URL: database.url,
        },
      );
    expect((await run('list')).stdout).toContain(kept[0]!.id);
    expect((await run('show', kept[0]!.id)).stdout).toContain('out of office until Monday');
    expect(await run('show', 'fbk_x')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('fbk_x'),
    });
  });

  it('goes after seven days', async () => {
    const sent = await send();
    await deliver(sent.from, vacation('v2'));
    const ids = async () =>
      (await listKept(database.database, { limit: 1000 })).map((it) => it.messageId);
    expect(await ids()).toContain(sent.id);
    await database.database.query(
      `UPDATE feedback_mails SET received_at = now() - interval '6 days 23 hours'`,
    );
    await pruneKept(database.database);
    expect(await ids()).toContain(sent.id);
    await database.database.query(
      `UPDATE feedback_mails SET received_at = now() - interval '7 days 1 minute'`,
    );
    await pruneKept(database.database);
    // What people wrote stays for a month.
    const forPeople = await listKept(database.database, { limit: 1000, forPeople: true });
    expect(await ids()).toEqual(forPeople.map((it) => it.messageId));
    await database.database.query(
      `UPDATE feedback_mails SET received_at = now() - interval '30 days 1 minute'`,
    );
    await pruneKept(database.database);
    expect(await ids()).toEqual([]);
  });

  it('bounces that anyone sends to the complaints mailbox are not believed', async () => {
    const sent = await send(['trusting@example.net']);
    expect(
      await deliver(`complaints@${BOUNCES}`, dsn(sent, { address: 'trusting@example.net' })),
    ).toMatch(/^250 /);
    expect(await types(sent.id)).toEqual(['sent']);
    expect(await suppressed()).not.toContain('trusting@example.net');
  });

  it.each<[string, (sent: Sent) => Buffer]>([
    ['nothing', () => Buffer.from('\r\n')],
    ['bytes', () => Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919) & 255))],
    [
      'NUL and broken UTF-8 in a report',
      (sent) => {
        const raw = dsn(sent, {
          diagnostic: '550 5.1.1 \0 bad \u0001',
        });
        return Buffer.concat([raw, Buffer.from([0xff, 0xfe, 0xc3, 0x28])]);
      },
    ],
    [
      'half a surrogate pair where a long reply is cut',
      (sent) => dsn(sent, { diagnostic: `550 5.1.1 ${'😀'.repeat(3000)}` }),
    ],
    [
      'deep nesting',
      () => {
        const open = Array.from(
          { length: 500 },
          (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`,
        );
        return Buffer.from(`Subject: deep\r\n${open.join('')}Content-Type: text/plain\r\n\r\nx`);
      },
    ],
  ])('hostile: %s, and the next report is still taken', async (_, make) => {
    const sent = await send();
    expect(await deliver(sent.from, make(sent))).toMatch(/^250 /);
    const next = await send();
    expect(await deliver(next.from, dsn(next, { action: 'delivered', status: '2.0.0' }))).toMatch(
      /^250 /,
    );
    expect(await types(next.id)).toEqual(['sent', 'delivered']);
  });
});

// On Citus the proxy cuts off the coordinator alone, and the report goes straight to its node.
it.skipIf(process.env.TEST_CITUS)(
  'while the database is away the relay is told to come again, and then it is recorded',
  async () => {
    const sent = await send(['later@example.net']);
    await proxy.shut();
    expect(await deliver(sent.from, dsn(sent, { address: 'later@example.net' }))).toMatch(/^451 /);
    await proxy.open();
    await until(async () =>
      /^250 /.test(await deliver(sent.from, dsn(sent, { address: 'later@example.net' }))),
    );
    expect(await types(sent.id)).toEqual(['sent', 'bounced']);
  },
);
