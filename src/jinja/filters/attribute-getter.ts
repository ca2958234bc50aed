// What filters read from each item by `attribute='a.b.0'`. After it: the filters that select, sort
// and join.
import type { Context } from '../running.ts';
import { getItem } from '../values/access.ts';
import { ignoreCase } from '../values/building.ts';
import { isDigit } from '../values/text.ts';
import { Markup, type Value } from '../values/types.ts';
import { Undefined } from '../values/undefined.ts';

/** `a.b.0` as a list of keys; digits are indexes. */
function attributePath(ctx: Context, attribute: Value): Value[] {
  if (attribute === null || attribute === undefined) return [];
  if (typeof attribute !== 'string' && !(attribute instanceof Markup)) return [attribute];
  ctx.budget.list(String(attribute).length);
  return String(attribute)
    .split('.')
    .map((part) => (isDigit(part) ? Number(part) : part));
}

export type Getter = (item: Value) => Value;

export function attrgetter(
  ctx: Context,
  attribute: Value,
  lower = false,
  fallback?: Value,
): Getter {
  const path = attributePath(ctx, attribute);
  const hasFallback = fallback !== undefined && fallback !== null;
  return (item) => {
    let value = item;
    ctx.budget.step(path.length);
    for (const part of path) {
      value = getItem(ctx, value, part);
      if (hasFallback && value instanceof Undefined) value = fallback;
    }
    return lower ? ignoreCase(ctx.budget, value) : value;
  };
}
