// Link rewriting: what changes, what must not, and a browser's parser (parse5) as judge over
// generated emails.
import fc from 'fast-check';
import { parse } from 'parse5';
import { describe, expect, it } from 'vitest';
import { insertTracking } from '../../src/tracking/insert.ts';
import { MOST_ADDED, MOST_TRACKED_LINKS } from '../../src/tracking/links.ts';
import { workedMs } from '../support/blocked.ts';

const rewriteLinks = (html: string, linkUrl: (url: string, index: number) => string) =>
  insertTracking(html, { linkUrl });

const track = (url: string, index: number) =>
  `https://t.example/c/${index}?to=${encodeURIComponent(url)}&x=1`;
const numbered = (html: string) => {
  const targets: string[] = [];
  const result = rewriteLinks(html, (url, index) => {
    targets.push(url);
    return `https://t.example/${index}`;
  });
  return { result, targets };
};

describe('links', () => {
  it.each([
    [
      '<a href="https://a.example/x">x</a>',
      '<a href="https://t.example/0">x</a>',
      'https://a.example/x',
    ],
    [
      "<a href='http://a.example/'>x</a>",
      "<a href='https://t.example/0'>x</a>",
      'http://a.example/',
    ],
    [
      '<a href=https://a.example/>x</a>',
      '<a href="https://t.example/0">x</a>',
      'https://a.example/',
    ],
    [
      '<A CLASS=b HREF = "HTTPS://A.example">x</A>',
      '<A CLASS=b HREF = "https://t.example/0">x</A>',
      'HTTPS://A.example',
    ],
    [
      '<area shape=rect href="https://a.example/">',
      '<area shape=rect href="https://t.example/0">',
      'https://a.example/',
    ],
    [
      '<a\n  title="a > b"\n  href="https://a.example/"\n>x</a>',
      '<a\n  title="a > b"\n  href="https://t.example/0"\n>x</a>',
      'https://a.example/',
    ],
    ['<a href="https://a.example/"/>', '<a href="https://t.example/0"/>', 'https://a.example/'],
    [
      '<a href="https://a.example/?a=1&amp;b=2&copy=3">x</a>',
      '<a href="https://t.example/0">x</a>',
      'https://a.example/?a=1&b=2&copy=3',
    ],
    [
      '<a href="&#104;ttps://a.example/&quot;">x</a>',
      '<a href="https://t.example/0">x</a>',
      'https://a.example/"',
    ],
    [
      '<a href=" \n https://a.exa\nmple/ \t">x</a>',
      '<a href="https://t.example/0">x</a>',
      'https://a.example/',
    ],
    [
      '<a href="https://a.example/ü?q=ö">x</a>',
      '<a href="https://t.example/0">x</a>',
      'https://a.example/ü?q=ö',
    ],
    [
      '<a href="https://a.example/" href="https://b.example/">x</a>',
      '<a href="https://t.example/0" href="https://b.example/">x</a>',
      'https://a.example/',
    ],
    [
      '<![if !mso]><a href="https://a.example/">x</a><![endif]>',
      '<![if !mso]><a href="https://t.example/0">x</a><![endif]>',
      'https://a.example/',
    ],
    [
      '<!--[if !mso]><!--><a href="https://a.example/">x</a><!--<![endif]-->',
      '<!--[if !mso]><!--><a href="https://t.example/0">x</a><!--<![endif]-->',
      'https://a.example/',
    ],
  ])('%s', (html, expected, target) => {
    expect(numbered(html)).toEqual({ result: expected, targets: [target] });
  });

  it.each([
    '<a href="mailto:joe@example.org">x</a>',
    '<a href="tel:+4912345">x</a>',
    '<a href="sms:123">x</a>',
    '<a href="#top">x</a>',
    '<a href="">x</a>',
    '<a href>x</a>',
    '<a href href="https://a.example/">the first counts</a>',
    '<a title=" href=https://a.example/ ">x</a>',
    '<xmp><a href="https://a.example/">x</a></xmp>',
    '<script><!--<script></script><a href="https://a.example/">--></script>',
    '<a name="https://a.example/">x</a>',
    '<a href="/relative">x</a>',
    '<a href="//a.example/">x</a>',
    '<a href="cid:part1@example">x</a>',
    '<a href="data:text/html,hi">x</a>',
    '<a href="javascript:alert(1)">x</a>',
    '<a href="{{ link }}">x</a>',
    '<a href="https://">x</a>',
    '<a href="https://a.example/" data-sm-track="off">x</a>',
    "<A DATA-SM-TRACK=OFF HREF='https://a.example/'>x</A>",
    '<img src="https://a.example/x.png">',
    '<link href="https://a.example/x.css">',
    '<abbr href="https://a.example/">x</abbr>',
    '<!-- <a href="https://a.example/">x</a> -->',
    '<!--[if mso]><a href="https://a.example/">x</a><![endif]-->',
    '<style>/* <a href="https://a.example/">x</a> */</style>',
    '<script>"<a href=\'https://a.example/\'>"</script>',
    '<textarea><a href="https://a.example/">x</a></textarea>',
    '<title><a href="https://a.example/">x</a></title>',
    'plain https://a.example/ text & <a',
    '<a href="https://a.example/',
    `<a href="https://a.example/${'x'.repeat(2000)}">too long to carry</a>`,
  ])('leaves %s as it is', (html) => {
    expect(numbered(html)).toEqual({ result: html, targets: [] });
  });

  it('counts only the links it changes', () => {
    const html =
      '<a href="https://a.example/">1</a><a href="mailto:x@y.example">m</a><a href="https://b.example/">2</a>';
    expect(numbered(html).result).toBe(
      '<a href="https://t.example/0">1</a><a href="mailto:x@y.example">m</a><a href="https://t.example/1">2</a>',
    );
  });

  it('escapes what it writes', () => {
    expect(
      rewriteLinks(`<a href='https://a.example/'>x</a>`, () => `https://t.example/?a=1&b='"<`),
    ).toBe(`<a href='https://t.example/?a=1&amp;b=&#39;&quot;&lt;'>x</a>`);
  });
});

interface Node {
  nodeName: string;
  attrs?: { name: string; value: string }[];
  childNodes?: Node[];
  value?: string;
  data?: string;
  content?: Node;
}

/** The tree as a text, href values taken out into a list of their own. */
function shape(html: string): { tree: string; hrefs: { value: string; isOff: boolean }[] } {
  const hrefs: { value: string; isOff: boolean }[] = [];
  const walk = (node: Node): string => {
    const isLink = node.nodeName === 'a' || node.nodeName === 'area';
    const isOff =
      node.attrs?.some(
        ({ name, value }) => name === 'data-sm-track' && /^\s*off\s*$/i.test(value),
      ) ?? false;
    const attributes = (node.attrs ?? []).map(({ name, value }) => {
      if (!isLink || name !== 'href') return `${name}=${JSON.stringify(value)}`;
      hrefs.push({ value, isOff });
      return 'href';
    });
    const children = [...(node.childNodes ?? []), ...(node.content ? [node.content] : [])].map(
      walk,
    );
    return `${node.nodeName}[${attributes}]${node.value ?? ''}${node.data ?? ''}(${children})`;
  };
  return { tree: walk(parse(html) as unknown as Node), hrefs };
}

const isTracked = ({ value, isOff }: { value: string; isOff: boolean }) => {
  const url = value.replace(/[\t\n\r]/g, '').replace(/^[\x00-\x20]+|[\x00-\x20]+$/g, '');
  return !isOff && /^https?:\/\//i.test(url) && URL.canParse(url);
};

const url = fc.constantFrom(
  'https://a.example/',
  'http://b.example/x?y=1&amp;z=2',
  'https://c.example/&#x41;&notit;&copy=1',
  ' HTTPS://d.example/%20 ',
  'mailto:joe@example.org',
  '#anchor',
  'https://',
  'tel:1',
);
const link = fc
  .tuple(
    url,
    fc.constantFrom('"', "'", ''),
    fc.constantFrom('a', 'A', 'area'),
    fc.boolean(),
    fc.constantFrom('', ' class="x > y"', " title='\"'", ' b', '\n'),
  )
  .map(
    ([target, quote, tag, isOff, other]) =>
      `<${tag}${other} href=${quote}${quote === '' ? target.trim() : target}${quote}${isOff ? ' data-sm-track="off"' : ''}>`,
  );
const text = fc.constantFrom(
  'text &amp; more',
  'ü€😀',
  '<b>',
  '</b>',
  '<p>',
  '</a>',
  '<br/>',
  '<img src="https://i.example/1.png">',
  '\r\n',
  '1 < 2',
  '<style>a{}</style>',
  '<title>x</title>',
  '<!-- note -->',
  '<![if !mso]>',
  '<!--[if mso]><a href="https://m.example/"></a><![endif]-->',
  '<div data-sm-track=off>',
);

describe('over generated emails', () => {
  it('a browser sees the same email, and every link of the web leads through us to where it led', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(link, text), { maxLength: 40 }), (pieces) => {
        const html = `<!doctype html><html><body>${pieces.join('')}</body></html>`;
        const before = shape(html);
        const seen: string[] = [];
        const after = shape(
          rewriteLinks(html, (target, index) => {
            seen.push(target);
            return track(target, index);
          }),
        );
        expect(after.tree).toBe(before.tree);
        // Elements a browser copies (unclosed links) appear more than once, so compare values, not
        // numbers.
        before.hrefs.forEach((href, at) => {
          const now = after.hrefs[at]!.value;
          if (!isTracked(href)) expect(now).toBe(href.value);
          else expect(new URL(now).searchParams.get('to')).toBe(href.value.trim());
        });
        expect(new Set(seen)).toEqual(
          new Set(before.hrefs.filter(isTracked).map(({ value }) => value.trim())),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('nothing changes when there is nothing to track', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(link, text, fc.string()), { maxLength: 30 }), (pieces) => {
        const html = pieces.join('').replaceAll(/http/gi, 'ftp');
        expect(rewriteLinks(html, track)).toBe(html);
      }),
      { numRuns: 300 },
    );
  });

  it('any text is answered, and everything outside href values stays byte for byte', () => {
    const scrap = fc.constantFrom(
      '<',
      '>',
      '"',
      "'",
      '=',
      '/',
      '!',
      '--',
      '&',
      ';',
      'a',
      ' href',
      'https://a.example/',
      '<a',
      '<!--',
      '-->',
      '<![CDATA[',
      ']]>',
      '<script>',
      '</script',
      '\0',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(scrap, fc.string()), { maxLength: 60 }), (pieces) => {
        const html = pieces.join('');
        const result = rewriteLinks(html, () => 'https://t.example/0');
        // Putting the targets back gives the email again.
        let changed = 0;
        rewriteLinks(html, () => {
          changed++;
          return '';
        });
        if (changed === 0) expect(result).toBe(html);
        else expect(result.split('https://t.example/0').length - 1).toBeGreaterThanOrEqual(changed);
      }),
      { numRuns: 1000 },
    );
  });

  it('leads so many links, and leaves the rest as they are', () => {
    const html = '<a href="https://a.example/">a</a>'.repeat(150_000 / 50);
    const result = rewriteLinks(html, () => 'https://t.example/');
    expect(result.split('https://t.example/').length - 1).toBe(MOST_TRACKED_LINKS);
    const kept = html.length - '<a href="https://a.example/">a</a>'.length * MOST_TRACKED_LINKS;
    expect(result.endsWith(html.slice(-kept))).toBe(true);
  });

  it('adds at most a megabyte to an email', () => {
    const html = '<a href="https://a.example/">a</a>'.repeat(1_500);
    const result = rewriteLinks(html, () => `https://t.example/${'x'.repeat(1_000)}`);
    expect(result.length - html.length).toBeLessThanOrEqual(MOST_ADDED);
    expect(result.length - html.length).toBeGreaterThan(MOST_ADDED - 2_000);
  });

  it('takes 3 MB of broken tags in its stride', () => {
    for (const piece of [
      '<a href="https://a.example/">',
      '<a ',
      '<a href=',
      '<!--',
      '&amp;',
      '<a b="',
      '</',
      '<script>',
    ]) {
      const html = piece.repeat(Math.ceil(3_000_000 / piece.length));
      // Measured: 0.03 to 0.5 s, the longest for 103,000 links.
      expect(workedMs(() => rewriteLinks(html, () => 'https://t.example/'))).toBeLessThan(3_000);
    }
  });
});
