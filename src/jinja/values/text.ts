// Strings as Python sees them: sequences of code points, Python's white space, its case rules. Used
// by methods/str.ts and filters/.
import { CASE_FOLD, NUMERIC_LETTERS, OTHER_DIGITS, TITLE_CASE } from './unicode-tables.ts';

const SURROGATE = /[\ud800-\udfff]/;

/** False for most strings, where UTF-16 units and code points are the same. */
export const hasAstral = (text: string): boolean => SURROGATE.test(text);

export const codePoints = (text: string): string[] =>
  hasAstral(text) ? Array.from(text) : text.split('');

export function textLength(text: string): number {
  if (!hasAstral(text)) return text.length;
  let length = 0;
  for (const _ of text) length++;
  return length;
}

/** text[start:stop] for bounds already clipped to the length. */
export function textSlice(text: string, start: number, stop: number): string {
  if (!hasAstral(text)) return text.slice(start, Math.max(start, stop));
  const from = unitOffset(text, start);
  return text.slice(from, from + unitOffset(text.slice(from), Math.max(0, stop - start)));
}

/** Offset in UTF-16 units of the code point at `index`. */
export function unitOffset(text: string, index: number): number {
  if (!hasAstral(text)) return Math.min(index, text.length);
  let offset = 0;
  for (let i = 0; i < index && offset < text.length; i++)
    offset += text.codePointAt(offset)! > 0xffff ? 2 : 1;
  return offset;
}

/** The code-point index of a UTF-16 offset. */
export const pointIndex = (text: string, offset: number): number =>
  textLength(text.slice(0, offset));

// str.isspace() and re's \s; JavaScript's \s has U+FEFF and lacks 1C-1F and 85.
const WS = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const SPACE_RUNS = new RegExp(`[${WS}]+`);
const ALL_SPACE = new RegExp(`^[${WS}]+$`);

export function isSpaceCode(code: number): boolean {
  if (code < 0x80)
    return code === 0x20 || (code >= 9 && code <= 13) || (code >= 0x1c && code <= 0x1f);
  return (
    code === 0x85 ||
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}
export const isSpace = (text: string): boolean => ALL_SPACE.test(text);

export function stripStart(text: string, from = 0): number {
  let i = from;
  while (i < text.length && isSpaceCode(text.charCodeAt(i))) i++;
  return i;
}
export function stripEnd(text: string, floor = 0): number {
  let i = text.length;
  while (i > floor && isSpaceCode(text.charCodeAt(i - 1))) i--;
  return i;
}
export function strip(text: string): string {
  const start = stripStart(text);
  return text.slice(start, stripEnd(text, start));
}

/** str.split(): runs of white space separate, none at the ends. */
export function splitWords(text: string): string[] {
  const inner = strip(text);
  return inner === '' ? [] : inner.split(SPACE_RUNS);
}

/** str.splitlines(): every line boundary Python knows. */
export function splitLines(text: string, keepEnds = false): string[] {
  const lines: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; ) {
    if (!isLineBreak(text.charCodeAt(i))) {
      i++;
      continue;
    }
    const end = text.charCodeAt(i) === 13 && text.charCodeAt(i + 1) === 10 ? i + 2 : i + 1;
    lines.push(text.slice(start, keepEnds ? end : i));
    start = i = end;
  }
  if (start < text.length) lines.push(text.slice(start));
  return lines;
}
const isLineBreak = (code: number): boolean =>
  (code >= 10 && code <= 13) ||
  (code >= 0x1c && code <= 0x1e) ||
  code === 0x85 ||
  code === 0x2028 ||
  code === 0x2029;

function pairs(table: string): Map<string, string> {
  const map = new Map<string, string>();
  for (const entry of table.split(' ')) {
    const first = String.fromCodePoint(entry.codePointAt(0)!);
    map.set(first, entry.slice(first.length));
  }
  return map;
}
const TITLE = pairs(TITLE_CASE);
const FOLD = pairs(CASE_FOLD);
const UNTITLED =
  /[\u01c5\u01c8\u01cb\u01f2\u10d0-\u10fa\u10fd-\u10ff\u1f88-\u1f8f\u1f98-\u1f9f\u1fa8-\u1faf\u1fbc\u1fcc\u1ffc]/;

/** Title case of one character. */
export function titleChar(char: string): string {
  const special = TITLE.get(char);
  if (special !== undefined) return special;
  return UNTITLED.test(char) ? char : char.toUpperCase();
}

export function capitalize(text: string): string {
  if (text === '') return text;
  const first = String.fromCodePoint(text.codePointAt(0)!);
  // Lower-case in context, so that a final sigma is handled; only the first character is replaced.
  return titleChar(first) + text.toLowerCase().slice(first.toLowerCase().length);
}

export function casefold(text: string): string {
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase();
  let out = '';
  for (const char of text) {
    const code = char.codePointAt(0)!;
    if (code >= 0x13a0 && code <= 0x13f5) out += char;
    else if (code >= 0xab70 && code <= 0xabbf) out += String.fromCodePoint(code - 0xab70 + 0x13a0);
    else out += FOLD.get(char) ?? char.toLowerCase();
  }
  return out;
}

/** str.title(): every run of cased characters starts with a capital. */
export function titleWords(text: string): string {
  if (isAscii(text)) {
    let inside = false;
    return asciiLetters(text.toLowerCase(), (code) => {
      const first = !inside && isLetter(code);
      inside = isLetter(code);
      return first;
    });
  }
  return text.replace(/[\p{Uppercase}\p{Lowercase}\p{Lt}]+/gu, (run, at: number) => {
    const first = String.fromCodePoint(run.codePointAt(0)!);
    return titleChar(first) + lowerRun(text, run.slice(first.length), at + first.length);
  });
}

/** Lower case of a part of a text: only a sigma depends on the characters around it. */
function lowerRun(text: string, run: string, at: number): string {
  if (!run.includes('Σ')) return run.toLowerCase();
  let out = '';
  let place = at;
  for (const char of run) {
    out += lowerChar(text, char, place);
    place += char.length;
  }
  return out;
}

const isLetter = (code: number): boolean => (code | 32) >= 97 && (code | 32) <= 122;

/**
 * ASCII text with the case of some letters changed, by bytes: a regular expression takes two
 * hundred times as long.
 */
function asciiLetters(text: string, changes: (code: number) => boolean): string {
  const bytes = Buffer.from(text, 'latin1');
  for (let i = 0; i < bytes.length; i++) if (changes(bytes[i]!)) bytes[i]! ^= 32;
  return bytes.toString('latin1');
}

/** Lower case of one character; a sigma at the end of a word has a form of its own. */
function lowerChar(text: string, char: string, at: number): string {
  if (char !== 'Σ') return char.toLowerCase();
  const final = /[\p{Uppercase}\p{Lowercase}\p{Lt}]\p{Case_Ignorable}*$/u.test(
    text.slice(Math.max(0, at - 20), at),
  );
  const more = /^\p{Case_Ignorable}*[\p{Uppercase}\p{Lowercase}\p{Lt}]/u.test(
    text.slice(at + 1, at + 21),
  );
  return final && !more ? 'ς' : 'σ';
}

export function swapcase(text: string): string {
  if (isAscii(text)) return asciiLetters(text, isLetter);
  return text.replace(/(\p{Uppercase}+)|\p{Lowercase}+/gu, (run, upper, at: number) =>
    upper === undefined ? run.toUpperCase() : lowerRun(text, run, at),
  );
}

/** A character class from pairs of first and last code point. */
function rangeClass(ranges: number[]): string {
  let out = '';
  for (let i = 0; i < ranges.length; i += 2)
    out += `\\u{${ranges[i]!.toString(16)}}-\\u{${ranges[i + 1]!.toString(16)}}`;
  return out;
}
const whole = (characters: string): ((text: string) => boolean) => {
  const pattern = new RegExp(`^[${characters}]+$`, 'u');
  return (text) => pattern.test(text);
};

export const isAlpha = whole('\\p{L}');
export const isDecimal = whole('\\p{Nd}');
export const isDigit = whole(`\\p{Nd}${rangeClass(OTHER_DIGITS)}`);
export const isNumeric = whole(`\\p{N}${rangeClass(NUMERIC_LETTERS)}`);
export const isAlnum = whole('\\p{L}\\p{N}');
export const isAscii = (text: string) => /^[\x00-\x7f]*$/.test(text);
export const isIdentifier = (text: string) => /^[\p{XID_Start}_]\p{XID_Continue}*$/u.test(text);
export const isLower = (text: string) =>
  /\p{Lowercase}/u.test(text) && !/[\p{Uppercase}\p{Lt}]/u.test(text);
export const isUpper = (text: string) =>
  /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text);

export function isTitle(text: string): boolean {
  return /[\p{Uppercase}\p{Lt}]/u.test(text) && !UNTITLED_WORD.test(text);
}
/** A word that starts small, or a capital within one. */
const UNTITLED_WORD =
  /(?<![\p{Uppercase}\p{Lowercase}\p{Lt}])\p{Lowercase}|[\p{Uppercase}\p{Lowercase}\p{Lt}][\p{Uppercase}\p{Lt}]/u;

// What repr() must escape: anything but letters, marks, numbers, punctuation, symbols and the plain
// space.
export const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|[^\P{Zs} ]/u;
export const isPrintable = (text: string) => !UNPRINTABLE.test(text);

/** Replaces decimal digits of any script by ASCII ones, as int() and float() read them. */
export function asciiDigits(text: string): string {
  if (isAscii(text)) return text;
  return text.replace(/\p{Nd}/gu, (char) => {
    let zero = char.codePointAt(0)!;
    // Decimal digits come in runs of ten from a zero: step back to it. Mathematical digits are five
    // runs without a gap.
    if (zero >= 0x1d7ce && zero <= 0x1d7ff) return String((zero - 0x1d7ce) % 10);
    let value = 0;
    while (value < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) {
      zero--;
      value++;
    }
    return String(value);
  });
}
