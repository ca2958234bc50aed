// Giving a str another shape: strip, center and its kin, zfill, expandtabs, translate. Used by str.ts and the center filter.
import type { Context } from '../context.ts';
import { typeError, valueError } from '../errors.ts';
import { Dict, dictEntries, dictGet, isDict } from '../values/dict.ts';
import { lengthOf } from '../values/iterate.ts';
import { toIndex } from '../values/numbers.ts';
import * as text from '../values/text.ts';
import { Tuple, type Value } from '../values/types.ts';
import { optionalText, textOf } from './str-search.ts';

/** strip(chars), at one end or both. */
export function trim(whole: string, chars: Value, left: boolean, right: boolean): string {
  const set = optionalText(chars, 'strip arg');
  let start = 0;
  let end = whole.length;
  if (set === null) {
    if (left) start = text.stripStart(whole);
    if (right) end = text.stripEnd(whole, start);
    return whole.slice(start, end);
  }
  const points = text.codePoints(whole);
  const wanted = new Set(text.codePoints(set));
  end = points.length;
  if (left) while (start < end && wanted.has(points[start]!)) start++;
  if (right) while (end > start && wanted.has(points[end - 1]!)) end--;
  return points.slice(start, end).join('');
}

export function pad(
  ctx: Context,
  whole: string,
  width: Value,
  fill: Value,
  align: 'left' | 'right' | 'center',
): string {
  const char = fill === undefined ? ' ' : textOf(fill, 'The fill character');
  if (text.textLength(char) !== 1)
    throw typeError('The fill character must be exactly one character long');
  const size = toIndex(width);
  const missing = size - text.textLength(whole);
  if (missing <= 0) return whole;
  ctx.budget.text(whole.length + missing);
  if (align === 'left') return whole + char.repeat(missing);
  if (align === 'right') return char.repeat(missing) + whole;
  // CPython puts the odd blank on the left when the width is odd.
  const before = (missing >> 1) + (missing & size & 1);
  return char.repeat(before) + whole + char.repeat(missing - before);
}

export const center = (ctx: Context, whole: string, width: Value): string =>
  pad(ctx, whole, width, undefined, 'center');

export function zfill(ctx: Context, whole: string, width: Value): string {
  const missing = toIndex(width) - text.textLength(whole);
  if (missing <= 0) return whole;
  ctx.budget.text(whole.length + missing);
  const signed = whole[0] === '+' || whole[0] === '-';
  return signed ? whole[0] + '0'.repeat(missing) + whole.slice(1) : '0'.repeat(missing) + whole;
}

export function expandTabs(ctx: Context, whole: string, tabsize: Value): string {
  const size = tabsize === undefined ? 8 : toIndex(tabsize);
  let out = '';
  let column = 0;
  for (const char of whole) {
    if (char === '\t') {
      const blanks = size > 0 ? size - (column % size) : 0;
      ctx.budget.text(out.length + blanks);
      out += ' '.repeat(blanks);
      column += blanks;
    } else {
      out += char;
      column = char === '\n' || char === '\r' ? 0 : column + 1;
    }
  }
  return out;
}

/** str.maketrans(): the table translate() takes, from a dict or from letters and what becomes of them. */
export function translationTable(ctx: Context, from: Value, to?: Value, drop?: Value): Dict {
  const made = new Dict();
  const codes = (value: Value, i: number) => {
    const whole = textOf(value, `maketrans() argument ${i}`);
    ctx.budget.list(whole.length);
    return Array.from(whole, (char) => char.codePointAt(0)!);
  };
  if (to === undefined) {
    if (!isDict(from))
      throw typeError('if you give only one argument to maketrans it must be a dict');
    for (const [key, value] of dictEntries(from)) {
      ctx.budget.step(4);
      if (typeof key !== 'string') made.set(key, value);
      else if (text.textLength(key) === 1) made.set(key.codePointAt(0)!, value);
      else throw valueError('string keys in translate table must be of length 1');
    }
    return made;
  }
  if (typeof from !== 'string')
    throw typeError('first maketrans argument must be a string if there is a second argument');
  const source = codes(from, 1);
  const target = codes(to, 2);
  if (source.length !== target.length)
    throw valueError('the first two maketrans arguments must have equal length');
  for (const [i, code] of source.entries()) made.set(code, target[i]);
  if (drop !== undefined) for (const code of codes(drop, 3)) made.set(code, null);
  return made;
}

/** How many characters a table of another kind than a dict can have an entry for; those beyond stay as they are. */
const tableSize = (map: Value): number =>
  typeof map === 'string' || Array.isArray(map) || map instanceof Tuple
    ? lengthOf(map)!
    : Number.POSITIVE_INFINITY;

export function translate(ctx: Context, whole: string, map: Value): string {
  ctx.budget.step(whole.length);
  const size = tableSize(map);
  let out = '';
  for (const char of whole) {
    const code = char.codePointAt(0)!;
    const to = isDict(map)
      ? dictGet(map, code)
      : code < size
        ? ctx.subscript(map, code)
        : undefined;
    if (to === undefined) out += char;
    else if (typeof to === 'number') out += String.fromCodePoint(to);
    else if (to !== null) out += textOf(to, 'character mapping');
    ctx.budget.text(out.length >> 6);
  }
  return out;
}
