// The tree of an email compared with a browser's (parse5): every word is in the same elements, as
// far as the plain text depends on them, even if end tags are missing or misplaced.
import fc from 'fast-check';
import { type DefaultTreeAdapterTypes as Browser, parse } from 'parse5';
import { describe, expect, it } from 'vitest';
import { htmlToPlainText } from '../../src/html/plain-text.ts';
import { type Element, parseHtml } from '../../src/html/tree.ts';
import { LONGER } from '../support/longer.ts';

/** What plain text makes something of. */
const told = new Set('p div table tr td th li ul ol h1 h2 h3 blockquote pre a'.split(' '));

/** Each word with the elements around it: `ul li a(https://…) word`. */
function ours(html: string): string[] {
  const words: string[] = [];
  const walk = (element: Element, path: string): void => {
    for (const child of element.children) {
      if (typeof child === 'string') addWords(words, path, child);
      else if (child.meaning !== 'skip') {
        walk(
          child,
          told.has(child.kind.name) ? `${path}${nameOf(child.kind.name, child.href)} ` : path,
        );
      }
    }
  };
  walk(parseHtml(html), '');
  return words;
}

function browsers(html: string): string[] {
  const words: string[] = [];
  const walk = (node: Browser.ParentNode, path: string): void => {
    for (const child of node.childNodes) {
      if (child.nodeName === '#text') addWords(words, path, (child as Browser.TextNode).value);
      else if ('childNodes' in child && !HIDDEN.has(child.nodeName)) {
        const href = child.attrs.find(({ name }) => name === 'href')?.value;
        walk(child, told.has(child.nodeName) ? `${path}${nameOf(child.nodeName, href)} ` : path);
      }
    }
  };
  walk(parse(html, { scriptingEnabled: false }), '');
  return words;
}

const HIDDEN = new Set('script style title template svg iframe noembed noframes'.split(' '));

const nameOf = (name: string, href: string | undefined) =>
  href === undefined ? name : `a(${href})`;

function addWords(words: string[], path: string, text: string): void {
  for (const word of text.split(/[ \t\r\n\f]+/)) if (word !== '') words.push(path + word);
}

// ---- Pages as people write them: end tags left out, as HTML allows, some that close nothing -----

const endTag = (name: string) => fc.constantFrom(`</${name}>`, `</${name.toUpperCase()} >`, '');
const word = fc.constantFrom(
  'one ',
  'two &amp; ',
  '&copy;3 ',
  '<!-- no -->',
  '<![if mso]>',
  '<br>',
  'x < y ',
);
const astray = fc.constantFrom(
  ...['</li>', '</ul>', '</b>', '</span>', '</h1>', '</div>', '</a>', '</blockquote>', '</p>'],
);

const { flow } = fc.letrec<{ flow: string; inline: string; list: string; table: string }>(
  (tie) => ({
    inline: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      word,
      fc
        .tuple(fc.constantFrom('b', 'span', 'font'), tie('inline'))
        .map(([name, inner]) => `<${name}>${inner}</${name}>`),
      fc
        .tuple(fc.constantFrom('', ' title="a > b href=no"', " class='x'"), tie('inline'))
        .map(
          ([other, inner]) =>
            `<a${other} href="https://x.example/?a=1&copy=2">${inner.replaceAll(/<\/?a\b[\s\S]*?>/g, '')}</a>`,
        ),
      fc
        .tuple(fc.constantFrom('script', 'style', 'title'), word)
        .map(([name, inner]) => `<${name}><p>${inner}</${name}>`),
      fc.array(tie('inline'), { maxLength: 3 }).map((parts) => parts.join('')),
    ),
    list: fc
      .tuple(
        fc.constantFrom('ul', 'ol'),
        fc.array(fc.tuple(tie('flow'), endTag('li')), { maxLength: 3 }),
      )
      .map(
        ([name, items]) =>
          `<${name}>${items.map(([inner, end]) => `<li>${inner}${end}`).join('')}</${name}>`,
      ),
    table: fc
      .tuple(
        fc.boolean(),
        fc.array(
          fc.tuple(
            fc.array(fc.tuple(fc.constantFrom('td', 'th'), tie('flow'), fc.boolean()), {
              minLength: 1,
              maxLength: 3,
            }),
            endTag('tr'),
          ),
          { maxLength: 3 },
        ),
      )
      .map(([body, rows]) => {
        const written = rows.map(
          ([cells, end]) =>
            `<tr>${cells.map(([name, inner, closed]) => `<${name}>${inner}${closed ? `</${name}>` : ''}`).join('')}${end}`,
        );
        return `<table>${body ? '<tbody>' : ''}${written.join('')}</table>`;
      }),
    flow: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      tie('inline'),
      fc.tuple(tie('inline'), endTag('p')).map(([inner, end]) => `<p>${inner}${end}`),
      fc
        .tuple(fc.constantFrom('div', 'blockquote', 'h1', 'section', 'center'), tie('flow'))
        .filter(([name, inner]) => name !== 'h1' || !inner.includes('<h1'))
        .map(([name, inner]) => `<${name}>${inner}</${name}>`),
      tie('list'),
      tie('table'),
      fc.array(tie('flow'), { minLength: 2, maxLength: 4 }).map((parts) => parts.join('')),
    ),
  }),
);

describe('generated pages', () => {
  it('are nested as by a browser', () => {
    fc.assert(
      fc.property(flow, (body) => {
        const html = `<!doctype html><body>${body}</body>`;
        expect(ours(html)).toEqual(browsers(html));
      }),
      { numRuns: 3_000 * LONGER, interruptAfterTimeLimit: 3_000 * LONGER },
    );
  });

  it('and end tags astray in a cell close nothing around the table', () => {
    fc.assert(
      fc.property(flow, astray, flow, (before, end, after) => {
        const html = `<!doctype html><body><div><ul><li><b>${before}<table><tr><td>${end}in</table>${after}</ul></div></body>`;
        expect(ours(html)).toEqual(browsers(html));
      }),
      { numRuns: 1_000 * LONGER, interruptAfterTimeLimit: 2_000 * LONGER },
    );
  });
});

describe('read as a browser does', () => {
  const text = (html: string) => htmlToPlainText(html).trimEnd();
  it.each([
    // An attribute is found by its name, not in the value of another.
    [
      '<a title="x href=https://no.example y" href="https://x.example">x</a>',
      'x (https://x.example)',
    ],
    ['<p title="display:none">seen</p>', 'seen'],
    ['<p title=" data-text=&quot;skip&quot; ">seen</p>', 'seen'],
    ["<p data-text='skip'>no</p>seen", 'seen'],
    ['<P DATA-TEXT=skip>no</P>seen', 'seen'],
    ['<a href=https://x.example/>x</a>', 'x (https://x.example/)'],
    ['<a href="https://a.example" href="https://b.example">x</a>', 'x (https://a.example)'],
    // What looks like a tag, a comment or a quote, and is none.
    ['a <!-- b --!> c <!--> d <!---> e', 'a c d e'],
    ['<p class="a"b">one</p> two', 'one\n\ntwo'],
    ['<p class=a"b>one</p>', 'one'],
    ['</p title=">">x', 'x'],
    ['<textarea><b>1</b> &amp; 2</textarea>', '<b>1</b> & 2'],
    ['<xmp><b>1</b> &amp; 2</xmp>', '<b>1</b> &amp; 2'],
    ['<style>a</styles>b</style>c', 'c'],
    ['<script><!-- <script>a</script> b --></script>c', 'c'],
    ['<svg/>seen', 'seen'],
    ['<noscript>seen</noscript><iframe>no</iframe>', 'seen'],
    ['a\0b&#0;c&#1;d&#128;', 'ab\ufffdcd€'],
    // Nothing is shown of what stays open.
    ['seen <a href="https://x.example>no</a>', 'seen'],
    [
      '<a href="https://a.example">one<a href="https://b.example">two</a>',
      'one (https://a.example)two (https://b.example)',
    ],
  ])('%s', (html, expected) => {
    expect(text(html)).toBe(expected);
  });
});
