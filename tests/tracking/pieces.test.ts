// HTML that is read in pieces has its links, and the end of its body, where a whole one has them.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  findPlaces,
  insertTracking,
  pageOfBytes,
  pageOfText,
  trackedBytes,
} from '../../src/tracking/insert.ts';

const quotes = ['"', "'", '="', "= '", ' title="ü"', "='x'", '<a href="https://a.example/ü">'];
const tags = [
  '<p',
  '>',
  '<',
  '</p>',
  '<!',
  '<!--',
  '-->',
  '--!>',
  '<!-->',
  '/',
  '<td>',
  '<3',
  '</',
];
const texts = ['<style>', '</style>', '<TITLE >', '</title>', '<textarea', '</textarea>'];
const others = [
  '<script>',
  '</script>',
  '<plaintext>',
  '<xmp>',
  '</xmp>',
  '<style/>',
  '😀',
  'words',
];
const links = [
  '<a href=https://b.example/?a=1&amp;b>',
  "<area HREF='http://c.example'>",
  '<a href=',
];
const ends = ['</body>', '</BODY >', '</body></html>', '</html>', '</body', ' a '];
const page = fc
  .array(fc.constantFrom(...quotes, ...tags, ...texts, ...others, ...links, ...ends), {
    maxLength: 20,
  })
  .map((pieces) => pieces.join(''));

it('wherever a piece ends', () => {
  let found = 0;
  fc.assert(
    fc.property(page, fc.integer({ min: 1, max: 40 }), (html, length) => {
      const inBytes = (chars: number) => Buffer.byteLength(html.slice(0, chars));
      const whole = findPlaces(pageOfText(html));
      const read = findPlaces(pageOfBytes(Buffer.from(html)), [length, Number.POSITIVE_INFINITY]);
      expect(read.bodyEnd).toBe(inBytes(whole.bodyEnd));
      expect(read.links).toEqual(
        whole.links.map((link) => ({
          ...link,
          start: inBytes(link.start),
          end: inBytes(link.end),
        })),
      );
      found += read.links.length;
    }),
    { numRuns: 4000 },
  );
  expect(found).toBeGreaterThan(500);
});

it('of an email of megabytes', () => {
  const insertion = { linkUrl: (url: string) => `https://t.example/${url}`, pixelUrl: 'https://t' };
  const words = '<p>注文番号をご確認ください。</p>\n'.repeat(50_000);
  const link = '<a href="https://example.com/?a=ü">x</a>';
  const html = `<body>${words}${link}${words}${link}${link}</body>`;
  const pieces = trackedBytes(Buffer.from(html), insertion);
  expect(Buffer.concat(pieces).toString()).toBe(insertTracking(html, insertion));
});

it('a comment of more than eight megabytes ends what is tracked', () => {
  const link = '<a href="https://example.com/">x</a>';
  const html = Buffer.from(`${link}<!--${'x'.repeat(9 * 1024 * 1024)}-->${link}`);
  const pieces = trackedBytes(html, { linkUrl: () => 'https://t.example/' });
  const text = Buffer.concat(pieces).toString();
  expect(text.startsWith('<a href="https://t.example/">x</a><!--xx')).toBe(true);
  expect(text.endsWith(`xx-->${link}`)).toBe(true);
});
