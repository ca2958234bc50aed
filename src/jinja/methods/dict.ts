// The methods of dict and of its views.

import { keyError, typeError, valueError } from '../errors.ts';
import type { Context } from '../running.ts';
import {
  Dict,
  DictView,
  dictEntries,
  dictGet,
  dictSize,
  isDict,
  payForKey,
} from '../values/dict.ts';
import { contains, isIterable, iterator, toList } from '../values/iterate.ts';
import { repr } from '../values/repr.ts';
import { type Kwargs, Tuple, type Value } from '../values/types.ts';
import { Undefined } from '../values/undefined.ts';
import { type MethodTable, positional, table, variadic } from './signature.ts';

type AnyDict = Dict | Record<string, Value>;

/** The dict to change: once the render owns its data there are no plain objects left in it. */
function owned(ctx: Context, dict: AnyDict): Dict {
  ctx.budget.mutate();
  if (dict instanceof Dict) return dict;
  throw typeError('this dictionary cannot be changed by a template');
}

export function copyDict(ctx: Context, dict: AnyDict): Dict {
  ctx.budget.list(dictSize(dict) * 2);
  const copy = new Dict();
  for (const [key, value] of dictEntries(ctx.budget, dict)) copy.set(key, value);
  return copy;
}

/** dict(), dict.update(): from a mapping or pairs, then keywords. */
export function fillDict(
  ctx: Context,
  dict: Dict,
  name: string,
  args: Value[],
  kwargs: Kwargs | null,
): void {
  if (args.length > 1) throw typeError(`${name} expected at most 1 argument, got ${args.length}`);
  if (args.length === 1) {
    const [source] = args;
    if (source instanceof Undefined) source.fail();
    if (isDict(source))
      for (const [key, value] of dictEntries(ctx.budget, source)) put(ctx, dict, key, value);
    else fillFromPairs(ctx, dict, source);
  }
  if (kwargs !== null) for (const [key, value] of kwargs) put(ctx, dict, key, value);
}

function put(ctx: Context, dict: Dict, key: Value, value: Value): void {
  ctx.budget.step(4);
  payForKey(ctx.budget, key);
  if (dict.size >= ctx.budget.limits.items) ctx.budget.list(dict.size + 1);
  dict.set(key, value);
}

function fillFromPairs(ctx: Context, dict: Dict, source: Value): void {
  const pairs = iterator(ctx.budget, source);
  let i = 0;
  for (let pair = pairs.next(); pair !== undefined; pair = pairs.next(), i++) {
    if (!isIterable(pair))
      throw typeError(`cannot convert dictionary update sequence element #${i} to a sequence`);
    const items = toList(ctx.budget, pair);
    if (items.length !== 2)
      throw valueError(
        `dictionary update sequence element #${i} has length ${items.length}; 2 is required`,
      );
    put(ctx, dict, items[0], items[1]);
  }
}

export const dictMethods: MethodTable = table({
  clear: positional('', (ctx, dict: AnyDict) => {
    owned(ctx, dict).clear();
    return null;
  }),
  copy: positional('', (ctx, dict: AnyDict) => copyDict(ctx, dict)),
  fromkeys: positional('iterable ? value', (ctx, _dict: AnyDict, keys, value) => {
    const made = new Dict();
    for (const key of toList(ctx.budget, keys)) put(ctx, made, key, value ?? null);
    return made;
  }),
  get: positional('key ? default', (ctx, dict: AnyDict, key, fallback) => {
    payForKey(ctx.budget, key);
    const found = dictGet(dict, key);
    return found === undefined ? (fallback ?? null) : found;
  }),
  items: positional('', (_ctx, dict: AnyDict) => new DictView('items', dict)),
  keys: positional('', (_ctx, dict: AnyDict) => new DictView('keys', dict)),
  pop: positional('key ? default', (ctx, dict: AnyDict, key, fallback) => {
    const target = owned(ctx, dict);
    const found = target.get(key);
    if (found === undefined && fallback === undefined) throw keyError(repr(ctx.budget, key));
    target.delete(key);
    return found === undefined ? fallback : found;
  }),
  popitem: positional('', (ctx, dict: AnyDict) => {
    const target = owned(ctx, dict);
    const last = dictEntries(ctx.budget, target).at(-1);
    if (last === undefined) throw keyError("'popitem(): dictionary is empty'");
    target.delete(last[0]);
    return new Tuple(last);
  }),
  setdefault: positional('key ? default', (ctx, dict: AnyDict, key, fallback) => {
    const target = owned(ctx, dict);
    const found = target.get(key);
    if (found !== undefined) return found;
    put(ctx, target, key, fallback ?? null);
    return fallback ?? null;
  }),
  update: variadic((ctx, dict: AnyDict, args: Value[], kwargs: Kwargs | null) => {
    fillDict(ctx, owned(ctx, dict), 'update', args, kwargs);
    return null;
  }),
  values: positional('', (_ctx, dict: AnyDict) => new DictView('values', dict)),
});

/** Of keys() and items(); values() has none. */
export const viewMethods: MethodTable = table({
  isdisjoint: positional('other', (ctx, view: DictView, other) => {
    return !toList(ctx.budget, other).some((item) => contains(ctx.budget, view, item));
  }),
});
