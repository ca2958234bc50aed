// Calling what a template calls: our own callables, and functions the host put into the globals or
// the data.

import type { Budget } from './budget.ts';
import { NeedsOwnData, TemplateError, TemplateRuntimeError, typeError } from './errors.ts';
import { variadic } from './methods/signature.ts';
import type { Context, Native } from './running.ts';
import { ownCopy } from './values/copy.ts';
import { Dict, dictEntries } from './values/dict.ts';
import {
  Callable,
  Float,
  type Kwargs,
  Markup,
  Tuple,
  typeName,
  type Value,
} from './values/types.ts';
import { Undefined } from './values/undefined.ts';

/**
 * A function of the host: gets plain JavaScript values, keyword arguments as an object at the end.
 */
// biome-ignore lint/suspicious/noExplicitAny: hosts write functions with the parameters they need
export type HostFunction = (...args: any[]) => unknown;

export function callValue(
  ctx: Context,
  callee: Value,
  args: Value[],
  kwargs: Kwargs | null,
): Value {
  ctx.budget.step(1);
  if (callee instanceof Callable) return callee.call(ctx, args, kwargs);
  if (typeof callee === 'function') return callHost(ctx, callee as HostFunction, args, kwargs);
  if (callee instanceof Undefined) return callee.fail();
  throw typeError(`'${typeName(callee)}' object is not callable`);
}

export function callHost(
  ctx: Context,
  fn: HostFunction,
  args: Value[],
  kwargs: Kwargs | null,
): Value {
  const plain = args.map((arg) => toHost(ctx.budget, arg, 0));
  if (kwargs !== null && kwargs.size > 0)
    plain.push(
      Object.fromEntries([...kwargs].map(([key, value]) => [key, toHost(ctx.budget, value, 0)])),
    );
  let result: Value;
  try {
    result = fn(...plain);
  } catch (error) {
    if (error instanceof TemplateError || error instanceof NeedsOwnData) throw error;
    throw new TemplateRuntimeError(
      error instanceof Error ? error.message : String(error),
      'Error',
      error,
    );
  }
  if (result === undefined) return null;
  return ctx.budget.ownsData ? ownCopy(ctx.budget, result) : result;
}

/** A host function as filter or test. */
export const hostFilter = (fn: HostFunction): Native =>
  variadic((ctx, value: Value, args: Value[], kwargs: Kwargs | null) =>
    callHost(ctx, fn, [value, ...args], kwargs),
  );

/** The JavaScript value a host function sees. */
export function toHost(budget: Budget, value: Value, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > 50) return value;
  if (value instanceof Float) return value.value;
  if (value instanceof Markup) return value.text;
  if (value instanceof Undefined) return undefined;
  const items = value instanceof Tuple ? value.items : value;
  if (Array.isArray(items)) {
    budget.list(items.length);
    return items.map((item) => toHost(budget, item, depth + 1));
  }
  if (value instanceof Dict)
    return Object.fromEntries(
      dictEntries(budget, value).map(([key, item]) => [
        String(toHost(budget, key, 0)),
        toHost(budget, item, depth + 1),
      ]),
    );
  return value;
}
