// What filters take from each item by `attribute='a.b.0'`. Before the filters that select, sort and join.
import type { Context } from '../context.ts';
import { getItem } from '../values/access.ts';
import { isDigit } from '../values/text.ts';
import { Markup, type Value } from '../values/types.ts';
import { Undefined } from '../values/undefined.ts';

/** `a.b.0` as a list of keys; digits are indexes. */
function attributePath(attribute: Value): Value[] {
  if (attribute === null || attribute === undefined) return [];
  if (typeof attribute !== 'string' && !(attribute instanceof Markup)) return [attribute];
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

export const ignoreCase = (value: Value): Value =>
  typeof value === 'string'
    ? value.toLowerCase()
    : value instanceof Markup
      ? new Markup(value.text.toLowerCase())
      : value;
