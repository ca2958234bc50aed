// Iterating, counting and searching collections, as Python's iter(), len() and `in`. Used by for
// loops, filters and methods.
import type { Budget } from '../budget.ts';
import { TemplateRuntimeError, typeError } from '../errors.ts';
import { equals } from './compare.ts';
import {
  Dict,
  DictView,
  dictGet,
  dictKeys,
  dictSize,
  hashKey,
  isDict,
  payForKey,
  SetValue,
} from './dict.ts';
import { isInt } from './numbers.ts';
import { indexIn } from './search.ts';
import { codePoints, textLength } from './text.ts';
import { Iterator, Markup, orNone, PyObject, Range, Tuple, typeName, type Value } from './types.ts';
import { Undefined } from './undefined.ts';

/** Objects of the engine that can be iterated or counted beyond the plain collections. */
export interface IterableObject {
  iterate(budget: Budget): Iterator;
}
const isIterableObject = (value: Value): value is PyObject & IterableObject =>
  value instanceof PyObject && 'iterate' in value;

/**
 * The elements as an array that already exists (a list itself, a tuple's items, a dict's keys), or
 * null if the value must be walked step by step. The array must not be changed.
 */
export function elements(budget: Budget, value: Value): Value[] | null {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') {
    budget.list(value.length);
    return codePoints(value);
  }
  if (value instanceof Tuple) return value.items;
  if (value instanceof Markup) {
    budget.list(value.text.length);
    return codePoints(value.text);
  }
  if (value instanceof Undefined) return value.kind === 'strict' ? value.fail() : [];
  if (value instanceof DictView) {
    return value.list(budget);
  }
  if (isDict(value)) {
    return dictKeys(budget, value);
  }
  return null;
}

/** iter(value) */
export function iterator(budget: Budget, value: Value): Iterator {
  if (value instanceof Iterator) return value;
  if (value instanceof Range) {
    let i = 0;
    return new Iterator('range_iterator', () => (i < value.length ? value.at(i++) : undefined));
  }
  if (isIterableObject(value)) return value.iterate(budget);
  const list = elements(budget, value);
  if (list === null) throw notIterable(value);
  let i = 0;
  const dict =
    value instanceof Dict
      ? value
      : value instanceof DictView && value.dict instanceof Dict
        ? value.dict
        : null;
  const size = dict?.size;
  return new Iterator(iteratorName(value), () => {
    if (dict !== null && dict.size !== size && i <= list.length) {
      i = list.length + 1;
      throw new TemplateRuntimeError('dictionary changed size during iteration', 'RuntimeError');
    }
    return i < list.length ? orNone(list[i++]) : undefined;
  });
}

export const notIterable = (value: Value) =>
  typeError(`'${typeName(value)}' object is not iterable`);

function iteratorName(value: Value): string {
  if (typeof value === 'string' || value instanceof Markup) return 'str_iterator';
  if (isDict(value)) return 'dict_keyiterator';
  return `${typeName(value)}_iterator`;
}

export function isIterable(value: Value): boolean {
  return (
    typeof value === 'string' ||
    (typeof value === 'object' &&
      value !== null &&
      (!(value instanceof PyObject) ||
        value instanceof Markup ||
        value instanceof Tuple ||
        value instanceof Dict ||
        value instanceof DictView ||
        value instanceof Range ||
        value instanceof Iterator ||
        value instanceof Undefined ||
        isIterableObject(value)))
  );
}

/** list(value): always a new array. */
export function toList(budget: Budget, value: Value): Value[] {
  const list = elements(budget, value);
  if (list !== null) {
    budget.list(list.length);
    return Array.from(list, orNone);
  }
  const items: Value[] = [];
  const source = iterator(budget, value);
  for (let item = source.next(); item !== undefined; item = source.next()) {
    items.push(item);
    if ((items.length & 63) === 0) budget.list(items.length >> 6);
    budget.step(1);
    if (items.length > budget.limits.items) budget.list(items.length);
  }
  return items;
}

/** The elements to read: the existing array, or a new list. */
export const readList = (budget: Budget, value: Value): Value[] =>
  elements(budget, value) ?? toList(budget, value);

/** len(value), or null where Python raises TypeError. */
export function lengthOf(value: Value): number | null {
  if (typeof value === 'string') return textLength(value);
  if (Array.isArray(value)) return value.length;
  if (value instanceof Markup) return textLength(value.text);
  if (value instanceof Tuple) return value.items.length;
  if (value instanceof Range) return value.length;
  if (value instanceof DictView) return dictSize(value.dict);
  if (value instanceof Undefined) return value.kind === 'strict' ? value.fail() : 0;
  if (isDict(value)) return dictSize(value);
  if (value instanceof PyObject && 'count' in value) return (value as { count(): number }).count();
  return null;
}

export function length(budget: Budget, value: Value): number {
  if (typeof value === 'string') budget.measure(value);
  else if (value instanceof Markup) budget.measure(value.text);
  const size = lengthOf(value);
  if (size === null) throw typeError(`object of type '${typeName(value)}' has no len()`);
  if (size > 64 && isDict(value)) budget.step(size >> 2);
  return size;
}

/** bool(value) */
export function truthy(value: Value): boolean {
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'string':
      return value !== '';
    case 'number':
      return value !== 0;
    case 'bigint':
      return value !== 0n;
    case 'object':
      if (value === null) return false;
      if (Array.isArray(value)) return value.length > 0;
      if (value instanceof PyObject) return truthyObject(value);
      return dictSize(value as Record<string, Value>) > 0;
    default:
      return value !== undefined;
  }
}

function truthyObject(value: PyObject): boolean {
  if (value instanceof Markup) return value.text !== '';
  if (value instanceof Undefined) return value.kind === 'strict' ? value.fail() : false;
  if ('value' in value) return value.value !== 0;
  const size = lengthOf(value);
  return size === null || size > 0;
}

/** The very same object: texts are compared by equals(), which pays for it. */
const isSame = (a: Value, b: Value): boolean => typeof a !== 'string' && a === b;

/** `item in container` */
export function contains(budget: Budget, container: Value, item: Value): boolean {
  if (typeof container === 'string' || container instanceof Markup) {
    const text = typeof item === 'string' ? item : item instanceof Markup ? item.text : null;
    if (text === null)
      throw typeError(`'in <string>' requires string as left operand, not ${typeName(item)}`);
    const whole = String(container);
    budget.scan(whole.length + text.length);
    return indexIn(whole, text) !== -1;
  }
  if (isDict(container)) {
    payForKey(budget, item);
    if (container instanceof Dict) return container.has(item);
    const key = hashKey(item);
    return typeof key === 'string' && Object.hasOwn(container, key);
  }
  if (container instanceof DictView && container.part === 'keys')
    return contains(budget, container.dict, item);
  if (container instanceof DictView && container.part === 'items') {
    if (!(item instanceof Tuple) || item.items.length !== 2) return false;
    const found = dictGet(container.dict, item.items[0]!);
    return found !== undefined && equals(budget, found, item.items[1]!);
  }
  if (container instanceof SetValue) {
    payForKey(budget, item);
    return container.members.has(item);
  }
  if (container instanceof Range && isInt(item)) {
    const n = Number(item);
    const inside =
      container.step > 0
        ? n >= container.start && n < container.stop
        : n <= container.start && n > container.stop;
    return inside && (n - container.start) % container.step === 0;
  }
  if (!isIterable(container))
    throw typeError(`argument of type '${typeName(container)}' is not iterable`);
  const list = elements(budget, container);
  if (list !== null) {
    budget.step(1 + (list.length >> 2));
    for (const element of list)
      if (isSame(element, item) || equals(budget, orNone(element), item)) return true;
    return false;
  }
  const source = iterator(budget, container);
  for (let element = source.next(); element !== undefined; element = source.next()) {
    budget.step(1);
    if (equals(budget, element, item)) return true;
  }
  return false;
}
