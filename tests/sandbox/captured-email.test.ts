// A captured email is read in time proportional to its size: what a sender wrote into it does not
// hold up its reader.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { atOnce } from '../../src/process/in-turns.ts';
import { findIn, readCaptured } from '../../src/sandbox/captured-email.ts';
import { pixelImage } from '../../src/tracking/pixel.ts';
import { expectLinearFor } from '../support/growth.ts';

const captured = (html: string, head = ''): Buffer =>
  Buffer.from(
    `From: a@example.com\r\n${head}Content-Type: text/html; charset=utf-8\r\n\r\n${html}\r\n`,
  );

it('of tags that never close, and of all else', () => {
  const pieces = [
    '<img src="',
    '/o/',
    'a',
    '"',
    ' ',
    '>',
    '<',
    '<img src="http://a/o/a" ',
    '=',
    '\n',
  ];
  expectLinearFor(pieces, (html) => atOnce(readCaptured(captured(html))), { searchMs: 1200 });
});

it('of heads', () => {
  const pieces = ['X-A: b\r\n', ' ', '\t', '\r\n ', ':', 'a', ';', 'name="', '\\', '=?utf-8?q?a?='];
  const read = (head: string) => atOnce(readCaptured(captured('x', `X-B: ${head}\r\n`)));
  expectLinearFor(pieces, read, { searchMs: 1000 });
});

it('of files', () => {
  const file = 'Content-Type: a/b\r\nContent-Transfer-Encoding: base64\r\n';
  const type = 'Content-Type: multipart/mixed; boundary=b\r\n\r\n';
  const pieces = ['=', '=\r\n', 'AAAA', '\r\n', ' ', 'x', '--b\r\n', '--'];
  const read = (body: string) =>
    atOnce(
      readCaptured(
        Buffer.from(`${type}--b\r\n${file}Content-Disposition: attachment\r\n\r\n${body}\r\n--b--`),
      ),
    );
  expectLinearFor(pieces, read, { searchMs: 1000 });
});

it('shows no pixel, and every other image', () => {
  const pixel = pixelImage('https://t.example/o/abc-_1');
  const other = '<img src="https://example.com/logo.png">';
  const { html } = atOnce(readCaptured(captured(`<p>${other}${pixel}</p>${pixel}`)));
  expect(html?.trim()).toBe(`<p>${other}</p>`);
});

it('of codes and links, in HTML and in text', () => {
  const pieces = [
    ...['1234 ', '1234\n', 'code ', 'A-', 'a', '@', 'http://', '1 ', '7KQ2-', 'order no. '],
    ...['<a href="http://a/">', '<a href="', '</a>', '&amp;', '.', ')', '\t'],
  ];
  const find = (type: string) => (body: string) =>
    findIn(Buffer.from(`Content-Type: ${type}\r\n\r\n${body}`), () => undefined);
  expectLinearFor(pieces, find('text/html'), { searchMs: 1000 });
  expectLinearFor(pieces, find('text/plain'), { searchMs: 1000 });
});

it('what is found can be stored, whatever the email is', () => {
  const odd = fc.constantFrom(
    '\0',
    '\ud800',
    '&#0;',
    '&#xd800;',
    '=?utf-8?q?=00=ed=a0=80?=',
    '\u2028',
  );
  const piece = fc.oneof(
    odd,
    fc.string(),
    fc.constantFrom('<a href="http://a/', '">', 'code 1234'),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = pieces.join('');
      const raw = Buffer.from(`Subject: ${text}\r\nFrom: ${text}\r\n\r\n${text}`);
      const html = captured(text, `Subject: ${text}\r\n`);
      for (const email of [raw, html, Buffer.from(text)]) {
        const found = JSON.stringify(findIn(email, (url) => `${url}\0`.replace('\0', '')));
        expect(found).not.toMatch(/\\u(?:0000|d[89a-f]..)/i);
        expect(found.isWellFormed()).toBe(true);
      }
    }),
  );
});
