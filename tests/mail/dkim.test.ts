// Our signatures as an independent verifier (mailauth) sees them, with the keys from a resolver of
// the test's own.
import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import fc from 'fast-check';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { describe, expect, it } from 'vitest';
import { type Mailbox, parseMailbox } from '../../src/addresses.ts';
import { composeEmail, emailChunks, type OutgoingEmail } from '../../src/mail/compose.ts';
import { type DkimKey, hashBody, signEmail } from '../../src/mail/dkim.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ed25519 = generateKeyPairSync('ed25519');
const keys: DkimKey[] = [
  { domain: 'example.com', selector: 'r1', algorithm: 'rsa-sha256', privateKey: rsa.privateKey },
  {
    domain: 'example.com',
    selector: 'e1',
    algorithm: 'ed25519-sha256',
    privateKey: ed25519.privateKey,
  },
];
const spki = (key: KeyObject) => key.export({ type: 'spki', format: 'der' });
const records: Record<string, string> = {
  'r1._domainkey.example.com': `v=DKIM1; k=rsa; p=${spki(rsa.publicKey).toString('base64')}`,
  // RFC 8463 4: the bare 32 bytes.
  'e1._domainkey.example.com': `v=DKIM1; k=ed25519; p=${spki(ed25519.publicKey).subarray(-32).toString('base64')}`,
};
const resolver = async (name: string, type: string) => {
  const record = type === 'TXT' ? records[name] : undefined;
  if (record === undefined) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' });
  return [[record]];
};
const mailbox = (text: string) => parseMailbox(text) as Mailbox;
const signedAt = new Date('2026-11-15T10:22:33Z');

function email(changes: Partial<OutgoingEmail> = {}): OutgoingEmail {
  return {
    messageId: '<01JABC@mail.example>',
    date: signedAt,
    from: mailbox('Shop <shop@example.com>'),
    to: [mailbox('Jürgen <jane@example.org>'), mailbox('joe@example.org')],
    cc: [],
    subject: 'Ihre Bestellung – danke für Ihr Vertrauen und bis zum nächsten Mal in unserem Laden',
    text: 'Hello  Jane \t\n\n  indented\t\ttext  \n\n\n',
    html: '<p>Grüße</p>\n',
    ownHeaders: [
      ['X-SM-Id', 'msg_1'],
      ['List-Unsubscribe', '<https://example.com/u/1>'],
      ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
    ],
    headers: [['X-Campaign', 'a']],
    attachments: [],
    ...changes,
  };
}
async function signed(changes: Partial<OutgoingEmail> = {}, by = keys): Promise<string> {
  const composed = composeEmail(email(changes));
  return Buffer.concat(emailChunks(composed, await signEmail(composed, by, signedAt))).toString();
}
interface Verdict {
  selector: string | undefined;
  result: string;
}
async function verdicts(message: string): Promise<Verdict[]> {
  const { results } = await dkimVerify(Buffer.from(message), { resolver, curTime: signedAt });
  return results.map((result) => ({
    selector: result.selector,
    result: result.status.result,
  }));
}
const PASS = [
  { selector: 'r1', result: 'pass' },
  { selector: 'e1', result: 'pass' },
];

describe('signatures', () => {
  it('pass with RSA and Ed25519 on one email', async () => {
    expect(await verdicts(await signed())).toEqual(PASS);
  });

  it.each<[string, Partial<OutgoingEmail>]>([
    ['text only', { html: undefined }],
    ['html only', { text: undefined }],
    ['nothing', { text: '', html: undefined }],
    ['empty lines only', { text: '\n\n\n', html: undefined }],
    ['blanks only', { text: '  \n\t\n', html: undefined }],
    [
      'an attachment',
      {
        attachments: [
          {
            filename: 'ü.bin',
            contentType: 'application/x-any',
            content: Buffer.alloc(100_000, 7),
          },
        ],
      },
    ],
    ['SMTPUTF8', { to: [mailbox('jürgen@bücher.example')] }],
    [
      'a repeated header',
      {
        ownHeaders: [
          ['X-SM-Tag', 'a'],
          ['X-SM-Tag', 'b'],
          ['X-SM-Tag', 'c'],
        ],
      },
    ],
    [
      'fifty recipients',
      { to: Array.from({ length: 50 }, (_, i) => mailbox(`Person ${i} <p${i}@example.org>`)) },
    ],
  ])('pass for %s', async (_, changes) => {
    expect(await verdicts(await signed(changes))).toEqual(PASS);
  });

  it('pass for any text, html and subject', async () => {
    const text = fc.string({
      unit: fc.constantFrom('a', ' ', '\t', '\n', '\r\n', 'ü', '=', '.', '😀'),
      maxLength: 80,
    });
    await fc.assert(
      fc.asyncProperty(text, text, text, async (body, html, subject) => {
        expect(await verdicts(await signed({ text: body, html, subject }))).toEqual(PASS);
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    ['the body', (text: string) => text.replace('indented', 'Indented')],
    ['the subject', (text: string) => text.replace('Subject: ', 'Subject: Re: ')],
    ['our own headers', (text: string) => text.replace('msg_1', 'msg_2')],
    ['the unsubscribe address', (text: string) => text.replace('/u/1', '/u/2')],
    [
      'one-click',
      (text: string) => text.replace('List-Unsubscribe=One-Click', 'List-Unsubscribe=No'),
    ],
    [
      'a second From',
      (text: string) => text.replace('From: ', 'From: Evil <evil@example.net>\r\nFrom: '),
    ],
    [
      'a second From at the end',
      (text: string) =>
        text.replace('MIME-Version', 'From: Evil <evil@example.net>\r\nMIME-Version'),
    ],
    ...[
      'To: evil@example.net',
      'Cc: evil@example.net',
      'Subject: You have won',
      'Date: Mon, 16 Nov 2026 10:00:00 +0000',
      'Reply-To: evil@example.net',
      'Message-ID: <2@example.net>',
      'Content-Type: text/html; boundary="x"',
      'List-Unsubscribe: <https://example.net/evil>',
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
      'List-Id: <evil.example.net>',
      'List-Help: <https://example.net/evil>',
      'Feedback-ID: a:b:c:evil1',
      'CFBL-Address: evil@example.net; report=arf',
    ].flatMap((line): [string, (text: string) => string][] => [
      // On top, as a relay would add it, and below, where some readers look first.
      [`by ${line} on top`, (text) => `${line}\r\n${text}`],
      [`by ${line} below`, (text) => text.replace('MIME-Version', `${line}\r\nMIME-Version`)],
    ]),
  ])('break when somebody changes %s', async (_, change) => {
    const before = await signed();
    const after = change(before);
    expect(after).not.toBe(before);
    for (const { result } of await verdicts(after)) expect(result).not.toBe('pass');
  });

  it('survive refolding and blanks, and headers that relays add', async () => {
    const message = await signed();
    const handled = `Received: from x by y\r\n${message.replace('X-SM-Id: msg_1', 'x-sm-ID:\r\n   msg_1 ').replace('Subject: ', 'Subject:\r\n\t ')}`;
    expect(handled).toContain('x-sm-ID');
    expect(await verdicts(handled)).toEqual(PASS);
  });

  it('sign what must not be added once more than it occurs, in lines within 78', async () => {
    const composed = composeEmail(email());
    const lines = await signEmail(composed, keys, signedAt);
    const names = /h=([^;]+);/.exec(lines.replace(/\s/g, ''))![1]!.split(':');
    const times = (wanted: string) => names.filter((name) => name === wanted).length;
    expect({ from: times('from'), cc: times('cc'), replyTo: times('reply-to') }).toEqual({
      ...{ from: 2, cc: 1, replyTo: 1 },
    });
    for (const name of ['subject', 'list-unsubscribe', 'list-unsubscribe-post', 'x-sm-id'])
      expect(names).toContain(name);
    expect(names).not.toContain('x-campaign');
    expect(lines).toMatch(
      /^DKIM-Signature: v=1; a=rsa-sha256; c=relaxed\/relaxed;\r\n d=example\.com; s=r1; t=1794738153;/,
    );
    for (const line of lines.split('\r\n')) expect(line.length).toBeLessThanOrEqual(78);
    expect(await signEmail(composed, keys, signedAt)).toBe(lines);
  });

  it('are none without keys', async () => {
    expect(await signEmail(composeEmail(email()), [], signedAt)).toBe('');
  });
});

describe('body hash', () => {
  // RFC 6376 3.4.4 as plainly as it can be written.
  function plainly(body: string): string {
    const lines = body.split('\r\n').map((line) => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''));
    while (lines.length > 0 && lines.at(-1) === '') lines.pop();
    const canonical = lines.map((line) => `${line}\r\n`).join('');
    return createHash('sha256').update(canonical).digest('base64');
  }

  it('is the plain definition, wherever the body is cut', () => {
    const body = fc.string({
      unit: fc.constantFrom('a', 'bc', ' ', '\t', '\r\n', '\r\n\r\n'),
      maxLength: 60,
    });
    fc.assert(
      fc.property(body, fc.array(fc.nat(70)), (text, places) => {
        const bytes = Buffer.from(text);
        const at = [
          ...new Set([0, ...places.map((place) => place % (bytes.length + 1)), bytes.length]),
        ].sort((a, b) => a - b);
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(hashBody(chunks)).toBe(plainly(text));
      }),
      { numRuns: 3000 },
    );
  });
});
