// How built-in functions, methods and filters take arguments: names, defaults, keywords, and Python's complaints about them.
// Used by methods/, filters/, tests.ts and globals.ts; a missing optional argument arrives as undefined.
import type { Context } from '../context.ts';
import { typeError } from '../errors.ts';
import { quote } from '../values/repr.ts';
import { Callable, type Kwargs, Markup, typeName, type Value } from '../values/types.ts';

// biome-ignore lint/suspicious/noExplicitAny: arguments were bound by `params`, each implementation names what it gets
export type Run = (ctx: Context, self: any, ...args: any[]) => Value;

export interface Native {
  readonly params: readonly string[];
  /** How many of `params` must be given. */
  readonly required: number;
  readonly run: Run;
  /** Parameters by position only, as most methods written in C. */
  readonly positional: boolean;
  /** Takes any arguments: run(ctx, self, args, kwargs). */
  readonly rest: boolean;
  /** A method Markup inherits from str unchanged. */
  readonly shared?: boolean;
}

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

/** Puts positional and keyword arguments into the order of the parameters. */
export function bind(name: string, fn: Native, args: Value[], kwargs: Kwargs | null): Value[] {
  const { params } = fn;
  if (args.length > params.length)
    throw typeError(
      params.length === 0
        ? `${name}() takes no arguments (${args.length} given)`
        : `${name}() takes at most ${params.length} argument${params.length === 1 ? '' : 's'} (${args.length} given)`,
    );
  let bound = args;
  if (kwargs !== null && kwargs.size > 0) {
    if (fn.positional) throw typeError(`${name}() takes no keyword arguments`);
    bound = args.slice();
    for (const [key, value] of kwargs) {
      const index = params.indexOf(key);
      if (index === -1) throw typeError(`${name}() got an unexpected keyword argument '${key}'`);
      if (index < args.length)
        throw typeError(`${name}() got multiple values for argument '${key}'`);
      bound[index] = value;
    }
  }
  for (let i = 0; i < fn.required; i++)
    if (bound[i] === undefined)
      throw typeError(`${name}() missing required argument: '${params[i]}'`);
  return bound;
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
  return fn.run(ctx, self, ...bind(name, fn, args, kwargs));
}

/** A method taken off its object: `{% set up = name.upper %}`. */
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
  /** Markup's methods are written in Python, those of str in C; it shows when one is printed. */
  private get inPython(): boolean {
    return this.self instanceof Markup && !this.fn.shared;
  }
  get typeName() {
    return this.inPython ? 'method' : 'builtin_function_or_method';
  }
  override repr(): string {
    if (this.inPython)
      return `<bound method Markup.${this.name} of Markup(${quote(String(this.self))})>`;
    return `<built-in method ${this.name} of ${typeName(this.self)} object at 0x7f0000000000>`;
  }
  call(ctx: Context, args: Value[], kwargs: Kwargs | null): Value {
    return invoke(ctx, this.name, this.fn, this.self, args, kwargs);
  }
}

export type MethodTable = ReadonlyMap<string, Native>;
export const table = (methods: Record<string, Native>): MethodTable =>
  new Map(Object.entries(methods));
