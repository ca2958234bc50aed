// The open pixel: where it goes and that nothing else moves.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { usualBodyEnd } from '../../src/tracking/body-end.ts';
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
    // What looks like the end of the body and is none.
    ['a <style>b</body></html>', 'a *<style>b</body></html>'],
    ['<TITLE>b</body></html>', '*<TITLE>b</body></html>'],
    ['a <!-- b</body></html>', 'a *<!-- b</body></html>'],
    ['a <p title="b</body></html>', 'a *<p title="b</body></html>'],
    ["a <p title = 'b</body></html>", "a *<p title = 'b</body></html>"],
    ['a</html><p </body>', 'a*</html><p </body>'],
    ['a<p title=">" </body>', 'a<p title=">" </body>*'],
    ['a<! </body></html>', 'a<! </body>*</html>'],
    ['<body>a</body/></html>', '<body>a*</body/></html>'],
    ['a</body\u000b>', 'a</body\u000b>*'],
    ['<plaintext>a</body>', '*<plaintext>a</body>'],
    ['<script><!-- <script></script></body>', '*<script><!-- <script></script></body>'],
  ])('%s', (html, expected) => {
    expect(add(html)).toBe(expected);
  });

  it('stands where reading every tag puts it, whatever the email', () => {
    const quotes = ['"', "'", '="', "= '", ' title="x"', "='x'"];
    const tags = ['<p', '>', '<', '</p>', '<!', '<!--', '-->', '--!>', '<!-->', '/', '<td>'];
    const texts = ['<style>', '</style>', '<TITLE >', '</title>', '<textarea', '</textarea>'];
    const others = ['<script>', '</script>', '<plaintext>', '<xmp>', '</xmp>', '<style/>'];
    const ends = ['</body>', '</BODY >', '</body></html>', '</html>', '</body', ' a '];
    const piece = fc.constantFrom(...quotes, ...tags, ...texts, ...others, ...ends);
    const end = fc.constantFrom('</body></html>', '</body>\n', '</body >\n</HTML>', '');
    let certain = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), end, (pieces, end) => {
        const html = pieces.join('') + end;
        const read = insertTracking(html, { linkUrl: (url) => url, pixelUrl: 'https://t.example' });
        expect(insertTracking(html, { pixelUrl: 'https://t.example' })).toBe(read);
        if (usualBodyEnd(html) !== undefined) certain++;
      }),
      { numRuns: 20_000 },
    );
    expect(certain).toBeGreaterThan(1000);
  });

  it('changes nothing else, whatever the email', () => {
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
