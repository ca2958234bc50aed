// Attacks with HTML and text that is read after rendering: for its plain text, for its links and
// for the place of the pixel. Part of attacks.ts: `run` instead of a template.
import { randomBytes } from 'node:crypto';
import { htmlToPlainText } from '../../src/html/plain-text.ts';
import { trackHtml } from '../../src/tracking/apply.ts';
import type { Attack } from './attacks.ts';

const tracker = { key: randomBytes(32), url: () => 'https://t.example' };
const email = { accountId: 1, messageId: randomBytes(16) };
const track = (html: string) =>
  trackHtml(tracker, email, Buffer.from(html), { opens: true, clicks: true }).join('');

/** Each is repeated up to the size of the largest template, with something before and after. */
const pages: [name: string, repeated: string, before?: string, after?: string][] = [
  ['vertical tabs', '\v'],
  ['blanks in <pre>', ' ', '<pre>', 'x</pre>'],
  ['line breaks in <pre>', '\n \n', '<pre>', 'x</pre>'],
  ['blanks in a figure', ' ', '<table data-text="stats"><tr><td>', 'x</td></tr></table>'],
  ['breaks in a figure', ' <br> ', '<table data-text="stats"><tr><td>', 'x</td></tr></table>'],
  ['breaks', '<br>', '<p>', 'x</p>'],
  ['breaks deep in quotes', '<br>a', '<blockquote>'.repeat(150)],
  ['paragraphs deep in quotes', '<p>a</p>', '<blockquote>'.repeat(150)],
  ['words deep in quotes', 'a ', '<blockquote>'.repeat(150)],
  ['quotes', '<blockquote>a'],
  ['lists', '<ul><li>a'],
  ['lists without items', '<ul><ul><b>'],
  ['items deep in blocks', '<li>', '<div>'.repeat(250)],
  ['end tags deep in blocks', '</b>', '<div>'.repeat(250)],
  ['rules', '<hr>'],
  ['headings', '<h1>a</h1>'],
  ['rows', '<tr><td>a'],
  ['tables in cells', '<table><tr><td><b>a</b>'],
  [
    'a long name in a table',
    '<tr><td>a</td><td>1</td></tr>',
    `<table data-text="items"><tr><td>${'x'.repeat(100_000)}</td><td>1</td></tr>`,
  ],
  ['a long heading', 'x', '<h1>'],
  ['comments that stay open', '<!--'],
  ['tags that stay open', '<a '],
  ['quotes that stay open', '<a ">"', '', '"'],
  ['quotes of both kinds that stay open', `<a ">'`, '', '"'],
  ['styles that stay open', '<style></'],
  ['end tags', '</b>'],
  ['end tags without an end', '</b '],
  ['ampersands', '&'],
  ['entities', '&amp'],
  ['long entities', '&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'],
  ['numbers', '&#x41;'],
  ['a long number', '0', '&#'],
  ['attributes', ' href', '<a', '>x</a>'],
  ['attributes without an end', ' href="', '<a', '>x</a>'],
  ['display without none', ' display :', '<p style="', '">x</p>'],
  ['an address with blanks', ' ', '<a href="http://a.example/', 'x">x</a>'],
  ['an address with entities', '&lt;', '<a href="http://a.example/', '">x</a>'],
  ['links', '<a href="http://a.example/">a</a>'],
  ['links with entities', '<a href="http://a.example/?b&lt;=c">a</a>'],
  ['links that are long', `<a href="http://a.example/${'b'.repeat(1_900)}">a</a>`],
  ['body ends', '</body '],
  ['comment ends', '-->'],
  ['dashes', '-', '<!'],
  ['characters of two columns', '語'],
  ['soft hyphens', '\u00ad', 'a', 'b'],
  ['no such element', '<constructor>a'],
  ['no such meaning', '<p data-text="__proto__">a</p><p data-text="toString">b</p>'],
];

const readers: [name: string, read: (html: string) => string][] = [
  ['plain text', htmlToPlainText],
  ['tracking', track],
];

export const attacksOnHtml: Attack[] = pages.flatMap(([name, repeated, before = '', after = '']) =>
  readers.map(([reader, read]) => {
    const html = () => before + repeated.repeat((256 * 1024) / repeated.length) + after;
    return {
      name: `${reader} of ${name}`,
      template: '',
      input: html,
      run: (page: string) => read(page),
    };
  }),
);
