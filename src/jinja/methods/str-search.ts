// Searching a str and replacing matches: find, index, count, startswith, replace. Used by str.ts
// and the replace filter.

import { typeError, valueError } from '../errors.ts';
import type { Context } from '../running.ts';
import { joined } from '../values/building.ts';
import { toIndex } from '../values/numbers.ts';
import { countIn, indexIn, lastIndexIn, partsOf } from '../values/search.ts';
import * as text from '../values/text.ts';
import { Markup, Tuple, typeName, type Value } from '../values/types.ts';

/** A str argument as a JavaScript string. */
export function textOf(value: Value, what: string): string {
  if (typeof value === 'string') return value;
  if (value instanceof Markup) return value.text;
  throw typeError(`${what}${what === '' ? '' : ' '}must be str, not ${typeName(value)}`);
}

export const optionalText = (value: Value, what: string): string | null =>
  value === undefined || value === null ? null : textOf(value, what);

export const asText = (self: string | Markup): string =>
  typeof self === 'string' ? self : self.text;

/** Bounds of find(), count() …: slice rules, as UTF-16 offsets. */
export function span(whole: string, start: Value, stop: Value): [number, number] {
  const size = text.textLength(whole);
  const clip = (value: Value, fallback: number) => {
    if (value === undefined || value === null) return fallback;
    const index = toIndex(value);
    return index < 0 ? Math.max(0, index + size) : Math.min(index, size + 1);
  };
  const from = clip(start, 0);
  const to = Math.min(clip(stop, size), size);
  return from > size
    ? [whole.length + 1, -1]
    : [text.unitOffset(whole, from), text.unitOffset(whole, to)];
}

/** A search reads both texts. */
function payToSearch(ctx: Context, whole: string, needle: string): void {
  ctx.budget.measure(whole);
  ctx.budget.scan(needle.length);
}

export function find(
  ctx: Context,
  whole: string,
  sub: Value,
  start: Value,
  stop: Value,
  last: boolean,
): number {
  const needle = textOf(sub, '');
  payToSearch(ctx, whole, needle);
  const [from, to] = span(whole, start, stop);
  if (to - from < needle.length) return -1;
  const part = whole.slice(from, to);
  const at = last ? lastIndexIn(part, needle) : indexIn(part, needle);
  return at === -1 ? -1 : text.pointIndex(whole, from + at);
}

export function index(
  ctx: Context,
  whole: string,
  sub: Value,
  start: Value,
  stop: Value,
  last: boolean,
): number {
  const at = find(ctx, whole, sub, start, stop, last);
  if (at === -1) throw valueError('substring not found');
  return at;
}

export function count(ctx: Context, whole: string, needle: string): number {
  payToSearch(ctx, whole, needle);
  return needle === '' ? text.textLength(whole) + 1 : countIn(whole, needle);
}

export function replace(
  ctx: Context,
  whole: string,
  old: string,
  replacement: string,
  limit: number,
): string {
  const { budget } = ctx;
  payToSearch(ctx, whole, old);
  if (limit === 0) return whole;
  if (old === '') {
    budget.text(whole.length);
    budget.step(whole.length >> 1);
    if (whole === '') return replacement;
    const points = text.codePoints(whole);
    const times = limit < 0 ? points.length + 1 : Math.min(limit, points.length + 1);
    budget.text(whole.length + times * replacement.length);
    const kept = text.unitOffset(whole, times);
    const spread = replacement + points.slice(0, times).join(replacement);
    return spread + (times > points.length ? replacement : whole.slice(kept));
  }
  const times = Math.min(count(ctx, whole, old), limit < 0 ? Number.MAX_SAFE_INTEGER : limit);
  if (times === 0) return whole;
  budget.text(whole.length + times * (replacement.length - old.length));
  budget.step(times >> 1);
  return joined(budget, partsOf(whole, old, limit), replacement);
}

export function affix(
  ctx: Context,
  whole: string,
  wanted: Value,
  start: Value,
  stop: Value,
  name: string,
): boolean {
  if (wanted instanceof Tuple)
    return wanted.items.some((item) => affix(ctx, whole, item, start, stop, name));
  if (typeof wanted !== 'string' && !(wanted instanceof Markup))
    throw typeError(`${name} first arg must be str or a tuple of str, not ${typeName(wanted)}`);
  payToSearch(ctx, whole, String(wanted));
  const [from, to] = span(whole, start, stop);
  if (from > whole.length || to < from) return false;
  const part = whole.slice(from, to);
  return name === 'startswith' ? part.startsWith(String(wanted)) : part.endsWith(String(wanted));
}
