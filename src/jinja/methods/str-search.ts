// Looking into a str and replacing what was found: find, index, count, startswith, replace. Used by str.ts, the replace filter.
import type { Context } from '../context.ts';
import { typeError, valueError } from '../errors.ts';
import { toIndex } from '../values/numbers.ts';
import * as text from '../values/text.ts';
import { Markup, Tuple, typeName, type Value } from '../values/types.ts';

/** A str argument as JavaScript string. */
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

export function find(
  ctx: Context,
  whole: string,
  sub: Value,
  start: Value,
  stop: Value,
  last: boolean,
): number {
  const needle = textOf(sub, '');
  const [from, to] = span(whole, start, stop);
  ctx.budget.scan(whole.length);
  if (to - from < needle.length) return -1;
  const part = whole.slice(from, to);
  const at = last ? part.lastIndexOf(needle) : part.indexOf(needle);
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
  ctx.budget.scan(whole.length);
  if (needle === '') return text.textLength(whole) + 1;
  let found = 0;
  for (let at = whole.indexOf(needle); at !== -1; at = whole.indexOf(needle, at + needle.length))
    found++;
  return found;
}

export function replace(
  ctx: Context,
  whole: string,
  old: string,
  replacement: string,
  limit: number,
): string {
  const { budget } = ctx;
  budget.scan(whole.length);
  if (limit === 0) return whole;
  if (old === '') {
    const points = text.codePoints(whole);
    const times = limit < 0 ? points.length + 1 : Math.min(limit, points.length + 1);
    budget.text(whole.length + times * replacement.length);
    return (
      points.map((c, i) => (i < times ? replacement + c : c)).join('') +
      (times > points.length ? replacement : '')
    );
  }
  const times = Math.min(count(ctx, whole, old), limit < 0 ? Number.MAX_SAFE_INTEGER : limit);
  if (times === 0) return whole;
  budget.text(whole.length + times * (replacement.length - old.length));
  if (limit < 0) return whole.replaceAll(old, () => replacement);
  let out = '';
  let at = 0;
  for (let i = 0; i < times; i++) {
    const next = whole.indexOf(old, at);
    out += whole.slice(at, next) + replacement;
    at = next + old.length;
  }
  return out + whole.slice(at);
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
  ctx.budget.scan(whole.length);
  const [from, to] = span(whole, start, stop);
  if (from > whole.length || to < from) return false;
  const part = whole.slice(from, to);
  return name === 'startswith' ? part.startsWith(String(wanted)) : part.endsWith(String(wanted));
}
