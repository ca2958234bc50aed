// The methods of list, tuple and range.

import { callValue } from '../calls.ts';
import { indexError, typeError, valueError } from '../errors.ts';
import type { Context } from '../running.ts';
import { equals, sortBy } from '../values/compare.ts';
import { toList } from '../values/iterate.ts';
import { toIndex } from '../values/numbers.ts';
import { repr } from '../values/repr.ts';
import { type Kwargs, orNone, type Range, type Tuple, type Value } from '../values/types.ts';
import { invoke, type MethodTable, native, positional, table, variadic } from './signature.ts';

const clip = (index: number, size: number): number =>
  index < 0 ? Math.max(0, index + size) : Math.min(index, size);

function indexOf(ctx: Context, items: Value[], item: Value, start: Value, stop: Value): number {
  ctx.budget.step(1 + (items.length >> 2));
  const from = start === undefined ? 0 : clip(toIndex(start), items.length);
  const to = stop === undefined ? items.length : clip(toIndex(stop), items.length);
  for (let i = from; i < to; i++) if (equals(ctx.budget, orNone(items[i]), item)) return i;
  return -1;
}

function count(ctx: Context, items: Value[], item: Value): number {
  ctx.budget.step(1 + (items.length >> 2));
  return items.filter((element) => equals(ctx.budget, orNone(element), item)).length;
}

function pop(ctx: Context, list: Value[], at: Value): Value {
  ctx.budget.mutate();
  if (list.length === 0) throw indexError('pop from empty list');
  const index = at === undefined ? list.length - 1 : toIndex(at);
  const position = index < 0 ? index + list.length : index;
  if (position < 0 || position >= list.length) throw indexError('pop index out of range');
  ctx.budget.step((list.length - position) >> 8);
  return list.splice(position, 1)[0];
}

const sort = native('? key reverse', (ctx, list: Value[], key, reverse) => {
  ctx.budget.mutate();
  const backwards = reverse !== undefined && toIndex(reverse) !== 0;
  const keys =
    key === undefined || key === null
      ? list
      : list.map((item) => callValue(ctx, key, [orNone(item)], null));
  const sorted = sortBy(ctx.budget, list, keys, backwards);
  for (let i = 0; i < sorted.length; i++) list[i] = sorted[i];
  return null;
});

export const listMethods: MethodTable = table({
  append: positional('object', (ctx, list: Value[], item) => {
    ctx.budget.mutate();
    if (list.length >= ctx.budget.limits.items) ctx.budget.list(list.length + 1);
    list.push(item);
    return null;
  }),
  clear: positional('', (ctx, list: Value[]) => {
    ctx.budget.mutate();
    list.length = 0;
    return null;
  }),
  copy: positional('', (ctx, list: Value[]) => toList(ctx.budget, list)),
  count: positional('value', (ctx, list: Value[], item) => count(ctx, list, item)),
  extend: positional('iterable', (ctx, list: Value[], more) => {
    ctx.budget.mutate();
    const items = toList(ctx.budget, more);
    ctx.budget.list(list.length + items.length);
    for (const item of items) list.push(item);
    return null;
  }),
  index: positional('value ? start stop', (ctx, list: Value[], item, start, stop) => {
    const at = indexOf(ctx, list, item, start, stop);
    if (at === -1) throw valueError(`${repr(ctx.budget, item)} is not in list`);
    return at;
  }),
  insert: positional('index object', (ctx, list: Value[], at, item) => {
    ctx.budget.mutate();
    ctx.budget.list(list.length + 1);
    list.splice(clip(toIndex(at), list.length), 0, item);
    return null;
  }),
  pop: positional('? index', pop),
  remove: positional('value', (ctx, list: Value[], item) => {
    ctx.budget.mutate();
    const at = indexOf(ctx, list, item, undefined, undefined);
    if (at === -1) throw valueError('list.remove(x): x not in list');
    list.splice(at, 1);
    return null;
  }),
  reverse: positional('', (ctx, list: Value[]) => {
    ctx.budget.mutate();
    ctx.budget.step(list.length >> 4);
    list.reverse();
    return null;
  }),
  sort: variadic((ctx, list: Value[], args: Value[], kwargs: Kwargs | null) => {
    if (args.length > 0) throw typeError('sort() takes no positional arguments');
    return invoke(ctx, 'sort', sort, list, args, kwargs);
  }),
});

export const tupleMethods: MethodTable = table({
  count: positional('value', (ctx, tuple: Tuple, item) => count(ctx, tuple.items, item)),
  index: positional('value ? start stop', (ctx, tuple: Tuple, item, start, stop) => {
    const at = indexOf(ctx, tuple.items, item, start, stop);
    if (at === -1) throw valueError('tuple.index(x): x not in tuple');
    return at;
  }),
});

export const rangeMethods: MethodTable = table({
  count: positional('value', (ctx, range: Range, item) =>
    count(ctx, toList(ctx.budget, range), item),
  ),
  index: positional('value', (ctx, range: Range, item) => {
    const at = indexOf(ctx, toList(ctx.budget, range), item, undefined, undefined);
    if (at === -1) throw valueError(`${repr(ctx.budget, item)} is not in range`);
    return at;
  }),
});
