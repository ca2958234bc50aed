// What Postmark, Mailgun and SendGrid report by HTTP: their documented events about our email
// become its timeline; repeated, early and late ones change nothing, and a stranger is not
// believed.
import { createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { piecesOf } from '../../src/bytes/chunks.ts';
import { sendgrid } from '../../src/feedback/providers/sendgrid.ts';
import { providerHeader } from '../../src/relays/provider-headers.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { type SmtpSink, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';

const TOKEN = 'a-token-that-nobody-guesses';
const SIGNING_KEY = 'key-of-mailgun';
const sendgridKeys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const spki = sendgridKeys.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');

type Kind = 'delivery' | 'bounce' | 'complaint' | 'open' | 'click';
type Fields = Record<string, unknown>;

let sink: SmtpSink;
let service: TestService;
let account: TestAccount;
beforeAll(async () => {
  sink = await startSink();
  service = await startTestService({
    RELAY_URL: `${sink.url}&provider=sendgrid`,
    POSTMARK_WEBHOOK_TOKENS: `other-token-of-before,${TOKEN}`,
    MAILGUN_SIGNING_KEYS: SIGNING_KEY,
    SENDGRID_VERIFICATION_KEYS: spki,
  });
  account = await service.account();
});
afterAll(async () => {
  await service.stop();
  await sink.stop();
});

interface Sent {
  id: string;
  to: string;
  token: string;
  messageId: string;
}
let sends = 0;
async function send(): Promise<Sent> {
  const to = `reader-${++sends}@example.org`;
  const { id } = (await service.send(account.key, anEmail({ to: [to] }))).body;
  const { raw } = await until(() => sink.emails.find((it) => it.envelopeId === id));
  const value = (name: string) => new RegExp(`^${name}: (.*)\\r$`, 'm').exec(raw)![1]!;
  await until(async () => (await timeline(id)).status === 'sent');
  return { id, to, token: value('X-SM-Token'), messageId: value('Message-ID') };
}
const timeline = async (id: string) => (await service.get(account.key, `/v1/messages/${id}`)).body;

interface Told {
  path: string;
  body: string;
  headers: Record<string, string>;
}
const post = async ({ path, body, headers }: Told): Promise<number> => {
  const answer = await fetch(`${service.url}${path}`, { method: 'POST', headers, body });
  await answer.text();
  return answer.status;
};
const documented = (provider: string): Record<Kind, Fields> =>
  JSON.parse(
    readFileSync(join(import.meta.dirname, `../fixtures/providers/${provider}.json`), 'utf8'),
  );

/** Each provider's documented event, about an email of ours: by token, or by the id it kept. */
const PROVIDERS: Record<string, (kind: Kind, sent: Sent, by?: 'token' | 'id') => Told> = {
  postmark(kind, { to, token }) {
    const event = documented('postmark')[kind];
    const about = 'Email' in event ? { Email: to } : { Recipient: to };
    const body = JSON.stringify({ ...event, ...about, Metadata: { 'sm-token': token } });
    return { path: `/inbound/postmark/${TOKEN}`, body, headers: {} };
  },
  mailgun(kind, { to, token, messageId }, by = 'token') {
    const event = documented('mailgun')[kind];
    const message = { headers: { 'message-id': messageId.slice(1, -1) } };
    const about = by === 'token' ? { 'user-variables': { sm_token: token } } : { message };
    const timestamp = String(Math.floor(Date.now() / 1000));
    const random = randomBytes(25).toString('hex');
    const signature = createHmac('sha256', SIGNING_KEY)
      .update(timestamp + random)
      .digest('hex');
    const body = JSON.stringify({
      signature: { timestamp, token: random, signature },
      'event-data': { ...event, recipient: to, ...about },
    });
    return { path: '/inbound/mailgun', body, headers: {} };
  },
  sendgrid(kind, { to, token, messageId }, by = 'token') {
    const event = documented('sendgrid')[kind];
    const about = by === 'token' ? { sm_token: token } : { 'smtp-id': messageId };
    return signedBySendgrid([{ event: 'processed' }, { ...event, email: to, ...about }]);
  },
};
function signedBySendgrid(events: unknown, key = sendgridKeys.privateKey): Told {
  const body = JSON.stringify(events);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = sign('sha256', Buffer.from(timestamp + body), key).toString('base64');
  const headers = {
    'X-Twilio-Email-Event-Webhook-Signature': signature,
    'X-Twilio-Email-Event-Webhook-Timestamp': timestamp,
  };
  return { path: '/inbound/sendgrid', body, headers };
}

describe.each(Object.entries(PROVIDERS))('%s', (name, tell) => {
  it('a delivery, told twice', async () => {
    const sent = await send();
    expect(await post(tell('delivery', sent))).toBe(200);
    expect(await post(tell('delivery', sent))).toBe(200);
    const { status, events } = await timeline(sent.id);
    expect(status).toBe('delivered');
    expect(events.map((it: { type: string }) => it.type)).toEqual(['sent', 'delivered']);
    expect(events[1].recipients).toEqual([sent.to]);
  });

  it('a hard bounce, which suppresses; a delivery that comes after it changes no status', async () => {
    const sent = await send();
    expect(await post(tell('bounce', sent))).toBe(200);
    expect(await post(tell('delivery', sent))).toBe(200);
    const { status, events } = await timeline(sent.id);
    expect(status).toBe('bounced');
    expect(events[1]).toMatchObject({
      ...{ type: 'bounced', bounce_type: 'permanent', reason: 'user-unknown' },
      ...{ suppressed: true, recipients: [sent.to] },
    });
    expect(events[1].smtp_response).toContain('does not exist');
  });

  it('a complaint', async () => {
    const sent = await send();
    expect(await post(tell('complaint', sent))).toBe(200);
    const { status, events } = await timeline(sent.id);
    expect(status).toBe('complained');
    expect(events[1]).toMatchObject({ type: 'complained', feedback_type: 'abuse' });
  });

  it('an open and a click', async () => {
    const sent = await send();
    expect(await post(tell('open', sent))).toBe(200);
    expect(await post(tell('click', sent))).toBe(200);
    expect(await post(tell('click', sent))).toBe(200);
    const types = await until(async () => {
      const { events } = await timeline(sent.id);
      return events.length === 3 && events.map((it: { type: string }) => it.type).sort();
    });
    expect(types).toEqual(['clicked', 'opened', 'sent']);
  });

  it('a stranger is not believed', async () => {
    const sent = await send();
    const told = tell('bounce', sent);
    const forged: Told[] = [
      {
        ...told,
        path: `/inbound/${name}`,
        headers: {},
        body: told.body.replace(/"signature"/g, '"s"'),
      },
      { ...told, path: told.path.replace(TOKEN, 'another-token-of-somebody') },
    ];
    if (name === 'mailgun')
      forged[1] = { ...told, body: told.body.replace(/"token":"../, '"token":"00') };
    if (name === 'sendgrid') forged[1] = { ...told, body: told.body.replace('bounce', 'bounse') };
    for (const one of forged) expect(await post(one)).toBe(401);
    expect((await timeline(sent.id)).events).toHaveLength(1);
  });

  it.each(['', 'no json', '{}', '[]', 'null', '[null]', '{"event-data":7}'])(
    'nonsense: %s',
    async (body) => {
      const told =
        name === 'sendgrid'
          ? { ...signedBySendgrid([]), body }
          : { ...tell('open', await send()), body };
      expect([200, 400, 401]).toContain(await post(told));
    },
  );
});

it('Postmark by basic authentication', async () => {
  const sent = await send();
  const told = PROVIDERS.postmark!('delivery', sent);
  const authorization = `Basic ${Buffer.from(`postmark:${TOKEN}`).toString('base64')}`;
  expect(await post({ ...told, path: '/inbound/postmark', headers: { authorization } })).toBe(200);
  expect((await timeline(sent.id)).status).toBe('delivered');
});

it.each(['mailgun', 'sendgrid'])('%s: found by the Message-ID it kept', async (name) => {
  const sent = await send();
  expect(await post(PROVIDERS[name]!('delivery', sent, 'id'))).toBe(200);
  expect((await timeline(sent.id)).status).toBe('delivered');
});

it('Mailgun: its token stands for one event, which may be repeated', async () => {
  const [sent, other] = [await send(), await send()];
  const told = PROVIDERS.mailgun!('delivery', sent);
  expect(await post(told)).toBe(200);
  expect(await post(told)).toBe(200);
  const forged = { ...told, body: told.body.replaceAll(sent.token, other.token) };
  expect(await post(forged)).toBe(401);
  expect((await timeline(other.id)).status).toBe('sent');
});

it('Mailgun: a temporary failure is a delay, and no end', async () => {
  const sent = await send();
  const told = PROVIDERS.mailgun!('bounce', sent);
  expect(await post({ ...told, body: told.body.replace('permanent', 'temporary') })).toBe(200);
  expect((await timeline(sent.id)).status).toBe('sent');
});

it('SendGrid: the call that its own libraries are tested with', () => {
  const key =
    'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==';
  const headers = {
    'x-twilio-email-event-webhook-signature':
      'MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM=',
    'x-twilio-email-event-webhook-timestamp': '1600112502',
  };
  const event = {
    ...{ email: 'hello@world.com', event: 'dropped', reason: 'Bounced Address' },
    sg_event_id: 'ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA',
    sg_message_id: 'LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0',
    'smtp-id': '<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>',
    timestamp: 1600112492,
  };
  const text = `${JSON.stringify([event])}\r\n`;
  const nowMs = 1600112502_000;
  sendgrid.authenticate({ rest: '', headers, text }, [key], nowMs);
  const changed = { rest: '', headers, text: text.replace('hello', 'hallo') };
  expect(() => sendgrid.authenticate(changed, [key], nowMs)).toThrow('signature is wrong');
  const late = () =>
    sendgrid.authenticate({ rest: '', headers, text }, [key], nowMs + 49 * 3_600_000);
  expect(late).toThrow();
  expect(sendgrid.read(JSON.parse(text)[0])).toMatchObject({
    ...{ kind: 'bounce', relayMessageId: 'LRzXl_NHStOGhQ4kofSm_A' },
    report: {
      recipients: [{ action: 'failed', reason: 'suppressed', bounce_type: 'permanent' }],
    },
  });
});

describe('SendGrid: many events in one call', () => {
  const { delivery, bounce, complaint, open } = documented('sendgrid') as Record<Kind, Fields>;
  const about = ({ to, token }: Sent, event: Fields): Fields => ({
    ...{ ...event, email: to, sm_token: token },
    sg_event_id: randomBytes(12).toString('hex'),
  });

  it('those that cannot be read, found or written keep none of the others back', async () => {
    const [before, after] = [await send(), await send()];
    const strange: unknown[] = [
      ...[null, 7, 'text', [], {}, { event: 'bounce' }, { email: 7, event: 'bounce' }],
      { ...bounce, email: 'nobody@example.org', sm_token: 'not-ours' },
      { ...bounce, email: 'nul\0@example.org', sg_message_id: 'nul\0.filter1' },
      { ...bounce, email: 'half\ud800@example.org', sg_message_id: 'half\ud800' },
      { ...bounce, email: `${'long'.repeat(50_000)}@example.org` },
      { ...delivery, event: 'a kind of tomorrow', email: before.to, sm_token: before.token },
    ];
    const events = [about(before, delivery), ...strange, about(after, delivery)];
    expect(await post(signedBySendgrid(events))).toBe(200);
    for (const { id } of [before, after]) expect((await timeline(id)).status).toBe('delivered');
  });

  it('of one email in any order, and all of them again: the highest rank, each once', async () => {
    const sent = await send();
    const events = [complaint, bounce, delivery].map((event) => about(sent, event));
    for (const told of [events, events.toReversed(), [events[1]]]) {
      expect(await post(signedBySendgrid(told))).toBe(200);
    }
    const { status, events: all } = await timeline(sent.id);
    expect(status).toBe('complained');
    expect(all.map((it: { type: string }) => it.type).sort()).toEqual([
      ...['bounced', 'complained', 'delivered', 'sent'],
    ]);
  });

  it('what strangers wrote into them is kept without what no database takes', async () => {
    const sent = await send();
    const reason = '550 5.1.1 does\0 not \ud800exist';
    const told = [about(sent, { ...bounce, reason }), about(sent, { ...open, useragent: 'a\0b' })];
    expect(await post(signedBySendgrid(told))).toBe(200);
    const events = await until(async () => {
      const { events } = await timeline(sent.id);
      return events.length === 3 && events;
    });
    const bounced = events.find((it: { type: string }) => it.type === 'bounced');
    expect(bounced.smtp_response).toMatch(/^550 5\.1\.1 does not .exist$/u);
  });

  it('a thousand of them', async () => {
    const sent = await send();
    const events = Array.from({ length: 1000 }, (_, n) =>
      about(sent, { ...open, useragent: `Reader ${n}` }),
    );
    expect(await post(signedBySendgrid([...events, about(sent, delivery)]))).toBe(200);
    expect((await timeline(sent.id)).events.some((it: Fields) => it.type === 'delivered')).toBe(
      true,
    );
  });
});

describe('fields that are not as documented', () => {
  it('what cannot be read at all is taken, and counted', async () => {
    const unread = async (): Promise<number[]> => {
      const text = await (await fetch(`${service.url}/metrics`)).text();
      return ['postmark', 'mailgun', 'sendgrid'].map((name) => {
        const line = `sandmartin_provider_events_unread_total{provider="${name}"} `;
        return Number(
          text
            .split('\n')
            .find((it) => it.startsWith(line))
            ?.slice(line.length) ?? 0,
        );
      });
    };
    const before = await unread();
    const sent = await send();
    const { postmark, mailgun } = PROVIDERS;
    const nameless = (told: Told) => ({ ...told, body: told.body.replaceAll(/ecipient"/g, 'x"') });
    expect(await post(nameless(postmark!('delivery', sent)))).toBe(200);
    expect(await post(nameless(mailgun!('delivery', sent)))).toBe(200);
    expect(await post(signedBySendgrid([{}, 7, { event: 'bounce' }]))).toBe(200);
    expect(await unread()).toEqual(before.map((count, at) => count + [1, 1, 3][at]!));
    expect((await timeline(sent.id)).status).toBe('sent');
  });

  const wrong = [7, true, ['x'], { x: 1 }];
  it.each(wrong)('%j beside what counts: the bounce still counts', async (value) => {
    const changes: Record<string, Fields> = {
      postmark: { Geo: value, UserAgent: value, Description: value, Brand: { new: value } },
      mailgun: { ip: value, reject: value, 'client-info': value, tomorrow: value },
      sendgrid: { status: value, useragent: value, ip: value, tomorrow: value },
    };
    for (const [name, tell] of Object.entries(PROVIDERS)) {
      const sent = await send();
      const told = tell('bounce', sent);
      const body = JSON.parse(told.body);
      const change = changes[name]!;
      if (name === 'sendgrid') {
        const [first, event] = body;
        expect(await post(signedBySendgrid([first, { ...event, ...change }]))).toBe(200);
      } else {
        const event = name === 'mailgun' ? body['event-data'] : body;
        Object.assign(event, change);
        expect(await post({ ...told, body: JSON.stringify(body) })).toBe(200);
      }
      expect((await timeline(sent.id)).status).toBe('bounced');
    }
  });
});

it('SendGrid: its key, not another', async () => {
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  expect(await post(signedBySendgrid([], other))).toBe(401);
});

it('a provider without its setting is refused', async () => {
  const bare = await startTestService({ RELAY_URL: sink.url });
  const answer = await fetch(`${bare.url}/inbound/mailgun`, { method: 'POST', body: '{}' });
  expect(answer.status).toBe(403);
  await bare.stop();
});

describe('the provider is told the token with the email', () => {
  const chunks = [Buffer.from('From: a@example.com\r\n\r\nHello\r\n')];
  const marked = (url: string, head = chunks) =>
    Buffer.concat([
      ...piecesOf(providerHeader(url)?.('bounce+abc123@b.example', head) ?? []),
    ]).toString();
  it.each([
    ['smtp://smtp.postmarkapp.com', 'X-PM-Metadata-sm-token: abc123'],
    ['smtp://smtp.eu.mailgun.org', 'X-Mailgun-Variables: {"sm_token":"abc123"}'],
    ['smtp://smtp.sendgrid.net', 'X-SMTPAPI: {"unique_args":{"sm_token":"abc123"}}'],
    ['smtp://127.0.0.1?provider=postmark', 'X-PM-Metadata-sm-token: abc123'],
  ])('%s', (url, line) =>
    expect(marked(url)).toMatch(new RegExp(`^${line.replace(/[{}]/g, '\\$&')}\r\n`)),
  );

  it('others are told nothing, and a header of the sender stays alone', () => {
    expect(providerHeader('smtp://mail.example.com')).toBeUndefined();
    expect(providerHeader('smtp://sendgrid.net.example.com')).toBeUndefined();
    const own = [Buffer.from('x-smtpapi: {}\r\n\r\nX')];
    expect(marked('smtp://smtp.sendgrid.net', own)).toBe('x-smtpapi: {}\r\n\r\nX');
  });

  it('and a large email is not copied for it', () => {
    const large = [Buffer.from('From: a@example.com\r\n\r\n'), Buffer.alloc(33 * 1024 * 1024)];
    const before = process.memoryUsage().arrayBuffers;
    const [, ...rest] = providerHeader('smtp://smtp.sendgrid.net')!(
      'bounce+abc123@b.example',
      large,
    );
    expect(rest[1]).toBe(large[1]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024);
  });

  it('over the wire', async () => {
    const { id, token } = await send();
    const { raw } = sink.emails.find((it) => it.envelopeId === id)!;
    expect(raw).toMatch(new RegExp(`^X-SMTPAPI: .*"${token}"`));
  });
});
