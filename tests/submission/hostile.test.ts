// Clients that are slow, huge, broken or malicious: each is refused with a sentence, and nobody
// else notices.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BODY_LIMITS } from '../../src/http/body.ts';
import { captured } from '../support/captured.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { begin, hand, idIn, lines, logIn, openSmtp, SIMPLE } from './client.ts';

const LARGEST = 26_214_400;

let service: TestService;
let account: TestAccount;
let port: number;

beforeAll(async () => {
  service = await startTestService(
    { SMTP_PORT: '0' },
    {
      smtpLimits: { mostOfNetwork: 30, strangerMs: 3000, wrongKeyMs: 10 },
      bodyLimits: { ...BODY_LIMITS, graceMs: 1500 },
    },
  );
  account = await service.account();
  port = service.service.smtpPort!;
});
afterAll(() => service.stop());

const accepted = async (): Promise<number> => {
  const [row] = await service.database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM messages WHERE account_id = $1',
    [account.id],
  );
  return row!.count;
};

const HEAD = lines('From: hello@example.com', 'To: ada@example.net', 'Subject: Hello', '');

describe('one email inside another', () => {
  const smuggled = `MAIL FROM:<hello@example.com>\r\nRCPT TO:<b@example.net>\r\nDATA\r\n${SIMPLE}.\r\n`;
  it.each([
    ['LF . LF', `a\n.\n${smuggled}`, /bare LF at byte/],
    ['LF . CRLF', `a\n.\r\n${smuggled}`, /bare LF at byte/],
    ['CR . CR', `a\r.\r${smuggled}`, /bare CR at byte/],
    ['CRLF . CR', `a\r\n.\r${smuggled}`, /bare CR at byte/],
    ['CRLF . LF', `a\r\n.\n${smuggled}`, /bare LF at byte/],
    ['LF . CR LF', `a\n.\r\r\n${smuggled}`, /bare (?:LF|CR) at byte/],
    ['NUL', 'a\0b\r\n', /a NUL at byte/],
  ])('%s ends nothing: all of it is one email, and refused', async (_, body, reply) => {
    const before = await accepted();
    const client = await logIn(port, account.key);
    await begin(client);
    client.send(`${HEAD + body}\r\n.\r\n`);
    const answer = await client.reply();
    expect(answer).toMatch(/^554[ -]5\.6\.0 /);
    expect(answer).toMatch(reply);
    // What stood behind the end of `smuggled` is no command in order; the connection goes on.
    await client.say('RSET');
    expect(await accepted()).toBe(before);
  });

  it('lines of dots come out as they went in, however the packets are cut', async () => {
    const client = await logIn(port, account.key);
    await client.say('MAIL FROM:<hello@example.com>');
    await client.say('RCPT TO:<ada@example.net>');
    await client.say('DATA');
    client.send(HEAD);
    for (const piece of [
      '\r\n',
      '..',
      '\r',
      '\n',
      '...\r\n.',
      '.a\r\n',
      'b.\r\n',
      '.',
      '\r',
      '\n',
    ]) {
      client.send(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { raw } = await captured(service.database, idIn(await client.reply()));
    expect(raw.toString().split('\r\n\r\n').slice(1).join('\r\n\r\n')).toBe(
      '\r\n.\r\n..\r\n.a\r\nb.\r\n',
    );
  });
});

describe('too much', () => {
  it('an announced size over 25 MB is refused before a byte of it comes', async () => {
    const client = await logIn(port, account.key);
    expect(await client.say(`MAIL FROM:<hello@example.com> SIZE=${LARGEST + 1}`)).toMatch(
      /^552 5\.3\.4 /,
    );
    expect(await client.say(`MAIL FROM:<hello@example.com> SIZE=${LARGEST}`)).toMatch(/^250/);
  });

  it('one that was not announced is read to its end, kept nowhere, and refused', async () => {
    const client = await logIn(port, account.key);
    await client.say('MAIL FROM:<hello@example.com>');
    await client.say('RCPT TO:<ada@example.net>');
    await client.say('DATA');
    client.send(`${HEAD}\r\n`);
    const block = Buffer.from(`${'x'.repeat(76)}\r\n`.repeat(10_000));
    for (let sent = 0; sent < LARGEST + 2 * block.length; sent += block.length) client.send(block);
    expect(await client.say('.')).toMatch(/^552 5\.3\.4 The email is larger than 25 MB/);
    expect(await hand(client, SIMPLE)).toMatch(/^250/);
  });

  it('a header without an end', async () => {
    const client = await logIn(port, account.key);
    const email = `${HEAD.slice(0, -2)}${lines(...Array<string>(2000).fill(`X-A: ${'a'.repeat(60)}`))}`;
    expect(await hand(client, `${email}\r\n`)).toMatch(/^554 5\.6\.0 .*larger than 64 KB/);
    const many = `${HEAD.slice(0, -2)}${lines(...Array<string>(60).fill('X-A: a'))}\r\n`;
    expect(await hand(client, many)).toMatch(/^554 5\.6\.0 .*60 headers are too many/);
  });

  it('a command line without an end', async () => {
    const client = await logIn(port, account.key);
    client.send(`NOOP ${'x'.repeat(20_000)}`);
    expect(await client.reply()).toMatch(/^421 /);
    await client.closed;
  });

  it('more connections of a network than its share; when one goes there is room again', async () => {
    const crowd = await Promise.all(Array.from({ length: 30 }, () => openSmtp(port)));
    const late = await openSmtp(port);
    expect(await late.reply()).toMatch(/^421 4\.7\.0 Too many connections/);
    for (const { socket } of crowd) socket.destroy();
    await until(async () => {
      const client = await openSmtp(port);
      const reply = await client.reply();
      client.socket.destroy();
      return reply.startsWith('220');
    });
  });
});

describe('too slow', () => {
  it('who does not log in has to go; who did may stay', async () => {
    const member = await logIn(port, account.key);
    const stranger = await openSmtp(port);
    await stranger.reply();
    expect(await stranger.reply()).toMatch(/^421 4\.4\.2 Log in sooner/);
    await stranger.closed;
    expect(await member.say('NOOP')).toMatch(/^250/);
  });

  it('an email that hardly moves', async () => {
    const client = await logIn(port, account.key);
    await begin(client);
    const drip = setInterval(() => client.send('a'), 100);
    client.send(`${HEAD}\r\n`);
    await until(async () => (await metric('too-slow')) > 0);
    clearInterval(drip);
    expect(await client.say('\r\n.')).toMatch(/^451 4\.4\.2 .*in time/);
  });

  it('who goes in the middle of an email leaves nothing behind', async () => {
    const before = await accepted();
    const client = await logIn(port, account.key);
    await begin(client);
    client.send(SIMPLE);
    client.socket.destroy();
    expect(await hand(await logIn(port, account.key), SIMPLE)).toMatch(/^250/);
    expect(await accepted()).toBe(before + 1);
  });
});

const metric = async (code: string): Promise<number> => {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const found = new RegExp(
    `^sandmartin_requests_refused_total\\{code="${code}",door="smtp"\\} (\\d+)`,
    'm',
  );
  return Number(found.exec(text)?.[1] ?? 0);
};

it.each([
  ['two From headers', HEAD.replace('To:', 'From: b@example.com\r\nTo:'), /2 From headers/],
  ['none', HEAD.replace(/From: .*\r\n/, ''), /no From header/],
  [
    'two Content-Types',
    `Content-Type: text/plain\r\nContent-Type: text/html\r\n${HEAD}`,
    /two Content-Type/,
  ],
  ['no header at all', 'Hello!\r\n', /no From header/],
  ['nothing', '', /no From header/],
])('%s is refused in a sentence', async (_, head, reply) => {
  const answer = await hand(await logIn(port, account.key), `${head}\r\nBody\r\n`);
  expect(answer).toMatch(/^554 5\.6\.0 /);
  expect(answer).toMatch(reply);
});
