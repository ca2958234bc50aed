// Turning addresses in text into links, word by word as Jinja2's urlize does, in time linear in the
// text.
import type { Budget } from '../budget.ts';
import { TextBuilder } from '../values/building.ts';

interface Options {
  /** How an address is shown. */
  shorten: (url: string) => string;
  rel: string;
  target: string;
  extraSchemes: string[];
}

const SPACES = /([\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+)/;
const W = '\\p{L}\\p{N}_';
// Jinja2's pattern; each repetition ends in a character the next cannot start with, so it does not
// backtrack far.
const HTTP = new RegExp(
  '^(?:' +
    `(?:https?://|www\\.)(?:(?:[${W}%-]+\\.)+)?(?:[a-z]{2,63}|xn--[${W}%]{2,59})` +
    `|(?:[${W}%-]{2,63}\\.)+(?:com|net|int|edu|gov|org|info|mil)` +
    '|https?://(?:\\p{Nd}{1,3}(?:\\.\\p{Nd}{1,3}){3}|\\[(?:[\\p{Nd}a-f]{0,4}:){2}(?:[\\p{Nd}a-f]{0,4}:?){1,6}\\])' +
    ')(?::\\p{Nd}{1,5})?(?:[/?#][^\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*)?$',
  'iu',
);
/** Longer words are never links in email, and matching them would be wasted work. */
const LONGEST_WORD = 10_000;

/** `text` is escaped already. */
export function urlize(budget: Budget, text: string, options: Options): string {
  budget.step(text.length >> 1);
  const rel = options.rel === '' ? '' : ` rel="${options.rel}"`;
  const attributes = rel + (options.target === '' ? '' : ` target="${options.target}"`);
  const out = new TextBuilder(budget);
  for (const word of text.split(SPACES)) {
    budget.step(options.extraSchemes.length);
    out.add(word === '' || word.length > LONGEST_WORD ? word : link(word, attributes, options));
  }
  return out.toString();
}

function link(word: string, attributes: string, options: Options): string {
  let head = '';
  let middle = word;
  let tail = '';
  const start = headLength(middle);
  if (start > 0) {
    head = middle.slice(0, start);
    middle = middle.slice(start);
  }
  const end = middle.length - tailLength(middle);
  if (end < middle.length) {
    tail = middle.slice(end);
    middle = middle.slice(0, end);
  }
  for (const [opening, closing] of [
    ['(', ')'],
    ['<', '>'],
    ['&lt;', '&gt;'],
  ] as const) {
    const opened = count(middle, opening);
    if (opened <= count(middle, closing)) continue;
    for (let i = Math.min(opened, count(tail, closing)); i > 0; i--) {
      const at = tail.indexOf(closing) + closing.length;
      middle += tail.slice(0, at);
      tail = tail.slice(at);
    }
  }
  return head + anchor(middle, attributes, options) + tail;
}

function headLength(text: string): number {
  let i = 0;
  for (;;) {
    if (text[i] === '(' || text[i] === '<') i++;
    else if (text.startsWith('&lt;', i)) i += 4;
    else return i;
  }
}

function tailLength(text: string): number {
  let end = text.length;
  for (;;) {
    const char = text[end - 1];
    if (char !== undefined && ')>.,\n'.includes(char)) end--;
    else if (text.endsWith('&gt;', end)) end -= 4;
    else return text.length - end;
  }
}

const count = (text: string, mark: string): number => text.split(mark).length - 1;

function anchor(text: string, attributes: string, options: Options): string {
  if (HTTP.test(text)) {
    const href =
      text.startsWith('https://') || text.startsWith('http://') ? text : `https://${text}`;
    return `<a href="${href}"${attributes}>${options.shorten(text)}</a>`;
  }
  if (text.startsWith('mailto:') && isEmail(text.slice(7)))
    return `<a href="${text}">${text.slice(7)}</a>`;
  if (
    text.includes('@') &&
    !text.startsWith('www.') &&
    !text.startsWith('@') &&
    !text.includes(':') &&
    isEmail(text)
  )
    return `<a href="mailto:${text}">${text}</a>`;
  let out = text;
  for (const scheme of options.extraSchemes)
    if (out !== scheme && out.startsWith(scheme)) out = `<a href="${out}"${attributes}>${out}</a>`;
  return out;
}

/**
 * ^\S+@\w[\w.-]*\.\w+$ : what follows the @ cannot contain another, so only the last one can match.
 */
function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  return at > 0 && EMAIL_DOMAIN.test(text.slice(at + 1));
}
const EMAIL_DOMAIN = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]*\.[\p{L}\p{N}_]+$/u;
