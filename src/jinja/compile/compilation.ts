// One template being compiled, as a record passed to every part of the compiler: the environment,
// the source, folding, what was seen so far, and how an error gets its position.
// compile-template.ts makes it; all other files here take it first.
import { Budget } from '../budget.ts';
import { type Location, locate, TemplateAssertionError, TemplateRuntimeError } from '../errors.ts';
import type { Engine } from '../running.ts';
import type { Activation } from '../runtime/activation.ts';
import type * as n from '../syntax/nodes.ts';
import { ownCopy } from '../values/copy.ts';
import { Dict } from '../values/dict.ts';
import { toFloat } from '../values/numbers.ts';
import { Float, Tuple, type Value } from '../values/types.ts';
import { Folder, isImmutable, type StaticEvalContext } from './constants.ts';
import type { Frame } from './frame.ts';
import type { Symbols } from './symbols.ts';

/** A compiled expression: takes the running activation, returns the value. */
export type Evaluate = (a: Activation) => Value;

/** A compiled statement; returns what it asks of the loop around it. */
export type Execute = (a: Activation) => Signal;
export type Signal = 0 | 1 | 2;
export const NEXT: Signal = 0;
export const BREAK: Signal = 1;
export const CONTINUE: Signal = 2;

/** How the variables visible at a position are read, by name. */
export type Reads = Map<string, (a: Activation) => Value | undefined>;

export interface Source {
  readonly name: string | null;
  readonly text: string;
}

/**
 * Parts of a template contain other parts: these two compile any of them, so that no files import
 * each other.
 */
export interface Compilers {
  /** A closure for an expression; constant ones are evaluated now. */
  expression(c: Compilation, node: n.Expr, frame: Frame): Evaluate;
  /** Statements one after another. */
  body(c: Compilation, nodes: n.Stmt[], frame: Frame): Execute;
}

export interface Compilation {
  readonly expression: (node: n.Expr, frame: Frame) => Evaluate;
  readonly body: (nodes: n.Stmt[], frame: Frame) => Execute;
  readonly env: Engine;
  readonly source: Source;
  readonly evalCtx: StaticEvalContext;
  readonly folder: Folder;
  /**
   * What compiling may cost, counted in steps alone: a busy machine must not make a template
   * invalid.
   */
  readonly work: Budget;
  /** By frame: all includes of one see the same variables. */
  readonly reads: Map<Symbols, Reads>;
  /**
   * Expressions and statements compiled so far: their number in a body is what running it costs.
   */
  parts: number;
  /** How many computed expressions surround the one being compiled. */
  computing: number;
  extendsSoFar: number;
  /** Set once a parent template is certain: what follows writes nothing. */
  hasKnownExtends: boolean;
  /** Set when nothing after a statement can run. */
  deadCode: boolean;
  /** Lines counted up to an offset. */
  counted: { at: number; line: number };
}

export function newCompilation(
  env: Engine,
  source: Source,
  { expression, body }: Compilers,
): Compilation {
  const evalCtx = { autoescape: env.autoescapeFor(source.name), volatile: false };
  const steps = env.limits.steps / 2;
  const c: Compilation = {
    expression: (node, frame) => expression(c, node, frame),
    body: (nodes, frame) => body(c, nodes, frame),
    env,
    source,
    evalCtx,
    folder: new Folder(env, evalCtx),
    work: new Budget({ ...env.limits, steps, timeMs: Number.POSITIVE_INFINITY }),
    reads: new Map(),
    parts: 0,
    computing: 0,
    extendsSoFar: 0,
    hasKnownExtends: false,
    deadCode: false,
    counted: { at: 0, line: 1 },
  };
  return c;
}

export function placeOf(c: Compilation, at: number): Location {
  return { templateName: c.source.name, source: c.source.text, offset: at };
}

export function fail(c: Compilation, message: string, at: number): never {
  throw locate(new TemplateAssertionError(message), placeOf(c, at));
}

/** Called nearly in source order, so counting continues from the last offset. */
export function lineOf(c: Compilation, at: number): number {
  const { text } = c.source;
  if (at < c.counted.at) c.counted = { at: 0, line: 1 };
  for (let i = c.counted.at; i < at; i++) if (text.charCodeAt(i) === 10) c.counted.line++;
  c.counted.at = at;
  return c.counted.line;
}

/** Adds the position to whatever the closure throws. */
export function located(c: Compilation, at: number, evaluate: Evaluate): Evaluate {
  const place = placeOf(c, at);
  return (a) => {
    try {
      return evaluate(a);
    } catch (error) {
      throw locate(error, place);
    }
  };
}

/**
 * What running the code compiled by `compile` costs beyond what it pays itself: almost nothing
 * unless it is very long.
 */
export function weighed<Code>(c: Compilation, compile: () => Code): { code: Code; cost: number } {
  const before = c.parts;
  const code = compile();
  return { code, cost: (c.parts - before) >> 5 };
}

export function constantCode(value: Value): Evaluate {
  // Jinja2 writes constants into Python code, where inf and nan are names nobody defined.
  const unnamed = findNonFinite(value);
  if (unnamed !== null)
    return () => {
      throw new TemplateRuntimeError(`name '${unnamed}' is not defined`, 'NameError');
    };
  if (isImmutable(value)) return () => value;
  return (a) => ownCopy(a.ctx.budget, value);
}

/** `inf` or `nan`, whichever comes first in the Python spelling of a constant. */
function findNonFinite(value: Value): string | null {
  if (value instanceof Float || typeof value === 'number') {
    const number = toFloat(value);
    return Number.isNaN(number) ? 'nan' : Number.isFinite(number) ? null : 'inf';
  }
  if (value instanceof Dict) return findNonFinite(value.entries().flat());
  const items = Array.isArray(value) ? value : value instanceof Tuple ? value.items : [];
  for (const item of items) {
    const found = findNonFinite(item);
    if (found !== null) return found;
  }
  return null;
}
