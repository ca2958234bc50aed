// What every part of the compiler stands on: the environment, the source, folding, and how an error gets its place. First of a
// chain of classes, one per kind of thing compiled: operators.ts, calls.ts and expressions.ts come next, then statements.ts.
import { Budget } from '../budget.ts';
import type { Environment } from '../environment.ts';
import { type Location, locate, TemplateAssertionError, TemplateRuntimeError } from '../errors.ts';
import type { Activation } from '../runtime/activation.ts';
import type * as n from '../syntax/nodes.ts';
import { ownCopy } from '../values/copy.ts';
import { Dict } from '../values/dict.ts';
import { toFloat } from '../values/numbers.ts';
import { Float, Tuple, type Value } from '../values/types.ts';
import { Folder, isImmutable, type StaticEvalContext } from './constants.ts';
import type { Frame } from './frame.ts';

/** A compiled expression: takes the running activation, answers the value. */
export type Evaluate = (a: Activation) => Value;

export interface Source {
  readonly name: string | null;
  readonly text: string;
}

export abstract class CompilerBase {
  protected readonly env: Environment;
  protected readonly source: Source;
  protected readonly evalCtx: StaticEvalContext;
  protected readonly folder: Folder;
  /** What compiling may cost, counted in steps alone: a busy machine must not make a template a wrong one. */
  protected readonly work: Budget;
  /** Expressions and statements compiled so far: how much a body has of them is what running it costs. */
  protected parts = 0;
  private counted = { at: 0, line: 1 };

  constructor(env: Environment, source: Source) {
    this.env = env;
    this.source = source;
    this.evalCtx = { autoescape: env.autoescapeFor(source.name), volatile: false };
    this.folder = new Folder(env, this.evalCtx);
    const steps = env.limits.steps / 2;
    this.work = new Budget({ ...env.limits, steps, timeMs: Number.POSITIVE_INFINITY });
  }

  /** A closure for an expression; constant ones are evaluated now. */
  abstract expression(node: n.Expr, frame: Frame): Evaluate;

  protected place(at: number): Location {
    return { templateName: this.source.name, source: this.source.text, offset: at };
  }

  protected fail(message: string, at: number): never {
    throw locate(new TemplateAssertionError(message), this.place(at));
  }

  protected lineOf(at: number): number {
    // Asked in the order of the source, nearly: counted on from where it was asked last.
    const { text } = this.source;
    if (at < this.counted.at) this.counted = { at: 0, line: 1 };
    for (let i = this.counted.at; i < at; i++) if (text.charCodeAt(i) === 10) this.counted.line++;
    this.counted.at = at;
    return this.counted.line;
  }

  /** Adds the place to whatever the closure throws. */
  protected located(at: number, evaluate: Evaluate): Evaluate {
    const place = this.place(at);
    return (a) => {
      try {
        return evaluate(a);
      } catch (error) {
        throw locate(error, place);
      }
    };
  }

  /** What running the code compiled by `compile` costs beyond what it pays itself: next to nothing unless it is very long. */
  protected weighed<Code>(compile: () => Code): { code: Code; cost: number } {
    const before = this.parts;
    const code = compile();
    return { code, cost: (this.parts - before) >> 5 };
  }

  protected constant(value: Value): Evaluate {
    // Jinja2 writes constants into Python code, where inf and nan are names nobody defined.
    const unnamed = findNonFinite(value);
    if (unnamed !== null)
      return () => {
        throw new TemplateRuntimeError(`name '${unnamed}' is not defined`, 'NameError');
      };
    if (isImmutable(value)) return () => value;
    return (a) => ownCopy(a.ctx.budget, value);
  }
}

/** `inf` or `nan`, whichever stands first in the Python spelling of a constant. */
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
