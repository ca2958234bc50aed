// The filters that work on lists and dictionaries: selecting, sorting, grouping, joining, cutting into rows.
import type { Context } from '../context.ts';
import { attributeError, filterArgumentError, TemplateRuntimeError, typeError } from '../errors.ts';
import { invoke, type Native, native, variadic } from '../methods/signature.ts';
import { joinTexts } from '../methods/str-parts.ts';
import { getItem, onlyAttribute, slice as sliceValue } from '../values/access.ts';
import { equals, ordered, sortBy } from '../values/compare.ts';
import { elements, isIterable, iterator, length, toList, truthy } from '../values/iterate.ts';
import { toIndex } from '../values/numbers.ts';
import { add, floorDivide, multiply, subtract } from '../values/operators.ts';
import { escapeValue, isHtml, quote, repr, str } from '../values/repr.ts';
import { isDigit } from '../values/text.ts';
import {
  DictView,
  dictEntries,
  GroupTuple,
  hashKey,
  Iterator,
  isDict,
  type Kwargs,
  Markup,
  orNone,
  Range,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from '../values/types.ts';

/** `a.b.0` as a list of keys; digits are indexes. */
function attributePath(attribute: Value): Value[] {
  if (attribute === null || attribute === undefined) return [];
  if (typeof attribute !== 'string' && !(attribute instanceof Markup)) return [attribute];
  return String(attribute)
    .split('.')
    .map((part) => (isDigit(part) ? Number(part) : part));
}

type Getter = (item: Value) => Value;

function attrgetter(ctx: Context, attribute: Value, lower = false, fallback?: Value): Getter {
  const path = attributePath(attribute);
  const hasFallback = fallback !== undefined && fallback !== null;
  return (item) => {
    let value = item;
    for (const part of path) {
      value = getItem(ctx, value, part);
      if (hasFallback && value instanceof Undefined) value = fallback;
    }
    return lower ? ignoreCase(value) : value;
  };
}

const ignoreCase = (value: Value): Value =>
  typeof value === 'string'
    ? value.toLowerCase()
    : value instanceof Markup
      ? new Markup(value.text.toLowerCase())
      : value;

/** A lazy sequence, as Python's generators: work is done when it is asked for, once. */
function generate(
  ctx: Context,
  value: Value,
  label: string,
  each: (item: Value) => Value | undefined,
): Iterator {
  let source: Iterator | null = null;
  return new Iterator(
    'generator',
    () => {
      source ??= iterator(ctx.budget, value);
      for (let item = source.next(); item !== undefined; item = source.next()) {
        ctx.budget.step(1);
        const result = each(item);
        if (result !== undefined) return result;
      }
      return undefined;
    },
    label,
  );
}

function map(ctx: Context, value: Value, args: Value[], kwargs: Kwargs | null): Value {
  return generateIf(ctx, value, 'sync_do_map', () => mapper(ctx, args, kwargs));
}

/** map and select look at the truth of what they are given first, then at their arguments, then iterate. */
function generateIf(
  ctx: Context,
  value: Value,
  label: string,
  prepare: () => (item: Value) => Value | undefined,
): Iterator {
  let started = false;
  let inner: Iterator | null = null;
  return new Iterator(
    'generator',
    () => {
      if (!started) {
        started = true;
        if (truthy(value)) inner = generate(ctx, value, label, prepare());
      }
      return inner === null ? undefined : inner.next();
    },
    label,
  );
}

function mapper(ctx: Context, args: Value[], kwargs: Kwargs | null): Getter {
  if (args.length === 0 && kwargs?.has('attribute')) {
    const extra = [...kwargs.keys()].find((key) => key !== 'attribute' && key !== 'default');
    if (extra !== undefined)
      throw filterArgumentError(`Unexpected keyword argument ${quote(extra)}`);
    return attrgetter(ctx, kwargs.get('attribute'), false, kwargs.get('default'));
  }
  if (args.length === 0) throw filterArgumentError('map requires a filter argument');
  const [name, ...rest] = args;
  let entry: Native | null = null;
  return (item) => {
    entry ??= registered(ctx, 'filter', name);
    return invoke(ctx, String(name), entry, item, rest, kwargs);
  };
}

function registered(ctx: Context, kind: 'filter' | 'test', name: Value): Native {
  const key = typeof name === 'string' ? name : name instanceof Markup ? name.text : null;
  const entry =
    key === null ? undefined : (kind === 'filter' ? ctx.env.filters : ctx.env.tests).get(key);
  if (entry !== undefined) return entry.fn;
  hashKey(name);
  let message = `No ${kind} named ${name instanceof Undefined ? 'Undefined' : repr(ctx.budget, name)}.`;
  if (name instanceof Undefined)
    message += ` (${name.error().message}; did you forget to quote the callable name?)`;
  throw new TemplateRuntimeError(message);
}

/** select, reject and their attr variants. */
function chooser(keep: boolean, byAttribute: boolean): Native {
  return variadic((ctx, value: Value, args: Value[], kwargs: Kwargs | null) => {
    const prepare = (): ((item: Value) => boolean) => {
      let rest = args;
      let get: Getter = (item) => item;
      if (byAttribute) {
        if (rest.length === 0) throw filterArgumentError('Missing parameter for attribute name');
        get = attrgetter(ctx, rest[0]);
        rest = rest.slice(1);
      }
      if (rest.length === 0) return (item) => truthy(get(item)) === keep;
      const [name, ...testArgs] = rest;
      let entry: Native | null = null;
      return (item) => {
        const subject = get(item);
        entry ??= registered(ctx, 'test', name);
        return truthy(invoke(ctx, String(name), entry, subject, testArgs, kwargs)) === keep;
      };
    };
    return generateIf(ctx, value, 'select_or_reject', () => {
      const test = prepare();
      return (item) => (test(item) ? item : undefined);
    });
  });
}

function sort(
  ctx: Context,
  value: Value,
  reverse: Value = false,
  caseSensitive: Value = false,
  attribute?: Value,
): Value {
  const items = toList(ctx.budget, value);
  const backwards = toIndex(reverse) !== 0;
  const lower = !truthy(caseSensitive);
  const parts =
    typeof attribute === 'string' || attribute instanceof Markup
      ? String(attribute).split(',')
      : [attribute];
  const getters = parts.map((part) => attrgetter(ctx, part, lower));
  ctx.budget.list(items.length);
  return sortBy(
    ctx.budget,
    items,
    items.map((item) => getters.map((get) => get(item))),
    backwards,
  );
}

function dictsort(
  ctx: Context,
  value: Value,
  caseSensitive: Value = false,
  by: Value = 'key',
  reverse: Value = false,
): Value {
  if (by !== 'key' && by !== 'value')
    throw filterArgumentError('You can only sort by either "key" or "value"');
  const pairs = pairsOf(ctx, value);
  const backwards = toIndex(reverse) !== 0;
  const position = by === 'key' ? 0 : 1;
  const keys = pairs.map((pair) =>
    truthy(caseSensitive) ? pair[position] : ignoreCase(pair[position]),
  );
  ctx.budget.list(pairs.length * 2);
  return sortBy(
    ctx.budget,
    pairs.map((pair) => new Tuple(pair)),
    keys,
    backwards,
  );
}

/** value.items() */
export function pairsOf(_ctx: Context, value: Value): [Value, Value][] {
  if (value instanceof Undefined) return value.fail();
  if (!isDict(value)) throw attributeError(`'${typeName(value)}' object has no attribute 'items'`);
  return dictEntries(value);
}

function groupby(
  ctx: Context,
  value: Value,
  attribute: Value,
  fallback?: Value,
  caseSensitive: Value = false,
): Value {
  const { budget } = ctx;
  const lower = !truthy(caseSensitive);
  const get = attrgetter(ctx, attribute, lower, fallback);
  const items = toList(budget, value);
  const sorted = sortBy(budget, items, items.map(get), false);
  const groups: { key: Value; items: Value[] }[] = [];
  for (const item of sorted) {
    const key = get(item);
    const last = groups.at(-1);
    if (last !== undefined && equals(budget, last.key, key)) last.items.push(item);
    else groups.push({ key, items: [item] });
  }
  const shown = lower ? attrgetter(ctx, attribute, false, fallback) : null;
  budget.list(groups.length * 4);
  return groups.map(
    (group) => new GroupTuple([shown === null ? group.key : shown(group.items[0]), group.items]),
  );
}

function unique(
  ctx: Context,
  value: Value,
  caseSensitive: Value = false,
  attribute?: Value,
): Value {
  const get = attrgetter(ctx, attribute, !truthy(caseSensitive));
  const seen = new Set<unknown>();
  return generate(ctx, value, 'sync_do_unique', (item) => {
    const key = hashKey(get(item));
    if (seen.has(key)) return undefined;
    seen.add(key);
    ctx.budget.step(2);
    return item;
  });
}

function extreme(which: 'min' | 'max'): Native {
  return native(
    '? case_sensitive attribute',
    (ctx, value, caseSensitive: Value = false, attribute?: Value) => {
      const source = iterator(ctx.budget, value);
      let best = source.next();
      if (best === undefined)
        return ctx.undefinedBecause('No aggregated item, sequence was empty.');
      const get = attrgetter(ctx, attribute, !truthy(caseSensitive));
      let bestKey = get(best);
      for (let item = source.next(); item !== undefined; item = source.next()) {
        ctx.budget.step(1);
        const key = get(item);
        if (ordered(ctx.budget, which === 'min' ? '<' : '>', key, bestKey)) {
          best = item;
          bestKey = key;
        }
      }
      return best;
    },
  );
}

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

/** reversed(value), or null where Python's raises TypeError. */
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
  // Walking backwards goes by index, and an index into Markup is Markup; walking forwards gives plain text.
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
      // Python divides before it counts to `count`: it decides how a wrong one is refused.
      floorDivide(ctx.budget, items.length, count);
      const columns = toIndex(count);
      if (number >= columns) return undefined;
      const size = Math.floor(items.length / columns);
      const longer = items.length - size * columns;
      const start = offset + number * size;
      if (number < longer) offset++;
      const column = items.slice(start, offset + (number + 1) * size);
      if (fill !== null && number >= longer) column.push(fill);
      number++;
      ctx.budget.list(column.length);
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
        // The view's own iterator, which notices when the dict changes underneath.
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
  dictsort: native('? case_sensitive by reverse', dictsort),
  first: native('', first),
  groupby: native('attribute ? default case_sensitive', groupby),
  items: native('', items),
  join: native('? d attribute', join),
  last: native('', last),
  length: count,
  list: native('', (ctx, value) => toList(ctx.budget, value)),
  map: variadic(map),
  max: extreme('max'),
  min: extreme('min'),
  random: native('', random),
  reject: chooser(false, false),
  rejectattr: chooser(false, true),
  reverse: native('', reverse),
  select: chooser(true, false),
  selectattr: chooser(true, true),
  slice: native('slices ? fill_with', slice),
  sort: native('? reverse case_sensitive attribute', sort),
  sum: native('? attribute start', sum),
  unique: native('? case_sensitive attribute', unique),
};
