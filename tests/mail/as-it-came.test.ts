// A tree that arrived whole goes out as received, except for what must be changed; checked by
// readers that are not ours.
import PostalMime from 'postal-mime';
import { describe, expect, it } from 'vitest';
import { piecesOf } from '../../src/bytes/chunks.ts';
import { asItCame } from '../../src/mail/as-it-came.ts';
import { isSevenBit } from '../../src/mail/mime-body.ts';

const lines = (...text: string[]) => `${text.join('\r\n')}\r\n`;
const track = (html: Buffer): Buffer[] => {
  const text = html.toString();
  const tracked = text.replaceAll('https://a.example', 'https://track.example');
  return tracked === text ? [html] : [Buffer.from(tracked)];
};

function made(head: string, body: string | Buffer, options: { track?: boolean } = {}) {
  const bytes = Buffer.from(body);
  const { head: fields, body: pieces } = asItCame({
    fields: head,
    body: bytes,
    sevenBit: isSevenBit(bytes) && /^[\x00-\x7f]*$/.test(head),
    track: options.track ? track : null,
  });
  return { fields, body: Buffer.concat([...piecesOf(pieces)]) };
}

const read = ({ fields, body }: { fields: string; body: Buffer }) =>
  PostalMime.parse(Buffer.concat([Buffer.from(`${fields}\r\n`, 'latin1'), body]), {
    forceRfc822Attachments: true,
  });

const MIXED = 'Content-Type: multipart/mixed; boundary=a\r\n';
const LINK = '<a href="https://a.example">ü</a>';
const TRACKED = '<a href="https://track.example">ü</a>';

describe('nothing has to be changed', () => {
  it.each([
    ['text', 'Content-Type: text/plain\r\n', 'Hello\r\n'],
    ['no type', '', 'Hello\r\n'],
    ['nothing', '', ''],
    ['a tree with odd blanks', MIXED, lines('pre', '--a  ', '', 'x', '--a--', 'post')],
    ['a tree that never closes', MIXED, lines('--a', '', 'x')],
    [
      'HTML without links, tracked',
      MIXED,
      lines('--a', 'Content-Type: text/html', '', 'x', '--a--'),
    ],
  ])('%s', (_, head, body) => {
    const out = made(head, body, { track: true });
    expect(out.fields).toBe(head);
    expect(out.body.toString()).toBe(body);
  });
});

describe('tracking', () => {
  it.each([
    [
      'quoted-printable, iso-8859-1',
      'iso-8859-1',
      'quoted-printable',
      '<a href=3D"https://a.example">=FC</a>',
    ],
    ['base64, utf-8', 'utf-8', 'base64', Buffer.from(LINK).toString('base64')],
    ['as it is, utf-8', 'utf-8', '8bit', LINK],
  ])('%s, alone and in a tree', async (_, charset, encoding, written) => {
    const part = `Content-Type: text/html; charset=${charset}\r\nContent-Transfer-Encoding: ${encoding}\r\n`;
    const alone = made(part, `${written}\r\n`, { track: true });
    expect((await read(alone)).html?.trim()).toBe(TRACKED);
    const before = lines('--a', 'Content-Type: text/plain', '', 'plain', '--a');
    const inTree = made(
      MIXED.replace('mixed', 'alternative'),
      `${before}${part}\r\n${written}\r\n--a--\r\n`,
      { track: true },
    );
    expect(inTree.body.toString()).toContain(before);
    expect(inTree.body.every((byte) => byte < 128)).toBe(true);
    expect((await read(inTree)).html?.trim()).toBe(TRACKED);
  });

  it('leaves alone what would be too long in UTF-8', () => {
    const head = 'Content-Type: text/html; charset=windows-1252\r\n';
    const quotes = Buffer.alloc(11 * 1024 * 1024, `${'\x93'.repeat(70)}\r\n`, 'latin1');
    const body = Buffer.concat([Buffer.from('<a href="https://a.example">x</a>\r\n'), quotes]);
    const out = made(head, body, { track: true });
    expect(out.fields).toBe(`${head}Content-Transfer-Encoding: base64\r\n`);
    expect(Buffer.from(out.body.toString(), 'base64').equals(body)).toBe(true);
  });

  it('leaves alone what is a file, what is in an email of its own, and what is signed', () => {
    const html = (more = '') =>
      lines(`Content-Type: text/html${more}`, '', '<a href="https://a.example">x</a>');
    for (const [head, body] of [
      [MIXED, `--a\r\n${html('; name=a.html')}--a--\r\n`],
      [MIXED, `--a\r\nContent-Type: message/rfc822\r\n\r\n${html()}--a--\r\n`],
      [MIXED.replace('mixed', 'signed'), `--a\r\n${html()}--a\r\n\r\nsig\r\n--a--\r\n`],
      [
        MIXED,
        `--a\r\n${MIXED.replace('mixed', 'signed').replace('=a', '=b')}\r\n--b\r\n${html()}--b--\r\n--a--\r\n`,
      ],
    ] as const) {
      expect(made(head, body, { track: true }).body.toString()).toBe(body);
    }
  });
});

describe('what a relay might spoil is encoded', () => {
  it('text, files, names and an email inside', async () => {
    const body = lines(
      '--a',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 8bit',
      '',
      'Grüße',
      '--a',
      'Content-Type: application/octet-stream; name="größe.bin"',
      'Content-Disposition: attachment; filename="größe.bin"',
      '',
      'bytes: ü',
      '--a',
      'Content-Type: message/rfc822',
      'Content-Transfer-Encoding: 8bit',
      '',
      'Subject: innen',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 8bit',
      '',
      'Grüße von innen',
      '--a',
      'Content-Type: text/plain',
      '',
      'x'.repeat(2000),
      '--a--',
    );
    const out = made(`${MIXED}Content-Transfer-Encoding: 8bit\r\n`, body);
    expect(isSevenBit(out.body)).toBe(true);
    expect(out.fields).toBe(`${MIXED}Content-Transfer-Encoding: 7bit\r\n`);
    const email = await read(out);
    expect(email.text).toContain('Grüße');
    expect(email.text).toContain('x'.repeat(2000));
    const [file, inside] = email.attachments;
    expect(file!.filename).toBe('größe.bin');
    expect(Buffer.from(file!.content as ArrayBuffer).toString()).toBe('bytes: ü');
    const inner = await PostalMime.parse(inside!.content as ArrayBuffer);
    expect(inner.text?.trim()).toBe('Grüße von innen');
  });

  it('what is signed is not touched: its signature would break', () => {
    const body = lines(
      '--a',
      '',
      'Grüße',
      '--a',
      'Content-Type: application/pgp-signature',
      '',
      's',
      '--a--',
    );
    const out = made(MIXED.replace('mixed', 'signed'), body);
    expect(out.body.toString()).toBe(body);
  });
});
