// textwrap.wrap() as the wordwrap filter uses it: white space kept, words broken at hyphens. Linear
// in the text.
import type { Budget } from '../budget.ts';
import { typeError, valueError } from '../errors.ts';
import { ordered } from '../values/compare.ts';
import { truthy } from '../values/iterate.ts';
import { isFloat } from '../values/numbers.ts';
import { repr } from '../values/repr.ts';
import { codePoints, hasAstral, isSpaceCode } from '../values/text.ts';
import { Float, type Value } from '../values/types.ts';

const isWhite = (char: string | undefined): boolean =>
  char !== undefined && '\t\n\x0b\x0c\r '.includes(char);
const isWord = (char: string | undefined): boolean =>
  char !== undefined && /^[\p{L}\p{N}_]$/u.test(char);
const isLetter = (char: string | undefined): boolean =>
  char !== undefined && /^[\p{L}\p{Nl}\p{No}_]$/u.test(char);
const isWordOrPunctuation = (char: string | undefined): boolean =>
  char !== undefined && (isWord(char) || '!"\'&.,?'.includes(char));

type Chars = string | string[];

/** A part of the line, by its offsets: shortening one costs nothing, however long it is. */
interface Piece {
  start: number;
  end: number;
}
const cut = (chars: Chars, { start, end }: Piece): string =>
  typeof chars === 'string' ? chars.slice(start, end) : chars.slice(start, end).join('');
const size = ({ start, end }: Piece): number => end - start;

/**
 * Pieces a line may be broken between (at hyphens, as in Python, only for True itself): white
 * space, em-dashes, words, parts of hyphenated words.
 */
function chunks(chars: Chars, onHyphens: boolean): Piece[] {
  const out: Piece[] = [];
  for (let i = 0; i < chars.length; ) {
    const end = isWhite(chars[i])
      ? whiteEnd(chars, i)
      : onHyphens
        ? wordEnd(chars, i)
        : plainEnd(chars, i);
    out.push({ start: i, end });
    i = end;
  }
  return out;
}

function whiteEnd(chars: Chars, start: number): number {
  let i = start;
  while (isWhite(chars[i])) i++;
  return i;
}
function plainEnd(chars: Chars, start: number): number {
  let i = start;
  while (i < chars.length && !isWhite(chars[i])) i++;
  return i;
}

/** End of the dashes at `i` if they are an em-dash between words, otherwise -1. */
function emDashEnd(chars: Chars, i: number): number {
  if (chars[i] !== '-' || chars[i + 1] !== '-' || !isWordOrPunctuation(chars[i - 1])) return -1;
  let end = i;
  while (chars[end] === '-') end++;
  return isWord(chars[end]) ? end : -1;
}

function wordEnd(chars: Chars, start: number): number {
  const dash = emDashEnd(chars, start);
  if (dash !== -1) return dash;
  for (let j = start + 1; ; j++) {
    if (chars[j] === '-') {
      const afterLetters = isLetter(chars[j - 2]) && isLetter(chars[j - 1]);
      const afterPart = isLetter(chars[j - 3]) && chars[j - 2] === '-' && isLetter(chars[j - 1]);
      const beforeLetters =
        isLetter(chars[j + 1]) && isLetter(chars[j + 2] === '-' ? chars[j + 3] : chars[j + 2]);
      if ((afterLetters || afterPart) && beforeLetters) return j + 1;
    }
    if (j >= chars.length || isWhite(chars[j])) return j;
    if (emDashEnd(chars, j) !== -1) return j;
  }
}

export function wrap(
  budget: Budget,
  line: string,
  given: Value,
  breakWords: boolean,
  onHyphens: Value,
): string[] {
  if (ordered(budget, '<=', given, 0))
    throw valueError(`invalid width ${repr(budget, given)} (must be > 0)`);
  const width = given instanceof Float ? given.value : Number(given);
  budget.step(line.length >> 1);
  const chars = hasAstral(line) ? codePoints(line) : line;
  const pieces = chunks(chars, onHyphens === true).reverse();
  budget.step(pieces.length);
  const blank = blankTest(chars);
  const lines: string[] = [];
  while (pieces.length > 0) {
    budget.step(2);
    const current: Piece[] = [];
    let used = 0;
    if (lines.length > 0 && blank(pieces.at(-1)!)) pieces.pop();
    while (pieces.length > 0 && used + size(pieces.at(-1)!) <= width) {
      used += size(pieces.at(-1)!);
      current.push(pieces.pop()!);
    }
    if (pieces.length > 0 && size(pieces.at(-1)!) > width) {
      if (breakWords && isFloat(given))
        throw typeError('slice indices must be integers or None or have an __index__ method');
      longWord(chars, pieces, current, width - used, breakWords, truthy(onHyphens));
    }
    if (current.length > 0 && blank(current.at(-1)!)) current.pop();
    // Pieces on one line were adjacent before.
    if (current.length > 0)
      lines.push(cut(chars, { start: current[0]!.start, end: current.at(-1)!.end }));
  }
  return lines;
}

/**
 * Whether a piece is nothing but white space. The result is kept: a word cut a thousand times is
 * read once.
 */
function blankTest(chars: Chars): (piece: Piece) => boolean {
  let from = 0;
  let solid = -1;
  return ({ start, end }) => {
    if (start < from || start > solid) {
      from = solid = start;
      while (solid < chars.length && isSpaceCode(chars[solid]!.charCodeAt(0))) solid++;
    }
    return solid >= end;
  };
}

/** A word longer than a line: broken to fill this one, or given a line of its own. */
function longWord(
  chars: Chars,
  pieces: Piece[],
  current: Piece[],
  space: number,
  breakWords: boolean,
  onHyphens: boolean,
): void {
  if (!breakWords) {
    if (current.length === 0) current.push(pieces.pop()!);
    return;
  }
  const word = pieces.at(-1)!;
  let end = word.start + space;
  if (onHyphens && size(word) > space) {
    const hyphen = cutHyphen(chars, word, space);
    if (hyphen > word.start) end = hyphen + 1;
  }
  current.push({ start: word.start, end: Math.min(end, word.end) });
  word.start = Math.min(end, word.end);
}

/** Last hyphen of the first `space` characters with something other than hyphens before it. */
function cutHyphen(chars: Chars, { start, end }: Piece, space: number): number {
  for (let i = Math.min(start + space, end) - 1; i > start; i--)
    if (chars[i] === '-') {
      for (let j = start; j < i; j++) if (chars[j] !== '-') return i;
      return -1;
    }
  return -1;
}
