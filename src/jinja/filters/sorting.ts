// The filters that put a sequence in order by comparing its items: sort, dictsort, groupby, min,
// max.

import { filterArgumentError } from '../errors.ts';
import { native } from '../methods/signature.ts';
import type { Context, Native } from '../running.ts';
import { ignoreCase } from '../values/building.ts';
import { equals, ordered, sortBy } from '../values/compare.ts';
import { pairsOf } from '../values/dict.ts';
import { iterator, toList, truthy } from '../values/iterate.ts';
import { toIndex } from '../values/numbers.ts';
import { GroupTuple, Markup, Tuple, type Value } from '../values/types.ts';
import { attrgetter } from './attribute-getter.ts';

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
  // One list of keys for each item.
  ctx.budget.step(items.length * (1 + parts.length));
  const getters = parts.map((part) => attrgetter(ctx, part, lower));
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
  const pairs = pairsOf(ctx.budget, value);
  const backwards = toIndex(reverse) !== 0;
  const position = by === 'key' ? 0 : 1;
  const keys = pairs.map((pair) =>
    truthy(caseSensitive) ? pair[position] : ignoreCase(ctx.budget, pair[position]),
  );
  ctx.budget.list(pairs.length * 2);
  return sortBy(
    ctx.budget,
    pairs.map((pair) => new Tuple(pair)),
    keys,
    backwards,
  );
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

export const sortingFilters: Record<string, Native> = {
  dictsort: native('? case_sensitive by reverse', dictsort),
  groupby: native('attribute ? default case_sensitive', groupby),
  max: extreme('max'),
  min: extreme('min'),
  sort: native('? reverse case_sensitive attribute', sort),
};
