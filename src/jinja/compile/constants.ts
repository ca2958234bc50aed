// Evaluates constant expressions while compiling, where and as Jinja2's optimizer does. It is
// visible: `"<"|safe ~ "<"` folds to plain text, so leaving it out would change what templates
// print.
import { Budget } from '../budget.ts';
import { RunningContext } from '../context.ts';
import { LimitExceeded } from '../errors.ts';
import { invoke } from '../methods/signature.ts';
import type { Context, Engine, EvalContext } from '../running.ts';
import type * as n from '../syntax/nodes.ts';
import { getAttribute, getItem } from '../values/access.ts';
import { Dict, dictEntries, isDict } from '../values/dict.ts';
import { toList, truthy } from '../values/iterate.ts';
import { str } from '../values/repr.ts';
import {
  Float,
  GroupTuple,
  type Kwargs,
  Markup,
  PyObject,
  Range,
  Slice,
  Tuple,
  type Value,
} from '../values/types.ts';
import { Undefined } from '../values/undefined.ts';
import { binary, compare, unary } from './operator-functions.ts';

export const NOT_CONSTANT = Symbol('not constant');
type Constant = Value | typeof NOT_CONSTANT;

/** Compile-time escaping mode; volatile when only a render can know it. */
export interface StaticEvalContext {
  autoescape: boolean;
  volatile: boolean;
}

/**
 * Folding happens once per template and must stay small: anything bigger waits for a render and its
 * budget.
 */
const FOLD_LIMITS = {
  steps: 20_000,
  depth: 10,
  outputBytes: 10_000,
  stringLength: 10_000,
  items: 1_000,
  sourceLength: 0,
  // No clock: folding affects the output and must not depend on how busy the machine is.
  timeMs: Number.POSITIVE_INFINITY,
};

/** The same for all constants of a template together: ten thousand small ones would be 100 MB. */
const FOLD_STEPS = 100_000;

export class Folder {
  private readonly env: Engine;
  private readonly evalCtx: StaticEvalContext;
  /** Nodes known not to be constant, so that each is tried only once. */
  private readonly failed = new WeakSet<object>();
  /** Steps left for all constants of the template together. */
  private left = FOLD_STEPS;
  private spent: Budget | null = null;

  constructor(env: Engine, evalCtx: StaticEvalContext) {
    this.env = env;
    this.evalCtx = evalCtx;
  }

  /** The value of a constant expression, whatever its type. */
  fold(node: n.Expr): Constant {
    if (node.type === 'Const') return node.value;
    if (this.failed.has(node)) return NOT_CONSTANT;
    const value = this.evaluate(node);
    if (value === NOT_CONSTANT) this.failed.add(node);
    return value;
  }

  /** The same, only for values a compiled template may hold: no iterators, nothing undefined. */
  foldSafe(node: n.Expr): Constant {
    if (this.evalCtx.volatile) return NOT_CONSTANT;
    const value = this.fold(node);
    return value !== NOT_CONSTANT && isPlain(value) ? value : NOT_CONSTANT;
  }

  private context(): Context {
    this.left -= this.spent?.used ?? 0;
    if (this.left < 0) throw new LimitExceeded('steps', 'too many constants to evaluate');
    const budget = new Budget(FOLD_LIMITS);
    this.spent = budget;
    const evalCtx: EvalContext = { autoescape: this.evalCtx.autoescape };
    const modules = { templates: new Map(), imported: new Map(), globals: this.env.globals };
    return new RunningContext(
      { env: this.env, budget, modules },
      null,
      { get: () => undefined },
      evalCtx,
      new Map(),
    );
  }

  private evaluate(node: n.Expr): Constant {
    switch (node.type) {
      case 'Const':
        return node.value;
      case 'TemplateData':
        if (this.evalCtx.volatile) return NOT_CONSTANT;
        return this.evalCtx.autoescape ? new Markup(node.data) : node.data;
      case 'Tuple':
      case 'List': {
        const items = this.all(node.items);
        return items === null ? NOT_CONSTANT : node.type === 'Tuple' ? new Tuple(items) : items;
      }
      case 'Dict':
        return this.dict(node);
      case 'And':
      case 'Or': {
        const left = this.fold(node.left);
        if (left === NOT_CONSTANT) return NOT_CONSTANT;
        // As in Jinja2, a strict undefined whose truth is tested here fails before anything is
        // rendered.
        return truthy(left) === (node.type === 'And') ? this.fold(node.right) : left;
      }
      case 'CondExpr': {
        const test = this.fold(node.test);
        if (test === NOT_CONSTANT) return NOT_CONSTANT;
        const branch = truthy(test) ? node.expr1 : node.expr2;
        return branch === null ? NOT_CONSTANT : this.fold(branch);
      }
      case 'Binary':
        return this.apply([node.left, node.right], (ctx, [a, b]) =>
          binary(node.op)(ctx.budget, a, b),
        );
      case 'Not':
      case 'Neg':
      case 'Pos':
        return this.apply([node.node], (_ctx, [value]) => unary(node.type)(value));
      case 'Concat':
        return this.concat(node);
      case 'Compare':
        return this.compareChain(node);
      case 'Getattr':
        return this.apply([node.node], (ctx, [value]) => getAttribute(ctx, value, node.attr));
      case 'Getitem':
        return this.apply([node.node, node.arg], (ctx, [value, arg]) => getItem(ctx, value, arg));
      case 'Slice': {
        const parts = this.all([node.start, node.stop, node.step].map((part) => part ?? NONE));
        return parts === null ? NOT_CONSTANT : new Slice(parts[0], parts[1], parts[2]);
      }
      case 'Filter':
      case 'Test':
        return this.filterOrTest(node);
      default:
        return NOT_CONSTANT;
    }
  }

  private attempt(evaluate: () => Constant): Constant {
    try {
      return evaluate();
    } catch {
      // Whatever goes wrong goes wrong again while rendering, and is reported there.
      return NOT_CONSTANT;
    }
  }

  private all(nodes: n.Expr[]): Value[] | null {
    const values: Value[] = [];
    for (const node of nodes) {
      const value = this.fold(node);
      if (value === NOT_CONSTANT) return null;
      values.push(value);
    }
    return values;
  }

  private apply(nodes: n.Expr[], evaluate: (ctx: Context, values: Value[]) => Value): Constant {
    const values = this.all(nodes);
    return values === null ? NOT_CONSTANT : this.attempt(() => evaluate(this.context(), values));
  }

  /**
   * Piece by piece: as in Jinja2, what has no text (a strict undefined) fails here, before anything
   * is rendered.
   */
  private concat(node: n.Concat): Constant {
    const ctx = this.attempt(() => this.context());
    if (ctx === NOT_CONSTANT) return NOT_CONSTANT;
    const { budget } = ctx as Context;
    let text = '';
    for (const part of node.nodes) {
      const value = this.fold(part);
      if (value === NOT_CONSTANT) return NOT_CONSTANT;
      if (value instanceof Undefined && value.kind === 'strict') value.fail();
      const piece = this.attempt(() => str(budget, value));
      if (piece === NOT_CONSTANT) return NOT_CONSTANT;
      text += piece;
      if (text.length > FOLD_LIMITS.stringLength) return NOT_CONSTANT;
    }
    budget.step(text.length >> 4);
    return text;
  }

  /** Link by link: nothing is evaluated after one that is false. */
  private compareChain(node: n.Compare): Constant {
    const first = this.fold(node.expr);
    if (first === NOT_CONSTANT) return NOT_CONSTANT;
    return this.attempt(() => {
      const { budget } = this.context();
      let left: Value = first;
      let result: Value = true;
      for (const { op, expr } of node.ops) {
        const right = this.fold(expr);
        if (right === NOT_CONSTANT) return NOT_CONSTANT;
        result = compare(op)(budget, left, right);
        if (!result) return false;
        left = right;
      }
      return result;
    });
  }

  private dict(node: n.DictNode): Constant {
    // An unhashable key is the one fault Jinja2 reports while compiling, so its error is not caught
    // here, pair by pair.
    const dict = new Dict();
    for (const { key, value } of node.items) {
      const pair = this.all([key, value]);
      if (pair === null) return NOT_CONSTANT;
      dict.set(pair[0], pair[1]);
    }
    return dict;
  }

  private filterOrTest(node: n.Filter | n.Test): Constant {
    if (this.evalCtx.volatile || node.node === null) return NOT_CONSTANT;
    const entry = (node.type === 'Filter' ? this.env.filters : this.env.tests).get(node.name);
    if (entry === undefined || entry.usesContext) return NOT_CONSTANT;
    const args = this.all([...node.args, ...(node.dynArgs === null ? [] : [node.dynArgs])]);
    const kwargs = this.all([
      ...node.kwargs.map((kw) => kw.value),
      ...(node.dynKwargs === null ? [] : [node.dynKwargs]),
    ]);
    if (args === null || kwargs === null) return NOT_CONSTANT;
    return this.apply([node.node], (ctx, [value]) => {
      const extra = node.dynArgs === null ? [] : toList(ctx.budget, args.pop());
      const named: Kwargs = new Map(node.kwargs.map((kw, i) => [kw.key, kwargs[i]]));
      if (node.dynKwargs !== null)
        for (const [key, item] of dictEntries(ctx.budget, kwargs.at(-1) as Dict))
          named.set(String(key), item);
      return invoke(ctx, node.name, entry.fn, value, [...args, ...extra], named);
    });
  }
}

const NONE: n.Const = { type: 'Const', value: null, at: 0 };

/** Values Python code could spell out: what Jinja2 allows in compiled templates. */
function isPlain(value: Value): boolean {
  if (typeof value !== 'object' || value === null)
    return value !== undefined && typeof value !== 'function';
  if (value instanceof Float || value instanceof Markup || value instanceof Range) return true;
  if (Array.isArray(value)) return value.every(isPlain);
  if (value instanceof Tuple) return !(value instanceof GroupTuple) && value.items.every(isPlain);
  if (value instanceof PyObject && !(value instanceof Dict)) return false;
  return (value as Dict).entries().every(([key, item]) => isPlain(key) && isPlain(item));
}

/** True for constants that can be reused: those that nothing can change. */
export function isImmutable(value: Value): boolean {
  if (Array.isArray(value) || isDict(value)) return false;
  return value instanceof Tuple ? value.items.every(isImmutable) : true;
}
