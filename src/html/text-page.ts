// The page that plain text is written on: words become paragraphs, paragraphs lines. Before it:
// plain-text.ts, which says what each element becomes. After it: the text part of an email.

export const LINE_WIDTH = 76;
/**
 * Nested quotes and lists are indented no further than this, so that words still have room beside
 * them.
 */
const LONGEST_INDENT = 32;

/** How a language puts things into a line: a name and its value, parts of it, a figure. */
export interface Marks {
  colon: string;
  comma: string;
  figure: (value: string, label: string) => string;
}

/** Collects words into paragraphs, wraps them, and keeps no more blank lines than requested. */
export class Page {
  private text = '';
  private paragraph = '';
  private blankLines = 0;
  private firstPrefix = '';
  private prefix = '';
  /** The prefix of blank lines: what comes before an indented part is not in it yet. */
  private gapPrefix = '';
  /** Characters that may still be added around the sender's text: prefixes, rules, columns. */
  private ornaments: number;
  readonly marks: Marks;

  constructor(ornaments: number, marks: Marks) {
    this.ornaments = ornaments;
    this.marks = marks;
  }

  words(text: string): void {
    this.paragraph += text;
  }

  /** Ends the paragraph; what follows is at least this many blank lines below. */
  separate(blankLines: number): void {
    if (this.paragraph !== '') {
      const lines = wrap(this.paragraph, LINE_WIDTH - this.prefix.length);
      this.paragraph = '';
      this.lines(lines);
    }
    if (blankLines > this.blankLines) this.blankLines = blankLines;
  }

  /** Finished lines. */
  lines(lines: string[]): void {
    if (lines.length === 0) return;
    if (this.text !== '') {
      this.text += `\n${`${this.paid(this.gapPrefix).trimEnd()}\n`.repeat(this.blankLines)}`;
    }
    for (const [index, line] of lines.entries()) {
      this.text += `${index === 0 ? '' : '\n'}${`${this.paid(this.firstPrefix)}${line}`.trimEnd()}`;
      this.firstPrefix = this.prefix;
    }
    this.gapPrefix = this.prefix;
    this.blankLines = 0;
  }

  /** Every line that `body` writes gets a prefix, the first line one of its own. */
  indented(first: string, following: string, body: () => void): void {
    const outer = this.prefix;
    this.firstPrefix = (this.firstPrefix + first).slice(0, LONGEST_INDENT);
    this.prefix = (this.prefix + following).slice(0, LONGEST_INDENT);
    body();
    this.separate(0);
    this.firstPrefix = outer;
    this.prefix = outer;
    this.gapPrefix = outer;
  }

  /**
   * A mark repeated, or once if there was too much of that: the text must not outgrow the email.
   */
  ornament(mark: string, times: number): string {
    const wanted = mark.repeat(times);
    return this.paid(wanted) === '' ? mark : wanted;
  }

  private paid(ornament: string): string {
    if (ornament.length > this.ornaments) return '';
    this.ornaments -= ornament.length;
    return ornament;
  }

  finish(): string {
    this.separate(0);
    const text = this.text.replaceAll('\u00a0', ' ').replaceAll('\0', '');
    return text === '' ? '' : `${text}\n`;
  }
}

/**
 * Words to lines. A word longer than a line, such as an address, stays whole. `\v` is a line break.
 */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const part of text.includes('\v') ? text.split('\v') : [text]) {
    const whole = part.trim();
    // No character takes more than two columns.
    const fits = whole.length * 2 <= columns || width(whole, columns) <= columns;
    if (fits && !uneven.test(whole)) {
      lines.push(whole);
      continue;
    }
    let line = '';
    let used = 0;
    for (const word of part.replace(invisible, '').split(/[ \t\r\n\f]+/)) {
      let space = used === 0 ? '' : ' ';
      for (const piece of breakable(word)) {
        if (piece === '') continue;
        const size = width(piece, columns);
        if (used > 0 && used + space.length + size > columns) {
          lines.push(line);
          line = piece;
          used = size;
        } else {
          line += space + piece;
          used += space.length + size;
        }
        space = '';
      }
    }
    lines.push(line);
  }
  while (lines.at(-1) === '') lines.pop();
  const first = lines.findIndex((line) => line !== '');
  return first > 0 ? lines.slice(first) : lines;
}

/**
 * Japanese and Chinese are written without spaces: a line may end behind any character, but no
 * line begins with a full stop or ends with an opening bracket. An address stays whole.
 */
function breakable(word: string): Iterable<string> {
  if (!/[\u3000-\u9fff]/.test(word)) return [word];
  const scheme = word.indexOf('://');
  if (scheme < 0) return behindWide(word);
  let address = scheme;
  while (address > 0 && /[\w(]/.test(word[address - 1]!)) address--;
  const closing = word[address] === '(' ? word.indexOf(')', scheme) : -1;
  const end = closing < 0 ? word.length : closing + 1;
  return [
    ...behindWide(word.slice(0, address)),
    word.slice(address, end),
    ...behindWide(word.slice(end)),
  ];
}

/** By codes, one after the other: as a pattern that splits it took as long as all the rest. */
function* behindWide(word: string): Generator<string, void> {
  let from = 0;
  for (let at = 1; at < word.length; at++) {
    const before = word.charCodeAt(at - 1);
    const isWide = (before >= 0x3000 && before <= 0x9fff) || (before >= 0xff00 && before <= 0xff60);
    if (!isWide || ENDS_NO_LINE.has(before) || BEGINS_NO_LINE.has(word.charCodeAt(at))) continue;
    yield word.slice(from, at);
    from = at;
  }
  yield word.slice(from);
}

const codesOf = (characters: string): ReadonlySet<number> =>
  new Set([...characters].map((character) => character.charCodeAt(0)));
const ENDS_NO_LINE = codesOf('（［｛「『【〈《');
const BEGINS_NO_LINE = codesOf(
  '、。，．・：；？！）］｝」』】〉》ー～…々ぁぃぅぇぉっゃゅょァィゥェォッャュョ',
);

/**
 * Characters that only affect layout: zero-width space, soft hyphen, combining grapheme joiner,
 * byte order mark.
 */
const invisible = /\u200b|\u00ad|\u034f|\ufeff/g;

/** White space to normalize, or one of these characters. */
const uneven = /[\t\r\n\f\u200b\u00ad\ufeff]|\u034f| {2}/;

/**
 * The columns a text takes, counted up to `enough`; characters of East Asian scripts and emoji take
 * two, accents and direction marks none.
 */
export function width(text: string, enough = LINE_WIDTH): number {
  // Most pieces of Chinese, Japanese and Korean.
  if (text.length === 1 && /[\u3100-\ua4cf\uac00-\ud7a3]/.test(text)) return 2;
  if (/^[\x00-\u02ff]*$/.test(text)) return text.length;
  let columns = 0;
  for (const character of text) {
    if (columns > enough) break;
    if (/[\p{M}\p{Cf}]/u.test(character)) continue;
    columns +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u.test(
        character,
      )
        ? 2
        : 1;
  }
  return columns;
}

export function longestOf(lines: string[]): number {
  return lines.reduce((most, line) => Math.max(most, width(line)), 0);
}
