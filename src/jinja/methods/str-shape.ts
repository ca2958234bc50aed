// Changing the shape of a str: strip, center and the like, zfill, expandtabs, translate. Used by
// str.ts and the center filter.

import { typeError, valueError } from '../errors.ts';
import type { Context } from '../running.ts';
import { TextBuilder } from '../values/building.ts';
import { Dict, dictEntries, dictGet, isDict } from '../values/dict.ts';
import { lengthOf } from '../values/iterate.ts';
import { toIndex } from '../values/numbers.ts';
import * as text from '../values/text.ts';
import { Tuple, type Value } from '../values/types.ts';
import { optionalText, textOf } from './str-search.ts';

/** strip(chars), at one end or both. */
export function trim(
  ctx: Context,
  whole: string,
  chars: Value,
  left: boolean,
  right: boolean,
): string {
  const set = optionalText(chars, 'strip arg');
  ctx.budget.text(set?.length ?? 0);
  ctx.budget.step((set?.length ?? 0) >> 2);
  let start = 0;
  let end = whole.length;
  if (set === null) {
    if (left) start = text.stripStart(whole);
    if (right) end = text.stripEnd(whole, start);
    return whole.slice(start, end);
  }
  const wanted = new Set(set);
  // The code point that ends before `at`; an unpaired surrogate counts as one.
  const before = (at: number): string =>
    at - start > 1 && text.hasAstral(whole.slice(at - 2, at))
      ? Array.from(whole.slice(at - 2, at)).at(-1)!
      : whole[at - 1]!;
  if (left)
    while (start < end) {
      const char = String.fromCodePoint(whole.codePointAt(start)!);
      if (!wanted.has(char)) break;
      start += char.length;
    }
  if (right)
    while (end > start) {
      const char = before(end);
      if (!wanted.has(char)) break;
      end -= char.length;
    }
  return whole.slice(start, end);
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
  // CPython puts the odd space on the left if the width is odd.
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
  ctx.budget.step(whole.length >> 3);
  const out = new TextBuilder(ctx.budget);
  let column = 0;
  let done = 0;
  let at = 0;
  for (const char of whole) {
    if (char === '\t') {
      const blanks = size > 0 ? size - (column % size) : 0;
      out.add(whole.slice(done, at));
      if (out.length + blanks > ctx.budget.limits.stringLength)
        ctx.budget.text(out.length + blanks);
      out.add(' '.repeat(blanks));
      column += blanks;
      done = at + 1;
    } else column = char === '\n' || char === '\r' ? 0 : column + 1;
    at += char.length;
  }
  out.add(whole.slice(done));
  return out.toString();
}

/**
 * str.maketrans(): the table for translate(), from a dict or from characters and their
 * replacements.
 */
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
    for (const [key, value] of dictEntries(ctx.budget, from)) {
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

/**
 * How many characters a table that is not a dict can have an entry for; later ones stay as they
 * are.
 */
const tableSize = (map: Value): number =>
  typeof map === 'string' || Array.isArray(map) || map instanceof Tuple
    ? lengthOf(map)!
    : Number.POSITIVE_INFINITY;

export function translate(ctx: Context, whole: string, map: Value): string {
  ctx.budget.step(whole.length);
  const size = tableSize(map);
  const out = new TextBuilder(ctx.budget);
  for (const char of whole) {
    const code = char.codePointAt(0)!;
    const to = isDict(map)
      ? dictGet(map, code)
      : code < size
        ? ctx.subscript(map, code)
        : undefined;
    if (to === undefined) out.add(char);
    else if (typeof to === 'number') out.add(String.fromCodePoint(to));
    else if (to !== null) out.add(textOf(to, 'character mapping'));
  }
  return out.toString();
}
