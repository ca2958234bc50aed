// All builtin tests by name: what may follow `is`.

import { type MethodTable, native, table } from './methods/signature.ts';
import type { Context, Native } from './running.ts';
import { equals, type Order, ordered } from './values/compare.ts';
import { Complex } from './values/complex.ts';
import { DictView, hashKey, isDict, payForKey } from './values/dict.ts';
import { contains, isIterable } from './values/iterate.ts';
import { isFloat, isInt, isNumber } from './values/numbers.ts';
import { modulo } from './values/operators.ts';
import { isHtml, str } from './values/repr.ts';
import { isLower, isUpper } from './values/text.ts';
import { Callable, Markup, Range, Tuple, type Value, WithAttributes } from './values/types.ts';
import { Undefined } from './values/undefined.ts';

const isString = (value: Value): boolean => typeof value === 'string' || value instanceof Markup;

/** len() and [ ] both work. */
function isSequence(value: Value): boolean {
  if (value instanceof Undefined) return value.kind !== 'strict';
  if (value instanceof DictView) return false;
  return (
    isString(value) ||
    Array.isArray(value) ||
    value instanceof Tuple ||
    value instanceof Range ||
    isDict(value)
  );
}

function isCallable(value: Value): boolean {
  if (typeof value === 'function' || value instanceof Undefined) return true;
  // Objects with attributes can be called only if they define how.
  return value instanceof Callable && value.call !== WithAttributes.prototype.call;
}

function scanned(ctx: Context, value: Value): string {
  const text = str(ctx.budget, value);
  ctx.budget.step(text.length >> 3);
  return text;
}

const divisible = (ctx: Context, value: Value, by: Value, rest: number): boolean =>
  equals(ctx.budget, modulo(ctx.budget, value, by), rest);
const order = (op: Order): Native =>
  native('other', (ctx, value, other) => ordered(ctx.budget, op, value, other));
const equal = native('other', (ctx, value, other) => equals(ctx.budget, value, other));
const unequal = native('other', (ctx, value, other) => !equals(ctx.budget, value, other));
const [less, lessEqual, greater, greaterEqual] = [order('<'), order('<='), order('>'), order('>=')];
const is = (test: (value: Value) => boolean): Native => native('', (_ctx, value) => test(value));

function iterable(value: Value): boolean {
  if (value instanceof Undefined && value.kind === 'strict') return value.fail();
  return isIterable(value);
}

const all: Record<string, Native> = {
  odd: native('', (ctx, value) => divisible(ctx, value, 2, 1)),
  even: native('', (ctx, value) => divisible(ctx, value, 2, 0)),
  divisibleby: native('num', (ctx, value, by) => divisible(ctx, value, by, 0)),
  defined: is((value) => !(value instanceof Undefined)),
  undefined: is((value) => value instanceof Undefined),
  filter: native('', (ctx, name) => {
    payForKey(ctx.budget, name);
    return ctx.env.filters.has(hashKey(name) as string);
  }),
  test: native('', (ctx, name) => {
    payForKey(ctx.budget, name);
    return ctx.env.tests.has(hashKey(name) as string);
  }),
  none: is((value) => value === null),
  boolean: is((value) => typeof value === 'boolean'),
  false: is((value) => value === false),
  true: is((value) => value === true),
  integer: is((value) => isInt(value) && typeof value !== 'boolean'),
  float: is(isFloat),
  lower: native('', (ctx, value) => isLower(scanned(ctx, value))),
  upper: native('', (ctx, value) => isUpper(scanned(ctx, value))),
  string: is(isString),
  mapping: is(isDict),
  number: is((value) => isNumber(value) || value instanceof Complex),
  sequence: is(isSequence),
  iterable: is(iterable),
  callable: is(isCallable),
  sameas: native('other', (_ctx, value, other) => value === other),
  escaped: is(isHtml),
  in: native('seq', (ctx, value, seq) => contains(ctx.budget, seq, value)),
  '==': equal,
  eq: equal,
  equalto: equal,
  '!=': unequal,
  ne: unequal,
  '>': greater,
  gt: greater,
  greaterthan: greater,
  ge: greaterEqual,
  '>=': greaterEqual,
  '<': less,
  lt: less,
  lessthan: less,
  '<=': lessEqual,
  le: lessEqual,
};

/** Named as in Jinja2 for error messages; the comparisons come from Python's operator module. */
function asInPython(name: string, fn: Native): Native {
  const operator = OPERATORS.get(fn);
  if (operator !== undefined) return { ...fn, builtin: { name: operator, module: '_operator' } };
  if (name === 'callable') return { ...fn, builtin: { name } };
  return { ...fn, python: { name: `test_${name}`, hidden: GIVEN_ENVIRONMENT.has(name) ? 2 : 1 } };
}
const OPERATORS = new Map<Native, string>([
  [equal, 'eq'],
  [unequal, 'ne'],
  [less, 'lt'],
  [lessEqual, 'le'],
  [greater, 'gt'],
  [greaterEqual, 'ge'],
]);
const GIVEN_ENVIRONMENT = new Set(['filter', 'test']);

export const tests: MethodTable = table(
  Object.fromEntries(Object.entries(all).map(([name, fn]) => [name, asInPython(name, fn)])),
);
