// Reading HTML for its plain text, for links and for the place of the pixel is linear in the HTML,
// and the text stays in proportion to it: generated pages, each measured at sizes four times apart.
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { htmlToPlainText } from '../../src/html/plain-text.ts';
import { parseHtml } from '../../src/html/tree.ts';
import { insertTracking } from '../../src/tracking/insert.ts';
import { expectLinearFor, ofSize, repeatedText } from '../support/growth.ts';
import { LONGER } from '../support/longer.ts';

const pieces = [
  ...'<a <b> </b> <p> </p> <pre> <br> <hr> <h1> <ul> <ol> <li> <table> <tr> <td> <blockquote> <style> </style> </ <!-- --> <! <? /> > = " \' & &amp; &copy &# &#x41; href= href=" alt=" style="display:none" </body </body> </html> a x1 http://a.example/'.split(
    ' ',
  ),
  ...['stats', 'items', 'pairs', 'list', 'steps', 'code', 'quote', 'button', 'rating', 'rule'].map(
    (meaning) => `<table data-text="${meaning}">`,
  ),
  ' ',
  '\n',
  '\v',
  '\u00ad',
  '語',
];

/** Where something stranger may stand than between two tags. */
const within = [
  ...'<pre> <h1> <blockquote> <ul><li> <!-- <style> <a <a|href=" <a|href=\' <p|style=" <img|alt=" &# </'
    .split(' ')
    .map((part) => part.replaceAll('|', ' ')),
  ...['stats', 'items', 'pairs', 'list', 'code', 'rating'].map(
    (meaning) => `<table data-text="${meaning}"><tr><td>`,
  ),
];

describe('linear growth', () => {
  it('of a tree', () => {
    expectLinearFor(pieces, parseHtml, { within, searchMs: 2_500 });
  });
  it('of plain text', () => {
    expectLinearFor(pieces, htmlToPlainText, { within, searchMs: 5_000 });
  });
  it('of tracked links and the pixel', () => {
    const token = randomBytes(60).toString('base64url');
    const read = (html: string) => insertTracking(html, { linkUrl: () => token, pixelUrl: token });
    expectLinearFor(pieces, read, { within, searchMs: 2_500 });
  });
});

it('makes of no page a text over three times as long', () => {
  const most = fc.property(repeatedText(pieces), (family) => {
    const html = ofSize(family, 20_000);
    expect(htmlToPlainText(html).length).toBeLessThanOrEqual(3 * html.length + 8_192);
  });
  fc.assert(most, { numRuns: 2_000 * LONGER, interruptAfterTimeLimit: 2_000 * LONGER });
});
