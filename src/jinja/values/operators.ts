// The operators of expressions: + - * / // % ** ~ and the unary ones, for numbers, strings, lists,
// tuples and Markup.
import type { Budget } from '../budget.ts';
import { overflowError, typeError } from '../errors.ts';
import { formatPercent } from '../format/percent.ts';
import { DictView, payForKey, SetValue } from './dict.ts';
import { iterator, toList } from './iterate.ts';
import * as numbers from './numbers.ts';
import { escapeLongText, escapeValue, isHtml, str } from './repr.ts';
import { codePoints } from './text.ts';
import { Float, Markup, Tuple, typeName, type Value } from './types.ts';
import { Undefined } from './undefined.ts';

function unsupported(op: string, a: Value, b: Value): never {
  if (a instanceof Undefined) return a.fail();
  if (b instanceof Undefined) return b.fail();
  throw typeError(`unsupported operand type(s) for ${op}: '${typeName(a)}' and '${typeName(b)}'`);
}

export function add(budget: Budget, a: Value, b: Value): Value {
  if (
    typeof a === 'number' &&
    typeof b === 'number' &&
    Number.isSafeInteger(a) &&
    Number.isSafeInteger(b)
  ) {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  if (typeof a === 'string' && typeof b === 'string') {
    budget.text(a.length + b.length);
    return a + b;
  }
  if (numbers.isNumber(a) && numbers.isNumber(b)) return numbers.addNumbers(budget, a, b);
  if (a instanceof Markup && (typeof b === 'string' || isHtml(b)))
    return markup(budget, a.text, escapeValue(budget, b));
  // The left side comes first: an undefined there fails before Markup on the right is considered.
  if (a instanceof Undefined) return unsupported('+', a, b);
  if (b instanceof Markup && (typeof a === 'string' || isHtml(a)))
    return markup(budget, escapeValue(budget, a), b.text);
  if (b instanceof Undefined) return unsupported('+', a, b);
  if (Array.isArray(a) && Array.isArray(b)) {
    budget.list(a.length + b.length);
    return [...a, ...b];
  }
  if (a instanceof Tuple && b instanceof Tuple) {
    budget.list(a.items.length + b.items.length);
    return new Tuple([...a.items, ...b.items]);
  }
  const sequence =
    typeof a === 'string' ? 'str' : Array.isArray(a) ? 'list' : a instanceof Tuple ? 'tuple' : null;
  if (sequence !== null)
    throw typeError(`can only concatenate ${sequence} (not "${typeName(b)}") to ${sequence}`);
  return unsupported('+', a, b);
}

function markup(budget: Budget, left: string, right: string): Markup {
  budget.text(left.length + right.length);
  return new Markup(left + right);
}

export function subtract(budget: Budget, a: Value, b: Value): Value {
  if (
    typeof a === 'number' &&
    typeof b === 'number' &&
    Number.isSafeInteger(a) &&
    Number.isSafeInteger(b)
  ) {
    const difference = a - b;
    if (Number.isSafeInteger(difference)) return difference;
  }
  if (numbers.isNumber(a) && numbers.isNumber(b)) return numbers.subtractNumbers(budget, a, b);
  if (isView(a) || (isView(b) && !(a instanceof Undefined))) return difference(budget, a, b);
  if (a instanceof SetValue && b instanceof SetValue) return difference(budget, a, b);
  return unsupported('-', a, b);
}

const isView = (value: Value): boolean => value instanceof DictView && value.part !== 'values';

/**
 * What is in `a` and not in `b`; if one side is a view, the other may be anything that can be
 * iterated.
 */
function difference(budget: Budget, a: Value, b: Value): SetValue {
  const set = new SetValue();
  for (const item of toList(budget, a)) {
    budget.step(4);
    payForKey(budget, item);
    set.members.set(item, null);
  }
  const without = iterator(budget, b);
  for (let item = without.next(); item !== undefined; item = without.next()) {
    budget.step(2);
    payForKey(budget, item);
    set.members.delete(item);
  }
  return set;
}

export function multiply(budget: Budget, a: Value, b: Value): Value {
  if (numbers.isNumber(a) && numbers.isNumber(b)) return numbers.multiplyNumbers(budget, a, b);
  if (a instanceof Undefined || (b instanceof Undefined && !(a instanceof Markup)))
    return unsupported('*', a, b);
  if (b instanceof Markup) return repeat(budget, b, a);
  if (isSequence(a)) return repeat(budget, a, b);
  if (isSequence(b)) return repeat(budget, b, a);
  return unsupported('*', a, b);
}

const isSequence = (value: Value): value is string | Markup | Value[] | Tuple =>
  typeof value === 'string' ||
  value instanceof Markup ||
  Array.isArray(value) ||
  value instanceof Tuple;

function repeat(budget: Budget, sequence: string | Markup | Value[] | Tuple, times: Value): Value {
  if (!numbers.isInt(times) && sequence instanceof Markup)
    throw typeError(`'${typeName(times)}' object cannot be interpreted as an integer`);
  if (!numbers.isInt(times))
    throw typeError(`can't multiply sequence by non-int of type '${typeName(times)}'`);
  // A count that fits 64 bits is merely too long; beyond that, Python cannot represent it.
  if (typeof times === 'bigint' && BigInt.asIntN(64, times) !== times)
    throw overflowError("cannot fit 'int' into an index-sized integer");
  const count = Math.max(0, Number(times));
  if (typeof sequence === 'string') return repeatText(budget, sequence, count);
  if (sequence instanceof Markup) return new Markup(repeatText(budget, sequence.text, count));
  const items = Array.isArray(sequence) ? sequence : sequence.items;
  budget.list(items.length * count);
  const out: Value[] = [];
  if (items.length > 0) for (let i = 0; i < count; i++) for (const item of items) out.push(item);
  return Array.isArray(sequence) ? out : new Tuple(out);
}

function repeatText(budget: Budget, text: string, count: number): string {
  // The same for the characters of the result; a float is precise enough for this.
  if (text.length * count >= 2 ** 63 && codePoints(text).length * count >= 2 ** 63)
    throw overflowError('repeated string is too long');
  budget.text(text.length * count);
  return text.repeat(text === '' ? 0 : count);
}

export function divide(budget: Budget, a: Value, b: Value): Value {
  return numbers.isNumber(a) && numbers.isNumber(b)
    ? numbers.divideNumbers(budget, a, b)
    : unsupported('/', a, b);
}
export function floorDivide(budget: Budget, a: Value, b: Value): Value {
  return numbers.isNumber(a) && numbers.isNumber(b)
    ? numbers.floorDivide(budget, a, b)
    : unsupported('//', a, b);
}
export function modulo(budget: Budget, a: Value, b: Value): Value {
  if (numbers.isNumber(a) && numbers.isNumber(b)) return numbers.modulo(budget, a, b);
  if (typeof a === 'string') return formatPercent(budget, a, b, false);
  if (a instanceof Markup) return new Markup(formatPercent(budget, a.text, b, true));
  return unsupported('%', a, b);
}
export function power(budget: Budget, a: Value, b: Value): Value {
  return numbers.isNumber(a) && numbers.isNumber(b)
    ? numbers.power(budget, a, b)
    : unsupported('** or pow()', a, b);
}

export function negative(value: Value): Value {
  if (typeof value === 'number') return value === 0 ? 0 : -value;
  if (numbers.isNumber(value)) return numbers.negate(value);
  if (value instanceof Undefined) return value.fail();
  throw typeError(`bad operand type for unary -: '${typeName(value)}'`);
}

export function positive(value: Value): Value {
  if (typeof value === 'boolean') return Number(value);
  if (numbers.isNumber(value) || value instanceof Float) return value;
  if (value instanceof Undefined) return value.fail();
  throw typeError(`bad operand type for unary +: '${typeName(value)}'`);
}

/**
 * `a ~ b`: all as text; with autoescape, one Markup makes the result Markup and escapes the others.
 */
export function concatenate(budget: Budget, values: Value[], autoescape: boolean): Value {
  const html = autoescape && values.some((value) => value instanceof Markup);
  let text = '';
  for (const value of values) {
    const part = str(budget, value);
    text += html && !(value instanceof Markup) ? escapeLongText(budget, part) : part;
  }
  budget.text(text.length);
  return html ? new Markup(text) : text;
}
