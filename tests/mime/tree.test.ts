// A MIME tree as positions in its bytes: what is where, for every tree that can be made, in time
// proportional to its size.
import fc from 'fast-check';
import PostalMime from 'postal-mime';
import { describe, expect, it } from 'vitest';
import { contentsOf } from '../../src/mime/contents.ts';
import { bytesIn, textIn } from '../../src/mime/decoding.ts';
import { parameterText, readFields } from '../../src/mime/fields.ts';
import { type Entity, readTree } from '../../src/mime/tree.ts';
import { atOnce } from '../../src/process/in-turns.ts';
import { expectLinear } from '../support/growth.ts';

const lines = (...text: string[]) => `${text.join('\r\n')}\r\n`;

describe('fields', () => {
  it('keep their lines, their order and their case', () => {
    const text = lines('From: a', 'X-Long: one', '\ttwo', '  three', 'from : b', '', 'Body: no');
    const { fields, end } = readFields(text);
    expect(fields.map(({ name, value }) => [name, value])).toEqual([
      ['From', 'a'],
      ['X-Long', 'one\ttwo  three'],
      ['from', 'b'],
    ]);
    expect(fields[1]!.lines).toBe('X-Long: one\r\n\ttwo\r\n  three\r\n');
    expect(text.slice(end)).toBe('Body: no\r\n');
  });

  it('end where a line is none', () => {
    expect(readFields('A: b\r\nno field\r\n').end).toBe(6);
    expect(readFields('\r\nA: b').fields).toEqual([]);
    expect(readFields('').end).toBe(0);
  });

  it('file names in every form', () => {
    const name = (field: string) =>
      parameterText(
        new Map(
          field
            .split('; ')
            .map((it) => [it.slice(0, it.indexOf('=')), it.slice(it.indexOf('=') + 1)]),
        ),
        'filename',
      );
    expect(name("filename*=utf-8'de'L%C3%B6we.pdf")).toBe('Löwe.pdf');
    expect(name("filename*0*=iso-8859-1''L%F6; filename*1=we.pdf")).toBe('Löwe.pdf');
    expect(name('filename==?utf-8?Q?L=C3=B6we.pdf?=')).toBe('Löwe.pdf');
    expect(name(`filename=${Buffer.from('Löwe.pdf').toString('latin1')}`)).toBe('Löwe.pdf');
    expect(name('name=other')).toBeUndefined();
  });
});

interface Made {
  type: string;
  text?: string;
  parts?: Made[];
}

const { tree: trees } = fc.letrec<{ tree: Made; leaf: Made; node: Made }>((tie) => ({
  tree: fc.oneof({ depthSize: 'small' }, tie('leaf'), tie('node')),
  leaf: fc.record({
    type: fc.constantFrom('text/plain', 'text/html', 'application/pdf'),
    text: fc
      .array(fc.constantFrom('a', '--', '-', '\r\n', '--b0', '--b1x', ' ', 'é', '.', '--b0--'))
      .map((it) => it.join('')),
  }),
  node: fc.record({
    type: fc.constantFrom('multipart/mixed', 'multipart/alternative'),
    parts: fc.array(tie('tree'), { minLength: 1, maxLength: 4 }),
  }),
}));

describe('a tree', () => {
  it('is found again as it was made, whatever stands in its parts', () => {
    fc.assert(
      fc.property(trees, (made) => {
        let count = 0;
        const write = ({ type, text, parts }: Made): { head: string; body: string } => {
          if (parts === undefined) return { head: `Content-Type: ${type}\r\n`, body: text ?? '' };
          const boundary = `=_${count++}_x`;
          const inner = parts.map(write).map(({ head, body }) => `${head}\r\n${body}`);
          return {
            head: `Content-Type: ${type}; boundary="${boundary}"\r\n`,
            body: `--${boundary}\r\n${inner.join(`\r\n--${boundary}\r\n`)}\r\n--${boundary}--\r\n`,
          };
        };
        const { head, body } = write(made);
        const bytes = Buffer.from(body);
        const read = ({ type, children, bodyAt, end }: Entity): Made =>
          type.startsWith('multipart/')
            ? { type, parts: children.map(read) }
            : { type, text: bytes.toString('utf8', bodyAt, end) };
        expect(read(readTree(head, bytes))).toEqual(made);
      }),
    );
  });

  it('says the same as a reader that is not ours', async () => {
    const email = lines(
      'Content-Type: multipart/mixed; boundary=a',
      '',
      '--a',
      'Content-Type: text/plain; charset=windows-1252',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'Preis: 5=80 =',
      'und =FCber=20',
      '--a  ',
      'Content-Type: message/rfc822',
      '',
      'Subject: inside',
      'Content-Type: text/html',
      '',
      '<p>inside</p>',
      '--a',
      'Content-Type: application/octet-stream; name=x.bin',
      'Content-Transfer-Encoding: base64',
      '',
      'AAECAwQ=',
      '--a--',
    );
    const at = email.indexOf('\r\n\r\n');
    const body = Buffer.from(email.slice(at + 4), 'latin1');
    const contents = atOnce(contentsOf(readTree(email.slice(0, at + 2), body), body));
    const judge = await PostalMime.parse(email, { forceRfc822Attachments: true });
    expect(atOnce(textIn(body, contents.text!))).toBe('Preis: 5€ und über ');
    expect(judge.text).toContain('und über');
    expect(contents.html).toBeNull();
    expect(contents.files.map(({ filename, size }) => [filename, size])).toEqual([
      ['part.eml', 57],
      ['x.bin', 5],
    ]);
    expect(atOnce(bytesIn(body, contents.files[1]!.place))).toEqual(Buffer.from([0, 1, 2, 3, 4]));
    expect(judge.attachments).toHaveLength(2);
  });

  it('broken ones are read as far as they go, and nothing throws', () => {
    for (const [head, body] of [
      ['Content-Type: multipart/mixed', 'no boundary'],
      ['Content-Type: multipart/mixed; boundary=a', 'never comes'],
      ['Content-Type: multipart/mixed; boundary=a', '--a'],
      ['Content-Type: multipart/mixed; boundary=a', '--a--'],
      ['Content-Type: multipart/mixed; boundary=a', '--a\r\nno header'],
      ['Content-Type: multipart/mixed; boundary=""', '--\r\n\r\nx'],
      ['Content-Type: ;;;=', ''],
      ['', ''],
    ] as const) {
      const bytes = Buffer.from(body);
      expect(atOnce(contentsOf(readTree(head, bytes), bytes)).files.length).toBeLessThan(2);
    }
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), fc.uint8Array({ maxLength: 300 }), (type, body) => {
        const bytes = Buffer.from(body);
        atOnce(contentsOf(readTree(`Content-Type: ${type}\r\n`, bytes), bytes));
      }),
    );
  });
});

describe('the time grows with the bytes', () => {
  const inBoundary = 'Content-Type: multipart/mixed; boundary=a\r\n';
  const nested = (depth: number) =>
    Array.from(
      { length: depth },
      (_, n) =>
        `--${n === 0 ? 'a' : `b${n}`}\r\nContent-Type: multipart/mixed; boundary=b${n + 1}\r\n\r\n`,
    ).join('');
  it.each<[string, (n: number) => [string, string]]>([
    ['boundaries', (n) => [inBoundary, '--a\r\n\r\n'.repeat(n)]],
    ['almost boundaries', (n) => [inBoundary, '--ab\r\n'.repeat(n)]],
    ['multiparts that never close', (n) => [inBoundary, nested(n)]],
    [
      'multiparts beside each other that never begin',
      (n) => [
        inBoundary,
        '--a\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\nx\r\n'.repeat(n),
      ],
    ],
    [
      'emails in emails',
      (n) => ['Content-Type: message/rfc822\r\n', 'Content-Type: message/rfc822\r\n\r\n'.repeat(n)],
    ],
    ['soft breaks', (n) => ['Content-Transfer-Encoding: quoted-printable\r\n', '=  '.repeat(n)]],
    ['parameters', (n) => [`Content-Type: text/plain${'; a="'.repeat(n)}\r\n`, '']],
    ['folds', (n) => [`Content-Type: text/plain;\r\n${' a\r\n'.repeat(n)}`, '']],
  ])('%s', (_, make) => {
    expectLinear(
      (size) => make(Math.ceil(size / 8)),
      ([head, body]) => {
        const bytes = Buffer.from(body);
        const contents = atOnce(contentsOf(readTree(head, bytes), bytes));
        if (contents.text) atOnce(textIn(bytes, contents.text));
      },
    );
  });
});
