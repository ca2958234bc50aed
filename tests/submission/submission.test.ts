// SMTP submission over real sockets: logging in, the rules of every send, what happens to an email.
import { networkInterfaces } from 'node:os';
import { fileURLToPath } from 'node:url';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey, revokeKey } from '../../src/accounts/keys.ts';
import { pauseAccount } from '../../src/accounts/pause.ts';
import { systemClock } from '../../src/process/clock.ts';
import { captured, header, hrefs, pixelOf } from '../support/captured.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { begin, ENVELOPE, hand, idIn, lines, logIn, openSmtp, plain, SIMPLE } from './client.ts';

const fixture = (name: string) =>
  fileURLToPath(new URL(`../smtp/fixtures/${name}`, import.meta.url));

let service: TestService;
let account: TestAccount;
let port: number;
let securePort: number;

beforeAll(async () => {
  service = await startTestService({
    SMTP_PORT: '0',
    SMTPS_PORT: '0',
    SMTP_HOST: '0.0.0.0',
    TLS_CERT: fixture('localhost-cert.pem'),
    TLS_KEY: fixture('localhost-key.pem'),
  });
  account = await service.account();
  port = service.service.smtpPort!;
  securePort = service.service.smtpsPort!;
});
afterAll(() => service.stop());

const contentOf = async (id: string) =>
  (await service.get(await readingKey(), `/v1/messages/${id}/content`)).body;

async function readingKey(): Promise<string> {
  const { key } = await createKey(service.database, systemClock, {
    accountId: account.id,
    scopes: ['messages:read'],
  });
  return key;
}

describe('logging in', () => {
  it('any username with an API key as the password, by PLAIN and by LOGIN', async () => {
    const client = await openSmtp(port);
    expect(await client.reply()).toMatch(/^220 .* ESMTP Sandmartin/);
    const offer = await client.say('EHLO test.example');
    for (const feature of ['PIPELINING', '8BITMIME', 'SMTPUTF8', 'ENHANCEDSTATUSCODES']) {
      expect(offer).toContain(feature);
    }
    // Not promised: they would have to be kept.
    for (const feature of ['DSN', 'CHUNKING']) expect(offer).not.toContain(feature);
    expect(offer).toContain('AUTH LOGIN PLAIN');
    expect(offer).toContain('SIZE 26214400');
    expect(offer).toContain('STARTTLS');
    expect(await client.say(plain(account.key, ''))).toMatch(/^235/);

    const other = await openSmtp(port);
    await other.reply();
    await other.say('EHLO test.example');
    expect(await other.say('AUTH LOGIN')).toBe('334 VXNlcm5hbWU6');
    expect(await other.say(Buffer.from('whoever').toString('base64'))).toMatch(/^334/);
    expect(await other.say(Buffer.from(account.key).toString('base64'))).toMatch(/^235/);
  });

  it('a wrong key, one without the scope and one that does not pay are told why, and slowed', async () => {
    const free = await service.account({ plan: 'free' });
    const reader = await service.account({ scopes: ['email:read'] });
    const client = await openSmtp(port);
    await client.reply();
    await client.say('EHLO test.example');
    const begun = performance.now();
    expect(await client.say(plain('sm_wrong'))).toMatch(/^535 5\.7\.8 /);
    expect(performance.now() - begun).toBeGreaterThan(900);
    expect(await client.say(plain(reader.key))).toMatch(/^535 5\.7\.8 .*email:send/);
    expect(await client.say(plain(free.key))).toMatch(/^421 4\.7\.0 .*Too many tries/);
    await client.closed;
  });

  it('nothing goes without logging in', async () => {
    const client = await openSmtp(port);
    await client.reply();
    await client.say('EHLO test.example');
    expect(await client.say('MAIL FROM:<hello@example.com>')).toMatch(/^530 5\.7\.0 Log in first/);
  });

  const outside = Object.values(networkInterfaces())
    .flat()
    .find((it) => it && !it.internal && it.family === 'IPv4')?.address;
  if (outside === undefined) {
    process.stderr.write('\n*** AUTH OVER THE NETWORK SKIPPED: this machine has no address\n\n');
  }

  it.skipIf(outside === undefined)('over the network a key is taken under TLS only', async () => {
    const client = await openSmtp(port, outside);
    await client.reply();
    const offer = await client.say('EHLO test.example');
    expect(offer).not.toContain('AUTH');
    expect(offer).toContain('STARTTLS');
    expect(await client.say(plain(account.key))).toMatch(/^538 5\.7\.11 .*in the clear/);
    expect(await client.say('MAIL FROM:<hello@example.com>')).toMatch(/^530 5\.7\.0 .*STARTTLS/);
    expect(await client.say('STARTTLS')).toMatch(/^220/);
    await client.startTls();
    expect(await client.say('EHLO test.example')).toContain('AUTH LOGIN PLAIN');
    expect(await client.say(plain(account.key))).toMatch(/^235/);
    expect(await hand(client, SIMPLE)).toMatch(/^250 2\.0\.0 queued as msg_/);
  });

  it('what was sent behind STARTTLS in the clear is not taken for something said under TLS', async () => {
    const client = await openSmtp(port);
    await client.reply();
    await client.say('EHLO test.example');
    client.send(`STARTTLS\r\n${plain(account.key)}\r\nNOOP\r\n`);
    expect(await client.reply()).toMatch(/^220/);
    await client.startTls();
    expect(await client.say('EHLO test.example')).toMatch(/^250-/);
    expect(await client.say('MAIL FROM:<hello@example.com>')).toMatch(/^530/);
  });

  it('a key that is revoked in the middle sends nothing more', async () => {
    const { key, id } = await createKey(service.database, systemClock, {
      accountId: account.id,
      scopes: ['email:send'],
    });
    const client = await logIn(port, key);
    expect(await hand(client, SIMPLE)).toMatch(/^250/);
    await revokeKey(service.database, account.id, id);
    await until(async () => {
      const reply = await client.say('MAIL FROM:<hello@example.com>');
      await client.say('RSET');
      return /^535 5\.7\.8 /.test(reply);
    });
    const replies = await begin(client);
    expect(replies.map((reply) => reply.slice(0, 3))).toEqual(['535', '503', '503']);
  });
});

describe('an email', () => {
  it('is on disk when 250 names its id, and is delivered', async () => {
    const client = await logIn(port, account.key);
    const reply = await hand(client, SIMPLE);
    expect(reply).toMatch(/^250 2\.0\.0 queued as msg_\w{26}$/);
    const { email, recipients } = await captured(service.database, idIn(reply));
    expect(recipients).toEqual(['ada@example.net']);
    expect(email.from?.address).toBe('hello@example.com');
    expect(email.to?.[0]).toMatchObject({ name: 'Ada', address: 'ada@example.net' });
    expect(email.text).toBe('Hello!\n');
    const [row] = await service.database.query('SELECT door FROM messages WHERE account_id = $1', [
      account.id,
    ]);
    expect(row).toEqual({ door: 'smtp' });
  });

  it('several over one connection, pipelined', async () => {
    const client = await logIn(port, account.key);
    for (let round = 0; round < 3; round++) {
      expect(await begin(client)).toEqual([
        expect.stringMatching(/^250 2\.1\.0/),
        expect.stringMatching(/^250 2\.1\.5/),
        expect.stringMatching(/^354/),
      ]);
      client.send(`${SIMPLE}.\r\n`);
      expect(await client.reply()).toMatch(/^250 2\.0\.0 queued/);
    }
    expect(await client.say('QUIT')).toMatch(/^221/);
  });

  it('commands, content and the next email in one packet, as eager clients send them', async () => {
    const client = await logIn(port, account.key);
    const envelope = 'MAIL FROM:<hello@example.com>\r\nRCPT TO:<ada@example.net>\r\n';
    client.send(
      [
        ...[`${envelope}DATA\r\n${SIMPLE}.\r\n`, `${envelope}DATA\r\n${SIMPLE}.\r\n`],
        // In the wrong order: each command is answered in its turn.
        ...['RCPT TO:<ada@example.net>\r\nDATA\r\n', `${envelope}${envelope}`],
        ...['RCPT TO:<ada@>\r\nRCPT TO:<ada@localhost>\r\nDATA\r\n', `..a\r\n${SIMPLE}.\r\n`],
        'QUIT\r\nNOOP\r\n',
      ].join(''),
    );
    const replies: string[] = [];
    while (replies.length < 18) replies.push((await client.reply()).slice(0, 16));
    expect(replies).toEqual([
      ...['250 2.1.0 Accept', '250 2.1.5 Accept', '354 End data wit', '250 2.0.0 queued'],
      ...['250 2.1.0 Accept', '250 2.1.5 Accept', '354 End data wit', '250 2.0.0 queued'],
      ...['503 5.5.1 Error:', '503 5.5.1 Error:'],
      ...['250 2.1.0 Accept', '250 2.1.5 Accept', '503 5.5.1 Error:', '250 2.1.5 Accept'],
      ...['501 5.1.3 Error:', '553 5.1.3 "ada@l', '354 End data wit'],
      // A line that is no header field comes first, so there is no From.
      '554 5.6.0 The em',
    ]);
    expect(await client.reply()).toMatch(/^221/);
    await client.closed;
  });

  it('is the same wherever its packets are cut', async () => {
    const [client, other] = [await logIn(port, account.key), await logIn(port, account.key)];
    const end = `${SIMPLE}.\r\n`;
    for (const cut of [1, end.length - 5, end.length - 3, end.length - 1, end.length]) {
      await client.say('MAIL FROM:<hello@example.com>');
      await client.say('RCPT TO:<ada@example.net>');
      await client.say('DATA');
      client.send(end.slice(0, cut));
      // Another client is answered: the first piece has been read.
      if (cut < end.length) await other.say('NOOP');
      client.send(end.slice(cut));
      const { email } = await captured(service.database, idIn(await client.reply()));
      expect(email.text).toBe('Hello!\n');
    }
  });

  it('what answers one packet leaves in one, and nothing of it behind the start of TLS', async () => {
    const client = await logIn(port, account.key);
    const packets: string[] = [];
    client.socket.on('data', (packet) => packets.push(String(packet)));
    client.send(ENVELOPE);
    await until(() => packets.join('').includes('354'));
    expect(packets).toEqual([expect.stringMatching(/^250 .*\r\n250 .*\r\n354 .*\r\n$/)]);
    for (let n = 0; n < 3; n++) await client.reply();
    expect(await client.say(`${SIMPLE}.`)).toMatch(/^250/);
    client.send('RSET\r\nSTARTTLS\r\n');
    expect(await client.reply()).toMatch(/^250/);
    expect(await client.reply()).toMatch(/^220/);
    await client.startTls();
    expect(await client.say('EHLO test.example')).toContain('AUTH');
  });

  it('whom no header names gets a hidden copy; whom only a header names gets nothing', async () => {
    const client = await logIn(port, account.key);
    const email = lines(
      'From: hello@example.com',
      'To: "Lovelace, Ada" <ada@example.net>, absent@example.net',
      'Cc: =?utf-8?Q?J=C3=B6rg?= <joerg@example.net>',
      'Bcc: hidden@example.net',
      'Subject: =?utf-8?B?R3LDvMOfZQ==?=',
      '',
      'Hello',
    );
    const to = ['ada@example.net', 'joerg@example.net', 'hidden@example.net'];
    const id = idIn(await hand(client, email, to));
    const content = await contentOf(id);
    expect(content.to).toEqual(['"Lovelace, Ada" <ada@example.net>', 'absent@example.net']);
    expect(content.cc).toEqual(['"Jörg" <joerg@example.net>']);
    expect(content.bcc).toEqual(['hidden@example.net']);
    expect(content.subject).toBe('Grüße');
    const { raw } = await captured(service.database, id);
    expect(raw.toString()).not.toContain('hidden@example.net');
    const [row] = await service.database.query<{ recipients: string[] }>(
      'SELECT recipients FROM messages ORDER BY id DESC LIMIT 1',
    );
    expect(row?.recipients).toEqual(to);
  });

  it('threads and lists stay, traces and old signatures go', async () => {
    const client = await logIn(port, account.key);
    const email = lines(
      'Return-Path: <old@example.com>',
      'Received: from a by b; Mon, 16 Nov 2026 10:00:00 +0000',
      'DKIM-Signature: v=1; a=rsa-sha256; d=example.com; s=x; h=from; bh=x; b=x',
      'ARC-Seal: i=1; a=rsa-sha256',
      'Authentication-Results: mx.example; spf=pass',
      'Delivered-To: someone@example.net',
      'Sender: other@elsewhere.example',
      'From: hello@example.com',
      'To: undisclosed-recipients:;',
      'Message-ID: <own-id@app.example>',
      'In-Reply-To: <before@app.example>',
      'References: <first@app.example>',
      ' <before@app.example>',
      'List-Id: <news.example.com>',
      'List-Unsubscribe: <https://app.example/unsubscribe>',
      'X-Order: 4711',
      'Subject: Re: Hello',
      'Date: Mon, 16 Nov 2020 10:00:00 +0000',
      '',
      'Hello',
    );
    const id = idIn(await hand(client, email));
    const { email: got, raw } = await captured(service.database, id);
    expect(header(got, 'message-id')).toBe(`<${id}@example.com>`);
    expect(header(got, 'references')).toBe(
      '<first@app.example> <before@app.example> <own-id@app.example>',
    );
    expect(header(got, 'in-reply-to')).toBe('<before@app.example>');
    expect(header(got, 'list-id')).toBe('<news.example.com>');
    expect(header(got, 'list-unsubscribe')).toBe('<https://app.example/unsubscribe>');
    expect(header(got, 'x-order')).toBe('4711');
    expect(header(got, 'to')).toBe('undisclosed-recipients:;');
    const head = raw.toString().split('\r\n\r\n')[0]!;
    for (const gone of ['Received', 'ARC-', 'Authentication-', 'Delivered-To', 'Sender', 'b=x']) {
      expect(head).not.toMatch(new RegExp(`^${gone}|${gone}$`, 'm'));
    }
    expect(head).not.toContain(' 2020 ');
  });

  it('the tree stays byte for byte, but for links and the pixel', async () => {
    const quiet = await service.account();
    await service.database.query(
      'UPDATE accounts SET track_opens = false, track_clicks = false WHERE id = $1',
      [quiet.id],
    );
    const body = lines(
      'This is a preamble.',
      '--a',
      'Content-Type: multipart/alternative; boundary="b b"',
      'X-Odd: kept',
      '',
      '--b b',
      'Content-Type: text/plain; charset=iso-8859-1; format=flowed',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'Gr=FC=DFe=20',
      '.a line that begins with a dot',
      '--b b',
      'Content-Type: text/x-amp-html',
      '',
      '<html ⚡4email></html>'.replace('⚡', 'amp'),
      '--b b',
      'Content-Type: multipart/related; boundary=c; type="text/html"',
      '',
      '--c',
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from('<p><a href="https://app.example/">Grüße</a><img src="cid:x"></p>').toString(
        'base64',
      ),
      '--c',
      'Content-Type: image/png; name="=?utf-8?Q?l=C3=B6go.png?="',
      'Content-ID: <x>',
      'Content-Disposition: inline',
      'Content-Transfer-Encoding: base64',
      '',
      'iVBORw0K',
      '--c--',
      '--b b--',
      '--a',
      'Content-Type: application/pdf',
      "Content-Disposition: attachment; filename*0*=utf-8''Rech%6Eung%20; filename*1=4711.pdf",
      'Content-Transfer-Encoding: base64',
      '',
      'JVBERi0x',
      'LjcK',
      '--a--',
      'An epilogue.',
    );
    const head = [
      'From: hello@example.com',
      'To: ada@example.net',
      'Subject: Tree',
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed;',
      '  boundary="a"',
    ];
    const email = `${head.join('\r\n')}\r\n\r\n${body.replaceAll('\r\n.', '\r\n..')}`;
    const asItIs = idIn(await hand(await logIn(port, quiet.key), email));
    const { raw } = await captured(service.database, asItIs);
    const at = raw.indexOf('\r\n\r\n');
    expect(raw.subarray(at + 4).toString('latin1')).toBe(Buffer.from(body).toString('latin1'));
    expect(raw.toString()).toContain('Content-Type: multipart/mixed;\r\n  boundary="a"\r\n');

    const id = idIn(await hand(await logIn(port, account.key), email));
    const { email: got } = await captured(service.database, id);
    expect(hrefs(got.html)[0]).toContain('/c/');
    expect(pixelOf(got.html)).toBeDefined();
    expect(got.html).toContain('Grüße');
    expect(got.text).toContain('Grüße');
    expect(got.attachments.map(({ filename }) => filename)).toEqual([
      null, // The AMP form, which postal-mime takes for a file.
      'lögo.png',
      'Rechnung 4711.pdf',
    ]);

    const content = await contentOf(id);
    expect(content.html).toContain('<a href="https://app.example/">Grüße</a>');
    expect(content.text).toContain('Grüße \r\n.a line');
    expect(content.attachments).toMatchObject([
      { filename: 'part.bin', content_type: 'text/x-amp-html' },
      { filename: 'lögo.png', content_type: 'image/png', size: 6 },
      { filename: 'Rechnung 4711.pdf', content_type: 'application/pdf', size: 9 },
    ]);
    const { body: file } = await service.get(
      await readingKey(),
      `/v1/messages/${id}/attachments/2`,
    );
    expect(Buffer.from(file.content_base64, 'base64').toString()).toBe('%PDF-1.7\n');
  });

  it('is sent again as it came, from the dashboard’s own operation', async () => {
    const id = idIn(await hand(await logIn(port, account.key), SIMPLE, ['hidden@example.net']));
    const { key } = await createKey(service.database, systemClock, {
      accountId: account.id,
      scopes: ['email:send', 'messages:read'],
    });
    const answer = await fetch(`${service.url}/v1/messages/${id}/send-again`, {
      method: 'POST',
      headers: { 'x-api-key': key },
    });
    expect(answer.status).toBe(202);
    const { email, recipients } = await captured(
      service.database,
      ((await answer.json()) as { id: string }).id,
    );
    expect(recipients).toEqual(['hidden@example.net']);
    expect(email.to?.[0]?.address).toBe('ada@example.net');
    expect(email.text).toBe('Hello!\n');
  });

  it('what a relay might spoil is encoded: bytes over 127 and long lines', async () => {
    const client = await logIn(port, account.key);
    const email = Buffer.from(
      lines(
        'From: hello@example.com',
        'To: ada@example.net',
        'Subject: Grüße',
        'Content-Type: text/plain; charset=utf-8',
        'Content-Transfer-Encoding: 8bit',
        '',
        `Grüße ${'lang '.repeat(300)}`,
      ),
    );
    const { email: got, raw } = await captured(service.database, idIn(await hand(client, email)));
    expect(got.subject).toBe('Grüße');
    expect(got.text?.trimEnd()).toBe(`Grüße ${'lang '.repeat(300)}`.trimEnd());
    expect(raw.every((byte) => byte < 128)).toBe(true);
    expect(
      Math.max(
        ...raw
          .toString()
          .split('\r\n')
          .map((line) => line.length),
      ),
    ).toBeLessThan(999);
  });

  it('addresses beyond ASCII, with SMTPUTF8', async () => {
    const client = await logIn(port, account.key);
    expect(await client.say('MAIL FROM:<hello@example.com> SMTPUTF8 BODY=8BITMIME')).toMatch(
      /^250/,
    );
    expect(await client.say('RCPT TO:<jürgen@bücher.example>')).toMatch(/^250/);
    await client.say('DATA');
    const reply = await client.say(
      Buffer.from(
        `${lines('From: hello@example.com', 'To: Jürgen <jürgen@bücher.example>', '', 'Hi')}.\r\n`,
      ),
    );
    const content = await contentOf(idIn(reply));
    expect(content.to).toEqual(['"Jürgen" <jürgen@xn--bcher-kva.example>']);
    expect(content.bcc).toEqual([]);
  });
});

describe('what the header asks of us', () => {
  const asking = (...fields: string[]) =>
    lines('From: hello@example.com', 'To: ada@example.net', ...fields, '', 'Body');

  it('a repeat under the same key answers as the first did, whatever its boundary', async () => {
    const client = await logIn(port, account.key);
    const attempt = (n: number, text = 'Hello') =>
      asking(
        `Message-ID: <${n}@app.example>`,
        `Date: Mon, 16 Nov 2026 10:00:0${n} +0000`,
        'X-SM-Idempotency-Key: order-4711',
        `Content-Type: multipart/mixed; boundary=b${n}`,
      ).replace('Body\r\n', `--b${n}\r\n\r\n${text}\r\n--b${n}--\r\n`);
    const first = await hand(client, attempt(1));
    const again = await hand(client, attempt(2));
    expect(again).toMatch(/^250 2\.0\.0 was queued before as msg_/);
    expect(idIn(again)).toBe(idIn(first));
    expect(await hand(client, attempt(3, 'Other'))).toMatch(/^554 5\.6\.0 .*Idempotency-Key/);
  });

  it('tags, and a template with variables in the place of the body', async () => {
    const client = await logIn(port, account.key);
    const id = idIn(
      await hand(
        client,
        asking(
          'X-SM-Tags: receipt, =?utf-8?Q?gr=C3=BCn?=',
          'X-SM-Template: welcome',
          `X-SM-Variables: {"name": "Ada",`,
          ' "action_url": "https://app.example/"}',
          'Content-Type: application/pdf',
          'Content-Disposition: attachment; filename=a.pdf',
        ),
      ),
    );
    const { email } = await captured(service.database, id);
    expect(email.html).toContain('Ada');
    expect(email.text).not.toContain('Body');
    expect(email.attachments.map(({ filename }) => filename)).toEqual(['a.pdf']);
    expect(email.headers.map(({ key }) => key)).not.toContain('x-sm-template');
    const [row] = await service.database.query<{ tags: string[]; template: string }>(
      'SELECT tags, template FROM messages ORDER BY id DESC LIMIT 1',
    );
    expect(row).toEqual({ tags: ['receipt', 'grün'], template: 'welcome' });
  });

  it('the stream: an email of a broadcast stream can be left, by one click', async () => {
    const { key } = await createKey(service.database, systemClock, {
      accountId: account.id,
      scopes: ['streams:write'],
    });
    const made = await fetch(`${service.url}/v1/streams/news`, {
      method: 'PUT',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'broadcast', title: 'News' }),
    });
    expect(made.status).toBe(200);
    const id = await until(async () => {
      const reply = await hand(await logIn(port, account.key), asking('X-SM-Stream: news'));
      return reply.startsWith('250') && idIn(reply);
    });
    const { email } = await captured(service.database, id);
    expect(header(email, 'list-unsubscribe')).toContain('/u/');
    expect(header(email, 'list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    expect(email.headers.map(({ key: name }) => name)).not.toContain('x-sm-stream');
    const { body } = await service.get(await readingKey(), `/v1/messages/${id}/details`);
    expect(body.stream).toBe('news');
  });

  it.each([
    ['X-SM-Stream: nowhere', /^554 5\.6\.0 .*nowhere/],
    ['X-SM-Tag: one', /^554 5\.6\.0 .*Did you mean X-SM-Tags/],
    ['X-SM-Variables: {"name": ', /^554 5\.6\.0 X-SM-Variables/],
    ['X-SM-Template: nowhere', /^554 5\.6\.0 .*nowhere/],
    ['X-SM-Locale: deutsch!\r\nX-SM-Template: welcome', /^554 5\.6\.0 locale/],
    ['X-SM-Variables: {"name": "Ada"}', /^554 5\.6\.0 .*template/],
    ['X-SM-Message-Id: msg_1', /^554 5\.6\.0 .*before, as msg_1/],
    ['X-SMTPAPI: {}', /^554 5\.6\.0 .*ALLOWED_HEADERS/],
  ])('%s is refused', async (field, reply) => {
    expect(await hand(await logIn(port, account.key), asking(field))).toMatch(reply);
  });
});

describe('the rules of every send', () => {
  it.each([
    [
      'a sender who is not verified',
      { from: 'hello@elsewhere.example' },
      /^550 5\.7\.1 .*elsewhere/,
    ],
    ['no sender', { from: '' }, /^554 5\.6\.0 From: "" is not one address/],
    ['two senders', { from: 'a@example.com, b@example.com' }, /^554 5\.6\.0 .*not one address/],
  ])('%s', async (_, { from }, reply) => {
    const email = SIMPLE.replace('Acme <hello@example.com>', from);
    expect(await hand(await logIn(port, account.key), email)).toMatch(reply);
  });

  it('quota and rate are temporary: programs try again', async () => {
    const few = await service.account({ dailyQuota: 1 });
    const client = await logIn(port, few.key);
    expect(await hand(client, SIMPLE)).toMatch(/^250/);
    expect(await hand(client, SIMPLE)).toMatch(/^451 4\.7\.28 .*daily quota of 1 /);
  });

  it('a paused account', async () => {
    const paused = await service.account();
    const client = await logIn(port, paused.key);
    await pauseAccount(service.database, paused.id, 'Too many complaints.');
    await until(async () => /^550 5\.7\.1 .*paused/i.test(await hand(client, SIMPLE)));
  });

  it('rules of the key: recipients, templates only, no hidden copies', async () => {
    const { key } = await createKey(service.database, systemClock, {
      accountId: account.id,
      scopes: ['email:send'],
      limits: {
        ...{ sandboxOnly: false, templatesOnly: false, dailyCap: null },
        noBcc: true,
        allowedRecipients: ['example.net'],
      },
    });
    const client = await logIn(port, key);
    expect(await hand(client, SIMPLE)).toMatch(/^250/);
    expect(await hand(client, SIMPLE, ['b@example.net'])).toMatch(/^550 5\.7\.1 .*no_bcc/);
    expect(await hand(client, SIMPLE, ['b@example.org'])).toMatch(
      /^550 5\.7\.1 .*allowed_recipients/,
    );
  });

  it('an address that is none, and more than 50', async () => {
    const client = await logIn(port, account.key);
    await client.say('MAIL FROM:<hello@example.com>');
    expect(await client.say('RCPT TO:<ada@localhost>')).toMatch(/^553 5\.1\.3 "ada@localhost"/);
    for (let n = 0; n < 50; n++) await client.say(`RCPT TO:<a${n}@example.net>`);
    expect(await client.say('RCPT TO:<a50@example.net>')).toMatch(/^452 4\.5\.3/);
    await client.say('DATA');
    expect(await client.say(`${SIMPLE}.`)).toMatch(/^250/);
  });
});

it('nodemailer, by STARTTLS and by TLS', async () => {
  for (const [at, secure] of [
    [port, false],
    [securePort, true],
  ] as const) {
    const transport = createTransport({
      ...{ host: 'localhost', port: at, secure, requireTLS: true },
      auth: { user: 'apikey', pass: account.key },
      tls: { rejectUnauthorized: false },
    });
    const { response } = await transport.sendMail({
      from: 'Acme <hello@example.com>',
      to: ['Ada <ada@example.net>', 'bob@example.net'],
      bcc: 'hidden@example.net',
      subject: 'Grüße 🎉',
      text: 'Grüße',
      html: '<p>Grüße <img src="cid:logo"></p>',
      attachments: [
        { filename: 'lögo.png', content: Buffer.from('png'), cid: 'logo' },
        { filename: 'Rechnung – 1.pdf', content: Buffer.alloc(300_000, 'x') },
      ],
    });
    transport.close();
    const { email } = await captured(service.database, idIn(response));
    expect(email.subject).toBe('Grüße 🎉');
    expect(email.attachments.map((it) => [it.filename, it.disposition])).toEqual([
      ['lögo.png', 'inline'],
      ['Rechnung – 1.pdf', 'attachment'],
    ]);
    const content = await contentOf(idIn(response));
    expect(content.bcc).toEqual(['hidden@example.net']);
    expect(content.text.trim()).toBe('Grüße');
  }
});
