// How built-in functions, methods and filters take arguments: names, defaults, keywords, and
// Python's error messages about them. Used by methods/, filters/, tests.ts and globals.ts; a
// missing optional argument arrives as undefined.
import type { Budget } from '../budget.ts';
import { typeError } from '../errors.ts';
import type { Context, Native, Run } from '../running.ts';
import { quoteLong } from '../values/repr.ts';
import { Callable, type Kwargs, Markup, typeName, type Value } from '../values/types.ts';

/** `params` in order; those after a '?' entry are optional. */
export function native(params: string, run: Run): Native {
  return define(params, run, false, false);
}
/** The same, refusing keywords. */
export function positional(params: string, run: Run): Native {
  return define(params, run, true, false);
}
/** Takes everything: run(ctx, self, args: Value[], kwargs: Kwargs | null). */
export function variadic(run: Run): Native {
  return define('', run, false, true);
}
function define(params: string, run: Run, positionalOnly: boolean, rest: boolean): Native {
  const [needed, optional] = params.split('?') as [string, string | undefined];
  const names = (list: string | undefined) => (list ?? '').split(' ').filter(Boolean);
  return {
    params: [...names(needed), ...names(optional)],
    required: names(needed).length,
    run,
    positional: positionalOnly,
    rest,
  };
}

/**
 * Puts positional and keyword arguments into the order of the parameters. `owner` is the type a
 * method belongs to.
 */
export function bind(
  name: string,
  fn: Native,
  args: Value[],
  kwargs: Kwargs | null,
  owner = '',
): Value[] {
  const { params } = fn;
  if (fn.builtin !== undefined) return bindBuiltin(fn.builtin, params.length, args, kwargs);
  if (args.length > params.length) throw wrongCount(name, fn, args.length, owner);
  let bound = args;
  if (kwargs !== null && kwargs.size > 0) {
    const label = fn.python?.name ?? (owner === '' ? name : `${owner}.${name}`);
    if (fn.positional && fn.python === undefined)
      throw typeError(`${label}() takes no keyword arguments`);
    bound = args.slice();
    for (const [key, value] of kwargs) {
      const index = params.indexOf(key);
      if (index === -1) throw typeError(`${label}() got an unexpected keyword argument '${key}'`);
      if (index < args.length)
        throw typeError(`${label}() got multiple values for argument '${key}'`);
      bound[index] = value;
    }
  }
  const missing = params.slice(0, fn.required).filter((_, i) => bound[i] === undefined);
  if (missing.length > 0) {
    if (fn.python === undefined) throw wrongCount(name, fn, args.length, owner);
    const list = missing.map((param) => `'${param}'`).join(missing.length === 2 ? ' and ' : ', ');
    throw typeError(
      `${fn.python.name}() missing ${missing.length} required positional argument${missing.length === 1 ? '' : 's'}: ${list}`,
    );
  }
  return bound;
}

/** An exact number of arguments besides the value itself, none by name. */
function bindBuiltin(
  { name, module }: { name: string; module?: string },
  wanted: number,
  args: Value[],
  kwargs: Kwargs | null,
): Value[] {
  if (kwargs !== null && kwargs.size > 0)
    throw typeError(
      `${module === undefined ? '' : `${module}.`}${name}() takes no keyword arguments`,
    );
  if (args.length === wanted) return args;
  const given = args.length + 1;
  throw typeError(
    wanted === 0
      ? `${name}() takes exactly one argument (${given} given)`
      : `${name} expected ${wanted + 1} arguments, got ${given}`,
  );
}

/** Too many or too few arguments, worded as for functions written in Python, or in C. */
function wrongCount(name: string, fn: Native, given: number, owner: string) {
  const { required } = fn;
  const all = fn.params.length;
  const plural = (count: number) => (count === 1 ? 'argument' : 'arguments');
  if (fn.python !== undefined) {
    const [least, most] = [required + fn.python.hidden, all + fn.python.hidden];
    const range =
      least === most
        ? `${most} positional ${plural(most)}`
        : `from ${least} to ${most} positional arguments`;
    return typeError(
      `${fn.python.name}() takes ${range} but ${given + fn.python.hidden} were given`,
    );
  }
  const label = owner === '' ? name : `${owner}.${name}`;
  if (all === 0) return typeError(`${label}() takes no arguments (${given} given)`);
  if (all === 1 && required === 1)
    return typeError(`${label}() takes exactly one argument (${given} given)`);
  const bound = given > all ? all : required;
  return typeError(
    `${name} expected at ${given > all ? 'most' : 'least'} ${bound} ${plural(bound)}, got ${given}`,
  );
}

/** Calls a native function on `self`. */
export function invoke(
  ctx: Context,
  name: string,
  fn: Native,
  self: Value,
  args: Value[],
  kwargs: Kwargs | null,
): Value {
  if (fn.rest) return fn.run(ctx, self, args, kwargs);
  return fn.run(ctx, self, ...bind(name, fn, args, kwargs, self === null ? '' : typeName(self)));
}

/** A method detached from its object: `{% set up = name.upper %}`. */
export class BoundMethod extends Callable {
  readonly self: Value;
  readonly name: string;
  readonly fn: Native;
  constructor(self: Value, name: string, fn: Native) {
    super();
    this.self = self;
    this.name = name;
    this.fn = fn;
  }
  /**
   * Markup's methods are written in Python, those of str in C; this is visible when one is printed.
   */
  private get inPython(): boolean {
    return this.self instanceof Markup && !this.fn.shared;
  }
  get typeName() {
    return this.inPython ? 'method' : 'builtin_function_or_method';
  }
  override repr(budget: Budget): string {
    if (this.inPython)
      return `<bound method Markup.${this.name} of Markup(${quoteLong(budget, String(this.self))})>`;
    return `<built-in method ${this.name} of ${typeName(this.self)} object at 0x7f0000000000>`;
  }
  call(ctx: Context, args: Value[], kwargs: Kwargs | null): Value {
    return invoke(ctx, this.name, this.fn, this.self, args, kwargs);
  }
}

export type MethodTable = ReadonlyMap<string, Native>;
export const table = (methods: Record<string, Native>): MethodTable =>
  new Map(Object.entries(methods));
