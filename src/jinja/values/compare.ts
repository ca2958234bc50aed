// Equality and order of values, with Python's rules for mixed types. Used by operators, sorting and
// searching.
import type { Budget } from '../budget.ts';
import { tooDeep, typeError } from '../errors.ts';
import { type Dict, DictView, dictEntries, dictGet, dictSize, isDict, SetValue } from './dict.ts';
import { isNumber } from './numbers.ts';
import { Float, Markup, orNone, Range, Tuple, typeName, type Value } from './types.ts';
import { Undefined } from './undefined.ts';

const MOST_NESTING = 300;

/**
 * Numbers compare across int, float and bool; bigints compare exactly with floats in JavaScript
 * too.
 */
const bare = (value: number | bigint | boolean | Float): number | bigint =>
  value instanceof Float ? value.value : typeof value === 'boolean' ? Number(value) : value;

/** a == b */
export function equals(budget: Budget, a: Value, b: Value, depth = 0): boolean {
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length === b.length) budget.scan(a.length);
    return a === b;
  }
  if (typeof a === 'number' && typeof b === 'number') return a === b;
  if (isNumber(a)) {
    if (isNumber(b)) {
      const x = bare(a);
      const y = bare(b);
      // biome-ignore lint/suspicious/noDoubleEquals: a bigint and a number of the same value are equal only with ==
      return x == y;
    }
    return b instanceof Undefined && b.kind === 'strict' ? b.fail() : false;
  }
  if (a instanceof Undefined || b instanceof Undefined) return equalUndefined(a, b);
  if (a === b) return true;
  if (a instanceof Markup) return equals(budget, a.text, b instanceof Markup ? b.text : b);
  if (b instanceof Markup) return equals(budget, a, b.text);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (depth > MOST_NESTING) throw tooDeep('in comparison');
  if (Array.isArray(a)) return Array.isArray(b) && equalItems(budget, a, b, depth);
  if (a instanceof Tuple) return b instanceof Tuple && equalItems(budget, a.items, b.items, depth);
  if (isDict(a)) return isDict(b) && equalDicts(budget, a, b, depth);
  if (a instanceof Range) return b instanceof Range && equalRanges(a, b);
  if (isSet(a)) return isSet(b) && orderedSets(budget, '<=', a, b) && setSize(a) === setSize(b);
  return false;
}

function equalUndefined(a: Value, b: Value): boolean {
  if (a instanceof Undefined && a.kind === 'strict') return a.fail();
  if (b instanceof Undefined && b.kind === 'strict') return b.fail();
  return a instanceof Undefined && b instanceof Undefined && a.kind === b.kind;
}

function equalItems(budget: Budget, a: Value[], b: Value[], depth: number): boolean {
  if (a.length !== b.length) return false;
  budget.step(1 + (a.length >> 2));
  for (let i = 0; i < a.length; i++)
    if (!equals(budget, orNone(a[i]), orNone(b[i]), depth + 1)) return false;
  return true;
}

function equalDicts(
  budget: Budget,
  a: Dict | Record<string, Value>,
  b: Dict | Record<string, Value>,
  depth: number,
): boolean {
  const size = dictSize(a);
  if (size !== dictSize(b)) return false;
  budget.step(1 + size);
  for (const [key, value] of dictEntries(budget, a)) {
    const other = dictGet(b, key);
    if (other === undefined || !equals(budget, value, other, depth + 1)) return false;
  }
  return true;
}

const equalRanges = (a: Range, b: Range): boolean =>
  a.length === b.length &&
  (a.length === 0 || (a.start === b.start && (a.length === 1 || a.step === b.step)));

/** Key views and item views are sets; value views are equal only to themselves. */
const isSet = (value: Value): value is DictView | SetValue =>
  value instanceof DictView ? value.part !== 'values' : value instanceof SetValue;
const setSize = (set: DictView | SetValue): number =>
  set instanceof DictView ? dictSize(set.dict) : set.count();

function isMember(budget: Budget, set: DictView | SetValue, item: Value): boolean {
  if (set instanceof SetValue) return set.members.has(item);
  if (set.part === 'keys') return dictGet(set.dict, item) !== undefined;
  if (!(item instanceof Tuple) || item.items.length !== 2) return false;
  const value = dictGet(set.dict, item.items[0]);
  return value !== undefined && equals(budget, value, item.items[1]);
}

/** For sets, less means being a subset of the other. */
function orderedSets(
  budget: Budget,
  op: Order,
  a: DictView | SetValue,
  b: DictView | SetValue,
): boolean {
  if (!test(op, setSize(a), setSize(b))) return false;
  const [part, whole] = op === '<' || op === '<=' ? [a, b] : [b, a];
  budget.step(1 + setSize(part) * 2);
  const list = part instanceof DictView ? part.list(budget) : part.members.keys();
  return list.every((item) => isMember(budget, whole, item));
}

export type Order = '<' | '<=' | '>' | '>=';

/** a < b and the like; operands of types that cannot be compared are a TypeError. */
export function ordered(budget: Budget, op: Order, a: Value, b: Value, depth = 0): boolean {
  if (isNumber(a) && isNumber(b)) return test(op, bare(a), bare(b));
  const x = a instanceof Markup ? a.text : a;
  const y = b instanceof Markup ? b.text : b;
  if (typeof x === 'string' && typeof y === 'string') {
    budget.scan(Math.min(x.length, y.length));
    const order = compareText(x, y);
    return test(op, order, 0);
  }
  if (a instanceof Undefined) return a.fail();
  if (b instanceof Undefined) return b.fail();
  if (Array.isArray(a) && Array.isArray(b)) return orderedItems(budget, op, a, b, depth);
  if (a instanceof Tuple && b instanceof Tuple)
    return orderedItems(budget, op, a.items, b.items, depth);
  if (isSet(a) && isSet(b)) return orderedSets(budget, op, a, b);
  throw typeError(
    `'${op}' not supported between instances of '${typeName(a)}' and '${typeName(b)}'`,
  );
}

function test(op: Order, x: number | bigint, y: number | bigint): boolean {
  switch (op) {
    case '<':
      return x < y;
    case '<=':
      return x <= y;
    case '>':
      return x > y;
    default:
      return x >= y;
  }
}

function orderedItems(budget: Budget, op: Order, a: Value[], b: Value[], depth: number): boolean {
  if (depth > MOST_NESTING) throw tooDeep('in comparison');
  const shared = Math.min(a.length, b.length);
  budget.step(1 + (shared >> 2));
  for (let i = 0; i < shared; i++)
    if (!equals(budget, orNone(a[i]), orNone(b[i]), depth + 1))
      return ordered(budget, op, orNone(a[i]), orNone(b[i]), depth + 1);
  return test(op, a.length, b.length);
}

/**
 * Order by code point; UTF-16 order differs only where surrogates meet the characters above them.
 */
export function compareText(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  let i = 0;
  while (i < shared && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  // The second half of a surrogate pair means nothing without the first.
  if (i > 0 && (a.charCodeAt(i - 1) & 0xfc00) === 0xd800) i--;
  return i < shared ? a.codePointAt(i)! - b.codePointAt(i)! : a.length - b.length;
}

/** sorted(items, key=…): stable, only ever asking "is b less than a" as CPython does. */
export function sortBy(budget: Budget, items: Value[], keys: Value[], reverse: boolean): Value[] {
  budget.list(items.length);
  budget.step(items.length * Math.ceil(Math.log2(items.length + 1)));
  const order = items.map((_, i) => i);
  // reverse=True keeps equal elements in their order, as if the list were reversed before and
  // after.
  if (reverse) order.reverse();
  const sorted = mergeSort(order, (i, j) => ordered(budget, '<', keys[i], keys[j]));
  if (reverse) sorted.reverse();
  return sorted.map((i) => items[i]);
}

/**
 * Insertion sort with binary search, as CPython sorts runs up to 64: so that the same pair fails
 * first for mixed types.
 */
function binarySort(
  items: number[],
  start: number,
  less: (a: number, b: number) => boolean,
): number[] {
  for (let i = start; i < items.length; i++) {
    const pivot = items[i]!;
    let low = 0;
    let high = i;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (less(pivot, items[middle]!)) high = middle;
      else low = middle + 1;
    }
    items.splice(i, 1);
    items.splice(low, 0, pivot);
  }
  return items;
}

function mergeSort(items: number[], less: (a: number, b: number) => boolean): number[] {
  if (items.length < 2) return items;
  if (items.length < 64) {
    // CPython first measures the run the list starts with.
    let run = 2;
    if (less(items[1]!, items[0]!)) {
      while (run < items.length && less(items[run]!, items[run - 1]!)) run++;
      const head = items.slice(0, run).reverse();
      for (let i = 0; i < run; i++) items[i] = head[i]!;
    } else while (run < items.length && !less(items[run]!, items[run - 1]!)) run++;
    return binarySort(items, run, less);
  }
  const middle = items.length >> 1;
  const left = mergeSort(items.slice(0, middle), less);
  const right = mergeSort(items.slice(middle), less);
  const merged: number[] = [];
  let i = 0;
  let j = 0;
  while (i < left.length && j < right.length)
    merged.push(less(right[j]!, left[i]!) ? right[j++]! : left[i++]!);
  while (i < left.length) merged.push(left[i++]!);
  while (j < right.length) merged.push(right[j++]!);
  return merged;
}
