// The open pixel: where it goes and that nothing else moves.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { insertTracking } from '../../src/tracking/insert.ts';
import { PIXEL_GIF } from '../../src/tracking/pixel.ts';

const addPixel = (html: string, pixelUrl: string) => insertTracking(html, { pixelUrl });

const image =
  /<img src="https:\/\/t\.example\/o\/x\?a=1&amp;b=2" width="1" height="1" alt=""[^>]*>/;
const add = (html: string) => addPixel(html, 'https://t.example/o/x?a=1&b=2').replace(image, '*');

describe('addPixel', () => {
  it.each([
    ['<html><body>Hi</body></html>', '<html><body>Hi*</body></html>'],
    ['<BODY>Hi</BODY >\n</HTML>', '<BODY>Hi*</BODY >\n</HTML>'],
    ['<p>Hi</p></html>', '<p>Hi</p>*</html>'],
    ['<p>Hi</p>', '<p>Hi</p>*'],
    ['', '*'],
    ['<body>a</body><!-- </body> -->', '<body>a*</body><!-- </body> -->'],
    ['<body>a</body> quoted </body>', '<body>a</body> quoted *</body>'],
    ['<body><!--[if !mso]><!-->a</body></html>', '<body><!--[if !mso]><!-->a*</body></html>'],
    ['<body>İ</body>', '<body>İ*</body>'],
    ['<body>a</body><style></body></style>', '<body>a*</body><style></body></style>'],
    ['<body><p title="</body>">a', '<body><p title="</body>">a*'],
    // Inside what stays open to the end nobody would load it.
    ['a <!-- b', 'a *<!-- b'],
    ['a <p title="b', 'a *<p title="b'],
    ['a <style>b', 'a *<style>b'],
  ])('%s', (html, expected) => {
    expect(add(html)).toBe(expected);
  });

  it('changes nothing else, whatever the mail', () => {
    const piece = fc.oneof(
      fc.constantFrom('</body>', '<!--', '-->', '</html >', '</body'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const html = pieces.join('');
        expect(add(html).replace('*', '').length).toBeLessThanOrEqual(html.length);
        expect(
          addPixel(html, 'https://t.example/o').replace(
            /<img src="https:\/\/t\.example\/o"[^>]*>/,
            '',
          ),
        ).toBe(html);
      }),
    );
  });
});

it('is a GIF of one pixel', () => {
  expect(PIXEL_GIF.toString('latin1', 0, 6)).toBe('GIF89a');
  expect([PIXEL_GIF.readUInt16LE(6), PIXEL_GIF.readUInt16LE(8)]).toEqual([1, 1]);
  expect(PIXEL_GIF.length).toBeLessThanOrEqual(43);
});
