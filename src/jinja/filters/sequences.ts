// The filters that take a sequence as a whole: its ends, its reverse, its sum, its text, its rows
// and columns.

import { filterArgumentError, typeError } from '../errors.ts';
import { native } from '../methods/signature.ts';
import { joinTexts } from '../methods/str-parts.ts';
import type { Context, Native } from '../running.ts';
import { onlyAttribute, slice as sliceValue } from '../values/access.ts';
import { equals, ordered } from '../values/compare.ts';
import { DictView, isDict } from '../values/dict.ts';
import { elements, isIterable, iterator, length, toList, truthy } from '../values/iterate.ts';
import { toIndex } from '../values/numbers.ts';
import { add, floorDivide, multiply, subtract } from '../values/operators.ts';
import { escapeValue, isHtml, str } from '../values/repr.ts';
import { Iterator, Markup, orNone, Range, Tuple, typeName, type Value } from '../values/types.ts';
import { Undefined } from '../values/undefined.ts';
import { attrgetter } from './attribute-getter.ts';

function sum(ctx: Context, value: Value, attribute?: Value, start: Value = 0): Value {
  const { budget } = ctx;
  const get = attribute === undefined || attribute === null ? null : attrgetter(ctx, attribute);
  const source = iterator(budget, value);
  if (typeof start === 'string' || start instanceof Markup)
    throw typeError("sum() can't sum strings [use ''.join(seq) instead]");
  let total = start;
  for (let item = source.next(); item !== undefined; item = source.next()) {
    budget.step(1);
    total = add(budget, total, get === null ? item : get(item));
  }
  return total;
}

function join(ctx: Context, value: Value, mark: Value = '', attribute?: Value): Value {
  const { budget } = ctx;
  const get = attribute === undefined || attribute === null ? null : attrgetter(ctx, attribute);
  const items = toList(budget, value);
  if (get !== null) for (let i = 0; i < items.length; i++) items[i] = get(items[i]);
  if (!ctx.evalCtx.autoescape)
    return joinTexts(ctx, str(budget, mark), items, (item) => str(budget, item));
  const html = isHtml(mark) || items.some(isHtml);
  if (!html) return joinTexts(ctx, str(budget, mark), items, (item) => str(budget, item));
  const escaped = (item: Value) => escapeValue(budget, item);
  return new Markup(joinTexts(ctx, escapeValue(budget, mark), items, escaped));
}

/** reversed(value), or null if Python's raises TypeError. */
function reversed(ctx: Context, value: Value): Iterator | null {
  const sequence =
    Array.isArray(value) ||
    value instanceof Tuple ||
    value instanceof Range ||
    value instanceof Markup ||
    typeof value === 'string' ||
    isDict(value) ||
    value instanceof DictView ||
    value instanceof Undefined;
  if (!sequence) return null;
  let items = value instanceof Range ? toList(ctx.budget, value) : elements(ctx.budget, value)!;
  // Walking backwards goes by index, and an index into Markup is Markup; walking forwards gives
  // plain text.
  if (value instanceof Markup) items = items.map((char) => new Markup(char as string));
  let i = items.length;
  return new Iterator(reversedName(value), () => (i > 0 ? orNone(items[--i]) : undefined));
}

function reversedName(value: Value): string {
  if (Array.isArray(value)) return 'list_reverseiterator';
  if (value instanceof Range) return 'range_iterator';
  if (value instanceof DictView) return `dict_reverse${value.part.slice(0, -1)}iterator`;
  return isDict(value) ? 'dict_reversekeyiterator' : 'reversed';
}

function reverse(ctx: Context, value: Value): Value {
  if (typeof value === 'string' || value instanceof Markup)
    return sliceValue(ctx, value, null, null, -1);
  const backwards = reversed(ctx, value);
  if (backwards !== null) return backwards;
  if (!isIterable(value)) throw filterArgumentError('argument must be iterable');
  return toList(ctx.budget, value).reverse();
}

function last(ctx: Context, value: Value): Value {
  const backwards = reversed(ctx, value);
  if (backwards === null) throw typeError(`'${typeName(value)}' object is not reversible`);
  return backwards.next() ?? emptyUnless(ctx, value, 'No last item, sequence was empty.');
}
const emptyUnless = (ctx: Context, value: Value, hint: string): Value => {
  if (value instanceof Undefined || (Array.isArray(value) && value.length === 0))
    return ctx.undefinedBecause(hint);
  return length(ctx.budget, value) === 0 ? ctx.undefinedBecause(hint) : null;
};

function first(ctx: Context, value: Value): Value {
  const item = iterator(ctx.budget, value).next();
  return item === undefined ? ctx.undefinedBecause('No first item, sequence was empty.') : item;
}

function random(ctx: Context, value: Value): Value {
  const size = length(ctx.budget, value);
  if (size === 0) return ctx.undefinedBecause('No random item, sequence was empty.');
  return ctx.subscript(value, Math.floor(Math.random() * size));
}

/** Rows of `size` items. */
function batch(ctx: Context, value: Value, size: Value, fill: Value = null): Value {
  let source: Iterator | null = null;
  let row: Value[] = [];
  return new Iterator(
    'generator',
    () => {
      source ??= iterator(ctx.budget, value);
      for (let item = source.next(); item !== undefined; item = source.next()) {
        ctx.budget.step(1);
        if (equals(ctx.budget, row.length, size)) {
          const done = row;
          row = [item];
          return done;
        }
        row.push(item);
      }
      if (row.length === 0) return undefined;
      const done = row;
      row = [];
      if (fill !== null && ordered(ctx.budget, '<', done.length, size)) {
        const missing = subtract(ctx.budget, size, done.length);
        for (const item of multiply(ctx.budget, [fill], missing) as Value[]) done.push(item);
      }
      return done;
    },
    'do_batch',
  );
}

/** `count` columns of nearly equal length. */
function slice(ctx: Context, value: Value, count: Value, fill: Value = null): Value {
  let items: Value[] | null = null;
  let number = 0;
  let offset = 0;
  return new Iterator(
    'generator',
    () => {
      items ??= toList(ctx.budget, value);
      // Python divides before it loops up to `count`, which decides the error for a wrong one.
      floorDivide(ctx.budget, items.length, count);
      const columns = toIndex(count);
      if (number >= columns) return undefined;
      const size = Math.floor(items.length / columns);
      const longer = items.length - size * columns;
      const start = offset + number * size;
      if (number < longer) offset++;
      ctx.budget.list(size + 1);
      const column = items.slice(start, offset + (number + 1) * size);
      if (fill !== null && number >= longer) column.push(fill);
      number++;
      return column;
    },
    'sync_do_slice',
  );
}

function items(ctx: Context, value: Value): Value {
  let source: Iterator | null = null;
  return new Iterator(
    'generator',
    () => {
      if (source === null) {
        if (!(value instanceof Undefined) && !isDict(value))
          throw typeError('Can only get item pairs from a mapping.');
        // The view's own iterator, which notices when the dict changes during the walk.
        const pairs = value instanceof Undefined ? [] : new DictView('items', value);
        source = iterator(ctx.budget, pairs);
      }
      return source.next();
    },
    'do_items',
  );
}

const count = native('', (ctx, value) => length(ctx.budget, value));
const fallback = native(
  '? default_value boolean',
  (_ctx, value, other: Value = '', boolean: Value = false) =>
    value instanceof Undefined || (truthy(boolean) && !truthy(value)) ? other : value,
);

export const sequenceFilters: Record<string, Native> = {
  attr: native('name', onlyAttribute),
  batch: native('linecount ? fill_with', batch),
  count,
  d: fallback,
  default: fallback,
  first: native('', first),
  items: native('', items),
  join: native('? d attribute', join),
  last: native('', last),
  length: count,
  list: native('', (ctx, value) => toList(ctx.budget, value)),
  random: native('', random),
  reverse: native('', reverse),
  slice: native('slices ? fill_with', slice),
  sum: native('? attribute start', sum),
};
