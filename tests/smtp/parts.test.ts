// The parts of the SMTP client that need no socket: replies, dots, commands, addresses of relays,
// names of queued emails.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dataPieces } from '../../src/smtp/data.ts';
import { mailCommand, rcptCommand } from '../../src/smtp/envelope.ts';
import { parseRelayUrl } from '../../src/smtp/relay-url.ts';
import { createReplyReader, type SmtpReply } from '../../src/smtp/reply.ts';
import { queueId } from '../../src/smtp/transaction.ts';

/** Cuts `bytes` at the given places. */
function cut(bytes: Buffer, places: number[]): Buffer[] {
  const at = [
    ...new Set([0, ...places.map((place) => place % (bytes.length + 1)), bytes.length]),
  ].sort((a, b) => a - b);
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

describe('replies', () => {
  const read = (...chunks: (string | Buffer)[]): SmtpReply[] => {
    const reader = createReplyReader();
    const replies: SmtpReply[] = [];
    for (const chunk of chunks) reader.feed(Buffer.from(chunk), (reply) => replies.push(reply));
    return replies;
  };

  it('reads one line, many lines, lines without text and lines that end with LF only', () => {
    expect(read('250 2.1.5 Ok\r\n250-a\r\n250-b\r\n250 c\r\n354\r\n221 bye\n')).toEqual([
      { code: 250, enhanced: '2.1.5', text: '250 2.1.5 Ok', lines: ['2.1.5 Ok'] },
      { code: 250, enhanced: '', text: '250 a b c', lines: ['a', 'b', 'c'] },
      { code: 354, enhanced: '', text: '354', lines: [''] },
      { code: 221, enhanced: '', text: '221 bye', lines: ['bye'] },
    ]);
  });

  it('says the same however the bytes are cut', () => {
    const bytes = Buffer.from(
      '220 hi\r\n250-mail.example\r\n250-SIZE 100\r\n250 DSN\r\n550 5.1.1 Grüße unbekannt\r\n',
    );
    const whole = read(bytes);
    fc.assert(
      fc.property(fc.array(fc.nat(200)), (places) => {
        expect(read(...cut(bytes, places))).toEqual(whole);
      }),
    );
    expect(whole[2]!.text).toBe('550 5.1.1 Grüße unbekannt');
  });

  it('makes control characters harmless and the text short', () => {
    expect(read('550 a\x00b\x1b[2Jc\r\n')[0]!.text).toBe('550 a b [2Jc');
    expect(read(`550 ${'x'.repeat(3000)}\r\n`)[0]!.text).toHaveLength(1000);
  });

  it.each([
    ['HTTP/1.1 400 Bad Request\r\n', 'not an SMTP reply'],
    ['25 short\r\n', 'not an SMTP reply'],
    ['250_x\r\n', 'not an SMTP reply'],
    ['\r\n', 'not an SMTP reply'],
    ['999 x\r\n', 'not an SMTP reply'],
    ['250-a\r\n251 b\r\n', 'changed the code'],
    ['2'.repeat(5000), 'a line of over 4096'],
    [`250 ${'x'.repeat(5000)}\r\n`, 'a line of over 4096'],
    ['250-x\r\n'.repeat(257), 'over 256 lines'],
  ])('refuses %j', (text, words) => {
    expect(() => read(text)).toThrow(words);
  });
});

describe('dots', () => {
  const unstuff = (text: string) => text.replace(/(^|\r\n)\./g, '$1');

  it('come back the same, wherever the email is cut', () => {
    const email = fc.string({ unit: fc.constantFrom('.', '\r\n', 'a', '.b'), maxLength: 60 });
    fc.assert(
      fc.property(email, fc.array(fc.nat(80)), (text, places) => {
        const sent = Buffer.concat([...dataPieces(cut(Buffer.from(text), places))]).toString();
        expect(sent.endsWith('\r\n.\r\n') || sent === '.\r\n').toBe(true);
        const stuffed = sent.slice(0, -3);
        expect(stuffed).not.toMatch(/(^|\r\n)\.(\r\n|$)/);
        const back = unstuff(stuffed);
        expect(back).toBe(text === '' || text.endsWith('\r\n') ? text : `${text}\r\n`);
      }),
      { numRuns: 2000 },
    );
  });

  it('come back the same at the seams of a big email’s pieces', () => {
    for (const shift of [0, 1, 2, 3]) {
      const text = `${'a'.repeat(shift)}${'.b\r\n'.repeat(60_000)}`;
      const sent = Buffer.concat([...dataPieces([Buffer.from(text)])]).toString();
      expect(unstuff(sent.slice(0, -3))).toBe(text);
      expect(sent.length).toBe(text.length + (shift === 0 ? 60_000 : 59_999) + 3);
    }
  });

  it('do not make a big email be copied where there are none', () => {
    const big = Buffer.from(`${'a\r\n'.repeat(50_000)}.b\r\n`);
    const pieces = [...dataPieces([big])].slice(0, -1);
    expect(pieces.slice(0, -1).every(({ buffer }) => buffer === big.buffer)).toBe(true);
    expect(pieces.every((piece) => piece.length <= 65_537)).toBe(true);
  });
});

describe('commands', () => {
  const all = new Map([
    ['SIZE', '1000'],
    ['DSN', ''],
    ['8BITMIME', ''],
    ['SMTPUTF8', ''],
  ]);
  const envelope = {
    from: 'bounce+x@b.example',
    recipients: [],
    envelopeId: 'msg_1+a=b',
    smtputf8: false,
  };

  it('ask for reports where the relay can make them', () => {
    expect(mailCommand(envelope, 42, false, all)).toBe(
      'MAIL FROM:<bounce+x@b.example> SIZE=42 RET=HDRS ENVID=msg_1+2Ba+3Db\r\n',
    );
    expect(rcptCommand('jane+tag@c.example', all)).toBe(
      'RCPT TO:<jane+tag@c.example> NOTIFY=SUCCESS,FAILURE,DELAY ORCPT=rfc822;jane+2Btag@c.example\r\n',
    );
  });

  it('are bare where it cannot', () => {
    expect(mailCommand(envelope, 42, false, new Map())).toBe('MAIL FROM:<bounce+x@b.example>\r\n');
    expect(rcptCommand('jane@c.example', new Map())).toBe('RCPT TO:<jane@c.example>\r\n');
  });

  it('write an internationalised original recipient in the 7-bit form', () => {
    expect(mailCommand(envelope, 42, true, all)).toContain(' BODY=8BITMIME SMTPUTF8 ');
    expect(rcptCommand('jürgen+x@c.example', all)).toBe(
      'RCPT TO:<jürgen+x@c.example> NOTIFY=SUCCESS,FAILURE,DELAY ORCPT=utf-8;j\\x{FC}rgen\\x{2B}x@c.example\r\n',
    );
  });

  it('refuse an address that would break out of its brackets', () => {
    for (const address of ['a@b.example>', 'a b@c.example', 'a\r\nDATA@b.example']) {
      expect(() => rcptCommand(address, all)).toThrow('forbidden character');
    }
  });
});

describe('parseRelayUrl', () => {
  it.each([
    [
      'smtp://relay.example',
      {
        host: 'relay.example',
        port: 25,
        tls: 'opportunistic',
        verify: false,
        implicitTls: false,
        credentials: undefined,
      },
    ],
    [
      'smtp://u:p%40ss@relay.example',
      {
        port: 587,
        tls: 'required',
        verify: true,
        credentials: { user: 'u', password: 'p@ss' },
        plaintextAuth: false,
      },
    ],
    ['smtps://u:p@relay.example', { port: 465, implicitTls: true, verify: true }],
    ['smtp://u:p@127.0.0.1:2525', { port: 2525, tls: 'opportunistic', plaintextAuth: true }],
    ['smtp://[::1]:2525', { host: '::1', port: 2525 }],
    [
      'smtp://u:p@relay.example?tls=off&insecure',
      { tls: 'off', plaintextAuth: true, verify: false },
    ],
    ['smtp://relay.example?tls=required&insecure', { tls: 'required', verify: false }],
  ])('%s', (url, expected) => {
    expect(parseRelayUrl(url)).toMatchObject(expected);
  });

  it.each([
    'relay.example',
    'http://relay.example',
    'smtp://',
    'smtp://a?tls=maybe',
    'smtp://a?secure=1',
  ])('refuses %s', (url) => {
    expect(() => parseRelayUrl(url)).toThrow(/^the relay/);
  });

  it('never shows the password', () => {
    expect(() => parseRelayUrl('smtp://u:secret@a?tls=maybe')).toThrow(
      expect.not.stringContaining('secret'),
    );
  });
});

describe('queueId', () => {
  it.each([
    ['250 2.0.0 Ok: queued as 4XyZ12abcD', '4XyZ12abcD'],
    ['250 2.0.0 OK: queued as <abc@host.example>', 'abc@host.example'],
    ['250 OK id=1hXabc-0001Ab-Cd', '1hXabc-0001Ab-Cd'],
    ['250 2.0.0 3AFAMKPN012345 Message accepted for delivery', '3AFAMKPN012345'],
    ['250 Ok 0102018f1234abcd-1111-2222-000000', '0102018f1234abcd-1111-2222-000000'],
    ['250 2.0.0 OK  1700000000 a1-20020a1709 - gsmtp', 'a1-20020a1709'],
    ['250 2.6.0 <abc@x.example> [InternalId=123] Queued mail for delivery', 'abc@x.example'],
    ['250 thanks', undefined],
    ['250 Ok', undefined],
  ])('%s', (text, id) => {
    expect(queueId(text)).toBe(id);
  });
});
