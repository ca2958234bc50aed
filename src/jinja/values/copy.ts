// A render's own copy of the data it was given, made when a template is about to change it
// (list.append, dict.update …).
import type { Budget } from '../budget.ts';
import { tooDeep } from '../errors.ts';
import { Dict, dictEntries, isDict } from './dict.ts';
import { GroupTuple, orNone, Tuple, type Value } from './types.ts';

const MOST_NESTING = 300;

/**
 * Copies lists, tuples and dicts all the way down; shared and cyclic parts stay shared and cyclic.
 */
export function ownCopy(
  budget: Budget,
  value: Value,
  seen = new Map<object, Value>(),
  depth = 0,
): Value {
  if (typeof value !== 'object' || value === null) return value;
  const known = seen.get(value);
  if (known !== undefined) return known;
  if (depth > MOST_NESTING) throw tooDeep('the data is nested too deeply');
  if (Array.isArray(value)) {
    budget.list(value.length);
    const copy: Value[] = [];
    seen.set(value, copy);
    for (const item of value) copy.push(ownCopy(budget, orNone(item), seen, depth + 1));
    return copy;
  }
  if (value instanceof Tuple) {
    budget.list(value.items.length);
    const items: Value[] = [];
    const copy = value instanceof GroupTuple ? new GroupTuple(items) : new Tuple(items);
    seen.set(value, copy);
    for (const item of value.items) items.push(ownCopy(budget, item, seen, depth + 1));
    return copy;
  }
  if (!isDict(value)) return value;
  const copy = new Dict();
  seen.set(value, copy);
  for (const [key, item] of dictEntries(budget, value)) {
    budget.step(4);
    copy.set(key, ownCopy(budget, item, seen, depth + 1));
  }
  return copy;
}
