// Taking a str apart and putting one together: split, rsplit, partition, join. Used by str.ts and
// the join filter.

import { typeError, valueError } from '../errors.ts';
import type { Context } from '../running.ts';
import { joined } from '../values/building.ts';
import { isIterable, toList } from '../values/iterate.ts';
import { toIndex } from '../values/numbers.ts';
import { indexIn, lastIndexIn, partsOf } from '../values/search.ts';
import * as text from '../values/text.ts';
import { Markup, typeName, type Value } from '../values/types.ts';
import { textOf } from './str-search.ts';

function separator(sep: Value): string {
  if (typeof sep !== 'string' && !(sep instanceof Markup))
    throw typeError(`must be str or None, not ${typeName(sep)}`);
  if (String(sep) === '') throw valueError('empty separator');
  return String(sep);
}

export function split(ctx: Context, whole: string, sep: Value, maxsplit: Value): string[] {
  const limit = maxsplit === undefined ? -1 : toIndex(maxsplit);
  ctx.budget.step(whole.length >> 3);
  if (sep === undefined || sep === null) return splitSpace(whole, limit);
  const mark = separator(sep);
  ctx.budget.scan(mark.length);
  return partsOf(whole, mark, limit);
}

function splitSpace(whole: string, limit: number): string[] {
  if (limit < 0) return text.splitWords(whole);
  const parts: string[] = [];
  let at = text.stripStart(whole);
  while (at < whole.length) {
    if (parts.length === limit) {
      parts.push(whole.slice(at));
      break;
    }
    let end = at;
    while (end < whole.length && !text.isSpaceCode(whole.charCodeAt(end))) end++;
    parts.push(whole.slice(at, end));
    at = text.stripStart(whole, end);
  }
  return parts;
}

export function rsplit(ctx: Context, whole: string, sep: Value, maxsplit: Value): string[] {
  const limit = maxsplit === undefined ? -1 : toIndex(maxsplit);
  if (limit < 0 && (sep === undefined || sep === null)) return split(ctx, whole, sep, -1);
  ctx.budget.step(whole.length >> 3);
  if (sep === undefined || sep === null) {
    const parts: string[] = [];
    let end = text.stripEnd(whole);
    while (end > 0) {
      if (parts.length === limit) {
        parts.push(whole.slice(0, end));
        break;
      }
      let start = end;
      while (start > 0 && !text.isSpaceCode(whole.charCodeAt(start - 1))) start--;
      parts.push(whole.slice(start, end));
      end = text.stripEnd(whole.slice(0, start));
    }
    return parts.reverse();
  }
  const mark = separator(sep);
  ctx.budget.scan(mark.length);
  return partsOf(whole, mark, limit, true);
}

export function partition(ctx: Context, whole: string, sep: Value, last: boolean): string[] {
  const mark = textOf(sep, 'separator');
  if (mark === '') throw valueError('empty separator');
  ctx.budget.scan(whole.length + mark.length);
  const at = last ? lastIndexIn(whole, mark) : indexIn(whole, mark);
  if (at === -1) return last ? ['', '', whole] : [whole, '', ''];
  return [whole.slice(0, at), mark, whole.slice(at + mark.length)];
}

/** join(), each item passed through `convert` (escaping for Markup). */
export function joinTexts(
  ctx: Context,
  mark: string,
  values: Value,
  convert: (item: Value, i: number) => string,
): string {
  if (!isIterable(values)) throw typeError('can only join an iterable');
  const items = toList(ctx.budget, values);
  return joined(ctx.budget, items.map(convert), mark);
}

const strictItem = (item: Value, i: number): string => {
  if (typeof item === 'string') return item;
  if (item instanceof Markup) return item.text;
  throw typeError(`sequence item ${i}: expected str instance, ${typeName(item)} found`);
};

/** str.join: returns plain text even if one of the joined strings is Markup, as in Python. */
export const join = (ctx: Context, mark: string, values: Value): string =>
  joinTexts(ctx, mark, values, strictItem);
