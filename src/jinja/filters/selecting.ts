// The filters that walk a sequence lazily and pass on some of it, or something made from each item:
// map, select, reject, unique.

import { filterArgumentError, TemplateRuntimeError } from '../errors.ts';
import { invoke, native, variadic } from '../methods/signature.ts';
import type { Context, Native } from '../running.ts';
import { hashKey, payForKey } from '../values/dict.ts';
import { iterator, truthy } from '../values/iterate.ts';
import { quote, repr } from '../values/repr.ts';
import { Iterator, type Kwargs, Markup, type Value } from '../values/types.ts';
import { Undefined } from '../values/undefined.ts';
import { attrgetter, type Getter } from './attribute-getter.ts';

/** A lazy sequence, as Python's generators: work is done on demand, once. */
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

/** map and select first test the truth of their input, then check their arguments, then iterate. */
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

function map(ctx: Context, value: Value, args: Value[], kwargs: Kwargs | null): Value {
  return generateIf(ctx, value, 'sync_do_map', () => mapper(ctx, args, kwargs));
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

function unique(
  ctx: Context,
  value: Value,
  caseSensitive: Value = false,
  attribute?: Value,
): Value {
  const get = attrgetter(ctx, attribute, !truthy(caseSensitive));
  const seen = new Set<unknown>();
  return generate(ctx, value, 'sync_do_unique', (item) => {
    const found = get(item);
    payForKey(ctx.budget, found);
    const key = hashKey(found);
    if (seen.has(key)) return undefined;
    seen.add(key);
    ctx.budget.step(2);
    return item;
  });
}

export const selectingFilters: Record<string, Native> = {
  map: variadic(map),
  reject: chooser(false, false),
  rejectattr: chooser(false, true),
  select: chooser(true, false),
  selectattr: chooser(true, true),
  unique: native('? case_sensitive attribute', unique),
};
