// html.unescape() and Markup.striptags(). Used by methods/str.ts and the striptags filter.
import type { Budget } from '../budget.ts';
import { splitWords } from '../values/text.ts';
import { HTML5_ENTITIES } from './html-entities.ts';

let named: Map<string, string> | null = null;

/** Read on first use: most renders never need the 2,231 names. */
function entities(): Map<string, string> {
  if (named === null) {
    named = new Map();
    for (const entry of HTML5_ENTITIES.split(' ')) {
      const [name, ...codes] = entry.split('=') as [string, ...string[]];
      named.set(name, String.fromCodePoint(...codes.map((code) => Number.parseInt(code, 16))));
    }
  }
  return named;
}

// Windows-1252 meanings browsers give to the C1 controls, and the two characters HTML replaces.
const REPLACED = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

function fromCode(code: number): string {
  if (code === 0) return '\ufffd';
  if (code === 0x0d) return '\r';
  if (code >= 0x80 && code <= 0x9f) return REPLACED[code - 0x80]!;
  if ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff || Number.isNaN(code)) return '\ufffd';
  const invalid =
    (code >= 0x1 && code <= 0x8) ||
    (code >= 0xe && code <= 0x1f) ||
    code === 0xb ||
    code === 0x7f ||
    (code >= 0xfdd0 && code <= 0xfdef) ||
    (code & 0xfffe) === 0xfffe;
  return invalid ? '' : String.fromCodePoint(code);
}

/**
 * Names that are valid without a semicolon, even at the start of a longer word, are at most this
 * long: `Aacute`.
 */
const LONGEST_BARE = 6;

const REFERENCE = /&(#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)/gu;

/** What `&name` stands for, given the whole name, including its semicolon if it has one. */
export const htmlEntity = (name: string): string | undefined => entities().get(name);

/**
 * Entities and character references become the characters they stand for, as Python's
 * html.unescape() reads them.
 */
export function unescapeHtml(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(REFERENCE, (whole, reference: string) => {
    if (reference[0] === '#') {
      const hex = reference[1] === 'x' || reference[1] === 'X';
      const digits = reference
        .slice(hex ? 2 : 1)
        .replace(/;$/, '')
        .replace(/^0+(?=.)/, '');
      return digits.length > 8 ? '\ufffd' : fromCode(Number.parseInt(digits, hex ? 16 : 10));
    }
    const table = entities();
    const exact = table.get(reference);
    if (exact !== undefined) return exact;
    for (let size = Math.min(reference.length - 1, LONGEST_BARE); size > 1; size--) {
      const prefix = table.get(reference.slice(0, size));
      if (prefix !== undefined) return prefix + reference.slice(size);
    }
    return whole;
  });
}

/**
 * Removes comments, then tags, joins white space and resolves entities; in one pass each, whatever
 * the input.
 */
export function striptags(budget: Budget, html: string): string {
  budget.step(html.length >> 2);
  const text = stripTagsOnly(stripComments(html));
  return unescapeHtml(splitWords(text).join(' '));
}

/**
 * MarkupSafe removes the first comment again and again, so that removing one may join the marks of
 * another.
 */
function stripComments(html: string): string {
  if (!html.includes('<!--')) return html;
  const kept: string[] = [];
  for (let i = 0; i < html.length; i++) {
    kept.push(html[i]!);
    const size = kept.length;
    if (
      html[i] !== '-' ||
      kept[size - 2] !== '-' ||
      kept[size - 3] !== '!' ||
      kept[size - 4] !== '<'
    )
      continue;
    // The end mark may share the dashes of the start mark: <!--> and <!--->.
    let end: number;
    if (html[i + 1] === '>') end = i + 1;
    else if (html[i + 1] === '-' && html[i + 2] === '>') end = i + 2;
    else {
      const at = html.indexOf('-->', i + 1);
      if (at === -1) return kept.join('') + html.slice(i + 1);
      end = at + 2;
    }
    kept.length = size - 4;
    i = end;
  }
  return kept.join('');
}

function stripTagsOnly(text: string): string {
  let out = '';
  let at = 0;
  for (let start = text.indexOf('<'); start !== -1; start = text.indexOf('<', at)) {
    const end = text.indexOf('>', start);
    if (end === -1) break;
    out += text.slice(at, start);
    at = end + 1;
  }
  return out + text.slice(at);
}
