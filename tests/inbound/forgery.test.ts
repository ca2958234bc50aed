// Nobody can speak for another: a report counts with a token of ours for that recipient, or from a
// reporter the operator trusts. Everything else is kept for people and changes nothing.
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { type KeptEmail, listKept } from '../../src/feedback/kept.ts';
import { readId } from '../../src/ids.ts';
import { systemClock } from '../../src/process/clock.ts';
import { openSecret } from '../../src/roles/secrets.ts';
import { composeComplaint } from '../../src/sandbox/arf.ts';
import { composeDsn } from '../../src/sandbox/dsn.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startDns, type TestDns } from '../support/dns-server.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';

const BOUNCES = 'bounces.test';
const COMPLAINTS = `complaints@${BOUNCES}`;
let sink: Awaited<ReturnType<typeof startSink>>;
let database: TestDatabase;
let dns: TestDns;
let service: TestService;
/** The same service, with reporters that it trusts: by DKIM, and by network. */
let believing: TestService;
let neighbourly: TestService;
let account: TestAccount;

const rsa = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

beforeAll(async () => {
  sink = await startSink();
  dns = await startDns();
  dns.publish('TXT', 's1._domainkey.fbl.example', `v=DKIM1; p=${rsa.publicKey.toString('base64')}`);
  dns.publish(
    'TXT',
    's1._domainkey.evil.example',
    `v=DKIM1; p=${rsa.publicKey.toString('base64')}`,
  );
  database = await createTestDatabase();
  const common = { RELAY_URL: sink.url, BOUNCE_DOMAIN: BOUNCES, DNS_SERVERS: dns.address };
  service = await startTestService(common, { on: database });
  const start = (TRUSTED_REPORTERS: string) =>
    startTestService({ ...common, ROLES: 'feedback', TRUSTED_REPORTERS }, { on: database });
  believing = await start('fbl.example,198.51.100.0/24');
  neighbourly = await start('127.0.0.0/8,::1');
  account = await service.account();
});
afterAll(async () => {
  for (const it of [neighbourly, believing, service]) await it.stop();
  await database.drop();
  await dns.close();
  await sink.stop();
});

/** The copy of one recipient. */
interface Copy {
  id: string;
  to: string;
  from: string;
  raw: Buffer;
}

let people = 0;
const person = () => `person${++people}@customer.example`;

async function send(to: string[], by = account): Promise<Copy[]> {
  const { id } = (await service.send(by.key, anEmail({ to }))).body;
  const copies = () => sink.emails.filter((it) => it.envelopeId === id);
  await until(() => copies().length === to.length);
  await until(async () => (await story(id, by)).events.length > 0);
  return copies().map((it) => ({
    id,
    to: it.recipients[0]!,
    from: it.from,
    raw: Buffer.from(it.raw),
  }));
}

async function deliver(to: string, raw: Buffer | string, by = service): Promise<string> {
  const transport = createTransport({ host: '127.0.0.1', port: by.feedbackPort, ignoreTLS: true });
  try {
    return (await transport.sendMail({ envelope: { from: '', to }, raw })).response;
  } catch (error) {
    return (error as { response?: string }).response ?? (error as Error).message;
  } finally {
    transport.close();
  }
}

const story = async (id: string, by = account) =>
  (await service.get(by.key, `/v1/messages/${id}`)).body as {
    status: string;
    events: { type: string; recipients: string[] }[];
  };
const told = async (id: string) =>
  (await story(id)).events.slice(1).map(({ type, recipients }) => [type, ...recipients]);
const suppressed = async () =>
  (await database.database.query<{ address: string }>('SELECT address FROM suppressions')).map(
    (row) => row.address,
  );
const keptFor = async (subject: string): Promise<KeptEmail[]> =>
  (await listKept(database.database, { limit: 1000 })).filter((it) => it.subject === subject);

const failed = (copy: Copy, address: string) =>
  composeDsn({
    reportingMta: 'relay.test',
    returnPath: copy.from,
    envelopeId: copy.id,
    original: copy.raw,
    date: new Date(),
    recipients: [
      {
        address,
        action: 'failed',
        status: '5.1.1',
        diagnostic: '550 5.1.1 User unknown',
        remoteMta: 'mx.customer.example',
      },
    ],
  });

/** A complaint without anything that only who got the email could know. */
function complaint(about: { id?: string; to: string }, subject = `about ${about.to}`): string {
  const original = `From: hello@example.com\r\nTo: ${about.to}\r\n${about.id ? `X-SM-Message-Id: ${about.id}\r\nMessage-ID: <${about.id}@example.com>\r\n` : ''}Subject: Hello\r\n\r\n`;
  return composeComplaint({
    reportingHost: 'fbl.example',
    to: COMPLAINTS,
    returnPath: 'hello@example.com',
    complainer: about.to,
    original: Buffer.from(original),
    date: new Date(),
  })
    .toString()
    .replace('Subject: Complaint about an email', `Subject: ${subject}`);
}

describe('a complaint without a token', () => {
  it.each([
    ['that names a recipient', false],
    ['that knows the message id, as every log does', true],
  ])('%s changes nothing and is kept', async (_, withId) => {
    const [copy] = await send([person()]);
    const { id, to } = copy!;
    const subject = `forged ${id}`;
    expect(await deliver(COMPLAINTS, complaint(withId ? { id, to } : { to }, subject))).toMatch(
      /^250 /,
    );
    expect(await told(id)).toEqual([]);
    expect(await suppressed()).not.toContain(to);
    expect(await keptFor(subject)).toMatchObject([{ kind: 'arf', why: 'untrusted' }]);
    // The next email to them goes out.
    expect(await send([to])).toHaveLength(1);
  });

  it('to the return path of another email speaks about that one only', async () => {
    const [victim] = await send([person()]);
    const [own] = await send([person()]);
    expect(await deliver(own!.from, complaint(victim!))).toMatch(/^250 /);
    expect(await told(victim!.id)).toEqual([]);
    expect(await told(own!.id)).toEqual([['complained', own!.to]]);
    expect(await suppressed()).not.toContain(victim!.to);
  });
});

it('who may read the source of an email cannot complain for its recipient', async () => {
  const { key } = await createKey(database.database, systemClock, {
    ...{ accountId: account.id, scopes: ['messages:read'] },
  });
  const [copy] = await send([person()]);
  const { id, to, raw } = copy!;
  const { body } = await service.get(key, `/v1/messages/${id}/source`);
  const source = Buffer.from(body.content_base64, 'base64');
  expect(source.toString()).toContain(`X-SM-Message-Id: ${id}`);
  const complain = (original: Buffer) =>
    deliver(
      COMPLAINTS,
      composeComplaint({
        ...{ reportingHost: 'fbl.example', to: COMPLAINTS, returnPath: 'hello@example.com' },
        ...{ complainer: to, original, date: new Date() },
      }),
    );
  expect(await complain(source)).toMatch(/^250 /);
  expect(await told(id)).toEqual([]);
  expect(await suppressed()).not.toContain(to);
  expect(await complain(raw)).toMatch(/^250 /);
  expect(await suppressed()).toContain(to);
});

describe('one of several recipients', () => {
  it('cannot bounce another, by return path or by token', async () => {
    const [eve, ada] = await send([person(), person()]);
    await deliver(eve!.from, failed(eve!, ada!.to));
    const stolen = composeComplaint({
      reportingHost: 'fbl.example',
      to: COMPLAINTS,
      returnPath: eve!.from,
      complainer: ada!.to,
      original: eve!.raw,
      date: new Date(),
    });
    await deliver(COMPLAINTS, stolen);
    expect(await told(eve!.id)).toEqual([
      ['bounced', eve!.to],
      ['complained', eve!.to],
    ]);
    expect(await suppressed()).not.toContain(ada!.to);
  });

  it('has a return path, a token and links of their own', async () => {
    const copies = await send([person(), person(), person()]);
    const tokens = copies.map(({ raw }) => /^X-SM-Token: (\w+)/m.exec(raw.toString())?.[1]);
    expect(new Set(copies.map(({ from }) => from)).size).toBe(3);
    expect(new Set(tokens).size).toBe(3);
    for (const { from } of copies) expect(from.split('@')[0]!.length).toBeLessThanOrEqual(64);
    // One email for its readers: the same Message-ID, the same To.
    const same = (name: string) =>
      new Set(copies.map(({ raw }) => new RegExp(`^${name}: .*`, 'm').exec(raw.toString())?.[0]));
    expect(same('Message-ID').size).toBe(1);
    expect(same('To').size).toBe(1);
  });

  it('whose two mailboxes are one is told of twice', async () => {
    const [one, two] = await send([person(), person()]);
    for (const copy of [one!, two!])
      await deliver(copy.from, failed(copy, 'shared@elsewhere.example'));
    expect(await told(one!.id)).toEqual([
      ['bounced', one!.to],
      ['bounced', two!.to],
    ]);
  });
});

describe('a token of the first version, for the whole email', () => {
  /** As it was made: account, message, ten bytes of HMAC; base32. */
  async function oldPath(id: string): Promise<string> {
    const key = (await openSecret(database.database, undefined)).tokenKeys('return-path')[0];
    const bytes = Buffer.alloc(22);
    bytes.writeUIntBE(account.id, 0, 6);
    readId('msg_', id)!.copy(bytes, 6);
    const mac = createHmac('sha256', key).update(bytes).digest().subarray(0, 10);
    const bits = [...Buffer.concat([bytes, mac])]
      .map((byte) => byte.toString(2).padStart(8, '0'))
      .join('');
    const token = bits
      .match(/.{1,5}/g)!
      .map((five) => 'abcdefghijklmnopqrstuvwxyz234567'[Number.parseInt(five.padEnd(5, '0'), 2)])
      .join('');
    return `bounce+${token}@${BOUNCES}`;
  }

  it('is understood while the email may still be under way', async () => {
    const [, ada] = await send([person(), person()]);
    expect(await deliver(await oldPath(ada!.id), failed(ada!, ada!.to))).toMatch(/^250 /);
    expect(await told(ada!.id)).toEqual([['bounced', ada!.to]]);
  });

  it('later speaks only for the one who got the email alone', async () => {
    const week = 8 * 86_400_000;
    const later = await startTestService(
      { RELAY_URL: sink.url, BOUNCE_DOMAIN: BOUNCES, ROLES: 'feedback' },
      { on: database, clock: { nowMs: () => Date.now() + week } },
    );
    const [one, two] = await send([person(), person()]);
    const [alone] = await send([person()]);
    await deliver(await oldPath(one!.id), failed(two!, two!.to), later);
    await deliver(await oldPath(alone!.id), failed(alone!, alone!.to), later);
    await later.stop();
    expect(await told(one!.id)).toEqual([]);
    expect(await told(alone!.id)).toEqual([['bounced', alone!.to]]);
  });
});

describe('a reporter the operator trusts', () => {
  interface Signing {
    domain?: string;
    selector?: string;
    from?: string;
    bend?: (text: string) => string;
  }
  const signed = async (raw: string, signing: Signing = {}): Promise<Buffer> => {
    const { domain = 'fbl.example', selector = 's1', bend = (text) => text } = signing;
    const { from = domain } = signing;
    const transport = createTransport({
      streamTransport: true,
      buffer: true,
      newline: 'windows',
      dkim: { domainName: domain, keySelector: selector, privateKey: rsa.privateKey },
    });
    const named = raw.replace(/^From: .*/m, `From: Feedback Loop <feedback@${from}>`);
    const { message } = await transport.sendMail({
      envelope: { from: '', to: COMPLAINTS },
      raw: named,
    });
    return Buffer.from(bend((message as Buffer).toString('latin1')), 'latin1');
  };

  it('by network is believed by recipient, message id and time', async () => {
    for (const withId of [true, false]) {
      const [copy] = await send([person()]);
      const { id, to } = copy!;
      await deliver(COMPLAINTS, complaint(withId ? { id, to } : { to }), neighbourly);
      expect(await told(id)).toEqual([['complained', to]]);
    }
  });

  it('that names nobody of ours is kept', async () => {
    const subject = 'nobody of ours';
    await deliver(
      COMPLAINTS,
      complaint({ to: 'stranger@elsewhere.example' }, subject),
      neighbourly,
    );
    expect(await keptFor(subject)).toMatchObject([{ why: 'unmatched' }]);
  });

  it('whom two accounts wrote to is nobody’s', async () => {
    const other = await service.account();
    const to = person();
    const [one] = await send([to]);
    const [two] = await send([to], other);
    await deliver(COMPLAINTS, complaint({ to }), neighbourly);
    expect(await told(one!.id)).toEqual([]);
    expect((await story(two!.id, other)).status).toBe('sent');
  });

  it('by DKIM is believed', async () => {
    const [copy] = await send([person()]);
    const raw = await signed(complaint(copy!));
    expect(await deliver(COMPLAINTS, raw, believing)).toMatch(/^250 /);
    expect(await told(copy!.id)).toEqual([['complained', copy!.to]]);
  });

  it.each<[string, Signing]>([
    ['signed by another domain', { domain: 'evil.example' }],
    [
      'signed by another domain, in the name of the trusted',
      { domain: 'evil.example', from: 'fbl.example' },
    ],
    ['signed by the trusted, in the name of another', { from: 'evil.example' }],
    ['whose key does not exist', { selector: 'gone' }],
    ['changed after it was signed', { bend: (text) => text.replace('Version: 1', 'Version: 2') }],
    ['with another sender on top', { bend: (text) => `From: x@fbl.example\r\n${text}` }],
    [
      'with another structure on top',
      { bend: (text) => `Content-Type: multipart/report; boundary=x\r\n${text}` },
    ],
    ['not signed', { bend: (text) => text.replace(/^DKIM-Signature:.*\r\n(?:[ \t].*\r\n)*/m, '') }],
    ['signed in part', { bend: (text) => text.replace(/(DKIM-Signature: v=1;)/, '$1 l=10;') }],
  ])('is not who is %s', async (why, options) => {
    const [copy] = await send([person()]);
    const subject = `not trusted: ${why}`;
    const raw = await signed(complaint(copy!, subject), options);
    expect(await deliver(COMPLAINTS, raw, believing)).toMatch(/^250 /);
    expect(await told(copy!.id)).toEqual([]);
    expect((await keptFor(subject)).map((it) => it.why)).toEqual([
      expect.stringMatching(/^(untrusted|no-news)$/),
    ]);
  });

  it('by DKIM is not believed about bounces, which servers sign whoever makes them send one', async () => {
    const [copy] = await send([person()]);
    const { id, to } = copy!;
    const original = Buffer.from(
      `From: hello@example.com\r\nTo: ${to}\r\nX-SM-Message-Id: ${id}\r\n\r\n`,
    );
    const subject = `a bounce of ${id}`;
    const bounce = failed({ ...copy!, raw: original }, to).toString();
    const raw = await signed(bounce.replace(/^Subject: .*/m, `Subject: ${subject}`));
    expect(await deliver(COMPLAINTS, raw, believing)).toMatch(/^250 /);
    expect(await told(id)).toEqual([]);
    expect(await keptFor(subject)).toMatchObject([{ why: 'untrusted' }]);
    // The relay in the house still may.
    await deliver(COMPLAINTS, raw, neighbourly);
    expect(await told(id)).toEqual([['bounced', to]]);
  });

  it('is asked to try again while DNS is away', async () => {
    const [copy] = await send([person()]);
    const raw = await signed(complaint(copy!));
    dns.silent = true;
    expect(await deliver(COMPLAINTS, raw, believing)).toMatch(/^451 /);
    dns.silent = false;
    expect(await deliver(COMPLAINTS, raw, believing)).toMatch(/^250 /);
    expect(await told(copy!.id)).toEqual([['complained', copy!.to]]);
  });
});

it('a recipient who makes up reports about their own copy is heard two thousand times', async () => {
  const [copy] = await send([person()]);
  await database.database.query(
    'UPDATE messages SET last_sequence = 2000 WHERE account_id = $1 AND recipients = $2',
    [account.id, [copy!.to]],
  );
  expect(await deliver(copy!.from, failed(copy!, copy!.to))).toMatch(/^250 /);
  expect(await told(copy!.id)).toEqual([]);
});
