// Strangers write to complaints@: no text of theirs may cost more than its length. Known attacks by
// name, then families of generated texts against every reader. The ones that once took seconds come
// first.
import { describe, expect, it } from 'vitest';
import { classify, normalise } from '../../src/feedback/classify.ts';
import { fieldGroups, readStatus } from '../../src/feedback/dsn.ts';
import { headerText, parseParameters, readEmail } from '../../src/feedback/mime.ts';
import { htmlText } from '../../src/feedback/notice.ts';
import { parseReport } from '../../src/feedback/report.ts';
import {
  bareAddress,
  findAddresses,
  namedIn,
  typedAddress,
} from '../../src/feedback/report-address.ts';
import { expectLinear, expectLinearFor } from '../support/growth.ts';

const fill = (piece: string, size: number): string =>
  piece.repeat(Math.max(1, Math.ceil(size / piece.length)));
const count = (size: number, make: (index: number) => string): string => {
  let text = '';
  for (let index = 0; text.length < size; index++) text += make(index);
  return text;
};
const bounce = 'From: MAILER-DAEMON@x.example\nSubject: failure notice\nReturn-Path: <>\n';
const html = `${bounce}Content-Type: text/html\n\n`;
const dsn = (notice: string, status: string): string =>
  `Content-Type: multipart/report; boundary=b\n\n--b\nContent-Type: text/plain\n\n${notice}\n` +
  `--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\n${status}\n--b--\n`;
const arf = (fields: string): string =>
  `Content-Type: multipart/report; boundary=b\n\n--b\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\n${fields}`;
const failed = (address: string, more = ''): string =>
  `Final-Recipient: rfc822; ${address}\nAction: failed\nStatus: 5.0.0\n${more}\n`;
const said = (text: string): string => `Diagnostic-Code: smtp; ${text}\n`;
const mixed = 'Content-Type: multipart/mixed; boundary=b\n\n';
const open = (depth: number): string =>
  Array.from(
    { length: depth },
    (_, level) => `--b${level}\nContent-Type: multipart/mixed; boundary=b${level + 1}\n\n`,
  ).join('');

const ATTACKS: Record<string, (size: number) => string> = {
  'a notice of one letter and long recipients of it': (n) =>
    dsn('a'.repeat(n / 2), fill(failed('a'.repeat(1900)), n / 2)),
  'the same with addresses': (n) =>
    dsn('a'.repeat(n / 2), fill(failed(`${'a'.repeat(300)}@${'a'.repeat(300)}`), n / 2)),
  'styles that never end': (n) => html + fill('<style></', n),
  'scripts that never end': (n) => html + fill('<script>', n),
  'a notice that every recipient searches': (n) =>
    dsn(
      fill('\n \n a ', n / 2),
      count(n / 2, (i) => failed(`a${i}@b.example`)),
    ),
  'diagnoses full of nouns': (n) =>
    dsn(
      '',
      count(n, (i) => failed(`a${i}@b.example`, said(fill('user mailbox ', 2900)))),
    ),
  'diagnoses of one word': (n) =>
    dsn(
      '',
      count(n, (i) => failed(`a${i}@b.example`, said('a'.repeat(2900)))),
    ),
  'diagnoses in encoded words': (n) =>
    dsn(
      '',
      count(n, (i) => failed(`a${i}@b`, said(fill('=?iso-2022-jp?q?a?= ', 4000)))),
    ),
  'recipients of dots': (n) => dsn('', fill(failed(`${'.'.repeat(1990)}x`), n)),
  'complainers of at signs': (n) => arf(fill(`Original-Rcpt-To: <${'@'.repeat(310)}>\n`, n)),
  'a sender in encoded words, many addresses': (n) =>
    `${bounce.replace('MAILER', `${fill('=?iso-2022-jp?q?a?= ', Math.min(n / 2, 15_000))}MAILER`)}\n` +
    count(n / 2, (i) => `<a${i}@b.example>: x\n`),
  'many To of letters that may begin an address': (n) =>
    `${fill(`To: ${'é'.repeat(900)}\n`, n)}${bounce}\nx 550 a`,
  'addresses in one line': (n) => `${bounce}\n${count(n, (i) => `<a${i}@b.example> `)}`,
  'lines that belong to a hundred addresses': (n) =>
    `${bounce}\n${count(1500, (i) => `a${i % 100}@b.example `)}\n${fill('x y\n', n)}`,
  'paragraphs that tell nothing': (n) =>
    `${bounce}\n${count(2500, (i) => `<a${i}@b.example>\n`)}${fill('\n\nuser mailbox ', n)}`,
  'hosts that are none': (n) =>
    `${bounce}\n${count(1500, (i) => `a${i}@b.example\n`)}${fill(`by ${'a.'.repeat(8)}a! `, n)}`,
  rulers: (n) => `${bounce}\n${fill(`${'-'.repeat(298)}\n`, n)}`,
  'multiparts without a boundary': (n) => mixed + fill('--b\nContent-Type: multipart/mixed\n\n', n),
  'quotes that never close': (n) =>
    mixed + fill(`--b\nContent-Type: text/plain; ${fill('a="\\"', 4000)}\n\n`, n),
  'parameters without a value': (n) =>
    mixed + fill(`--b\nContent-Type: text/plain; ${'a'.repeat(4000)}\n\n`, n),
  'empty delimiters ten levels deep': (n) =>
    `Content-Type: multipart/mixed; boundary=b0\n\n${open(9)}${fill('--\n', n)}`,
  'lines that might continue a header': (n) => mixed + fill(`--b\nA: b;\n${'yy\n'.repeat(900)}`, n),
  'a field folded for ever': (n) => dsn('', `Final-Recipient: rfc822; a@b\n${fill(' y\n', n)}`),
  'fields of other names between recipients': (n) =>
    dsn(
      '',
      count(n, (i) => `X-${i}: a\nFinal-Recipient: rfc822; a@b\n`),
    ),
  'torn fields': (n) => dsn('', failed('a@b.example') + count(n, (i) => `X-${i}: a\n\n`)),
  'quoted headers that are none': (n) => `${bounce}\n${fill('> \n', n)}`,
  'texts in a strange charset': (n) =>
    mixed + fill(`--b\nContent-Type: text/plain; charset=gb18030\n\n${'é'.repeat(5000)}\n`, n),
};

/** What the listener hands over at most (inbound/feedback-smtp.ts). */
const MOST_BYTES = 1024 * 1024;

describe('a report costs no more than its length', () => {
  it.each(Object.entries(ATTACKS))('%s', (_, make) => {
    expectLinear((size) => Buffer.from(make(size), 'latin1'), parseReport);
  });

  it.each(Object.entries(ATTACKS))('and as long as it may be is read soon: %s', (_, make) => {
    const raw = Buffer.from(make(MOST_BYTES), 'latin1').subarray(0, MOST_BYTES);
    const before = process.cpuUsage();
    parseReport(raw);
    const { user, system } = process.cpuUsage(before);
    // Measured: 5 to 200 ms; the two that were reported took 13 and 4 seconds at a quarter of the
    // length.
    expect((user + system) / 1000).toBeLessThan(2000);
  });
});

describe('families of texts', () => {
  const MARKS = ['a', ' ', '\n', '\r\n', '\t', '@', '.', '<', '>', '"', "'", '\\', '=', ';', ':'];
  const WORDS = [
    'user ',
    'mailbox ',
    'not ',
    'found',
    '550 ',
    '5.1.1 ',
    'by ',
    'é',
    '--',
    '[',
    '(',
  ];
  const HEADERS = [
    '--b\n',
    'A: b\n',
    ' b\n',
    'Content-Type: ',
    'multipart/x; ',
    'boundary=b',
    '\n\n',
  ];
  const STATUS = [
    'Final-Recipient: ',
    'rfc822; ',
    'Action: failed\n',
    'Diagnostic-Code: ',
    'a@b.c',
  ];
  const TAGS = ['<style>', '</', 'style', '<script', '<!--', '-->', '&#x', '&amp;', '<a ', '/>'];
  const ENCODED = ['=?', '?=', '?q?', '?b?', 'utf-8', '=3D', '_', '*'];

  const readers: Record<string, [pieces: string[], read: (text: string) => unknown]> = {
    readEmail: [[...MARKS, ...HEADERS], (text) => readEmail(Buffer.from(text, 'latin1'))],
    'readEmail of a multipart': [
      [...MARKS, ...HEADERS],
      (text) => readEmail(Buffer.from(mixed + text, 'latin1')),
    ],
    parseParameters: [[...MARKS, ...HEADERS], (text) => parseParameters(`x;${text}`)],
    headerText: [[...MARKS, ...ENCODED], headerText],
    fieldGroups: [[...MARKS, ...STATUS], fieldGroups],
    readStatus: [[...MARKS, ...STATUS, ...WORDS], (text) => readStatus(text, text)],
    htmlText: [[...MARKS, ...TAGS], htmlText],
    bareAddress: [MARKS, bareAddress],
    typedAddress: [[...MARKS, 'rfc822;', 'utf-8;', '\\x{FC}'], typedAddress],
    findAddresses: [[...MARKS, 'é', '-', '_'], findAddresses],
    namedIn: [MARKS, (text) => namedIn(text, new Set(['a@a', 'a@a.a']))],
    normalise: [[...MARKS, ...WORDS], normalise],
    classify: [[...MARKS, ...WORDS], (text) => classify(null, text)],
    'a bounce in words': [
      [...MARKS, ...WORDS, 'a@b.example'],
      (text) => parseReport(Buffer.from(`${bounce}\n${text}`, 'latin1')),
    ],
    'a bounce in HTML': [
      [...MARKS, ...TAGS, ...WORDS],
      (text) => parseReport(Buffer.from(html + text, 'latin1')),
    ],
    'a delivery status': [
      [...MARKS, ...STATUS, ...WORDS, ...ENCODED],
      (text) => parseReport(Buffer.from(dsn(text, text), 'latin1')),
    ],
    'a complaint': [
      [...MARKS, ...STATUS, 'Original-Rcpt-To: ', '--b\nContent-Type: message/rfc822\n\n', 'To: '],
      (text) => parseReport(Buffer.from(arf(text), 'latin1')),
    ],
  };
  it.each(Object.entries(readers))('%s', (_, [pieces, read]) => {
    expectLinearFor(pieces, read, { searchMs: 500 });
  });
});
