// Expression trees to closures. Each closure takes the running activation and answers a value; errors leave with their place.
import { Budget } from '../budget.ts';
import { callValue } from '../calls.ts';
import type { Context } from '../context.ts';
import type { Environment } from '../environment.ts';
import {
  type Location,
  locate,
  TemplateAssertionError,
  TemplateRuntimeError,
  TemplateSyntaxError,
  typeError,
} from '../errors.ts';
import { bind, invoke, type Native } from '../methods/signature.ts';
import { type Activation, LoopContext } from '../runtime.ts';
import type * as n from '../syntax/nodes.ts';
import { getAttribute, getItem, isDictMethod, methodsOf, slice } from '../values/access.ts';
import { ownCopy } from '../values/copy.ts';
import { isIterable, toList, truthy } from '../values/iterate.ts';
import { isNumber, toFloat } from '../values/numbers.ts';
import { concatenate, negative } from '../values/operators.ts';
import { quote } from '../values/repr.ts';
import {
  Dict,
  dictEntries,
  Float,
  isDict,
  type Kwargs,
  Markup,
  PyObject,
  Tuple,
  typeName,
  Undefined,
  type Value,
  WithAttributes,
} from '../values/types.ts';
import { Folder, isImmutable, NOT_CONSTANT, type StaticEvalContext } from './constants.ts';
import type { Frame } from './frame.ts';
import { binary, compare, unary } from './operations.ts';
import type { Slot } from './symbols.ts';

export type Evaluate = (a: Activation) => Value;

export interface Source {
  readonly name: string | null;
  readonly text: string;
}

export class ExpressionCompiler {
  protected readonly env: Environment;
  protected readonly source: Source;
  protected readonly evalCtx: StaticEvalContext;
  protected readonly folder: Folder;
  /** What compiling may cost, counted in steps alone: a busy machine must not make a template a wrong one. */
  protected readonly work: Budget;

  constructor(env: Environment, source: Source) {
    this.env = env;
    this.source = source;
    this.evalCtx = { autoescape: env.autoescapeFor(source.name), volatile: false };
    this.folder = new Folder(env, this.evalCtx);
    const steps = env.limits.steps / 2;
    this.work = new Budget({ ...env.limits, steps, timeMs: Number.POSITIVE_INFINITY });
  }

  protected place(at: number): Location {
    return { templateName: this.source.name, source: this.source.text, offset: at };
  }

  protected fail(message: string, at: number): never {
    throw locate(new TemplateAssertionError(message), this.place(at));
  }

  protected lineOf(at: number): number {
    return this.source.text.slice(0, at).split('\n').length;
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

  /** A closure for an expression; constant ones are evaluated now. */
  expression(node: n.Expr, frame: Frame): Evaluate {
    switch (node.type) {
      case 'Const':
        return this.constant(node.value);
      case 'Name':
        return this.name(node, frame);
      case 'Tuple': {
        const items = node.items.map((item) => this.expression(item, frame));
        return (a) => new Tuple(items.map((item) => item(a)));
      }
      case 'List': {
        const items = node.items.map((item) => this.expression(item, frame));
        return (a) => {
          a.ctx.budget.list(items.length);
          return items.map((item) => item(a));
        };
      }
      case 'Dict':
        return this.dict(node, frame);
      case 'TemplateData': {
        const { data } = node;
        return (a) => (a.ctx.evalCtx.autoescape ? new Markup(data) : data);
      }
      case 'NSRef':
      case 'Slice':
        // A slice among several subscripts: Jinja2's Python code does not compile.
        throw locate(new TemplateSyntaxError('invalid syntax', 'SyntaxError'), this.place(node.at));
    }
    const folded = this.folder.foldSafe(node);
    if (folded !== NOT_CONSTANT) return this.constant(folded);
    return this.computed(node, frame);
  }

  private constant(value: Value): Evaluate {
    // Jinja2 writes constants into Python code, where inf and nan are names nobody defined.
    const unnamed = findNonFinite(value);
    if (unnamed !== null)
      return () => {
        throw new TemplateRuntimeError(`name '${unnamed}' is not defined`, 'NameError');
      };
    if (isImmutable(value)) return () => value;
    return (a) => ownCopy(a.ctx.budget, value);
  }

  private computed(
    node: Exclude<
      n.Expr,
      | n.Const
      | n.Name
      | n.TupleNode
      | n.ListNode
      | n.DictNode
      | n.TemplateData
      | n.NSRef
      | n.SliceNode
    >,
    frame: Frame,
  ): Evaluate {
    switch (node.type) {
      case 'Binary': {
        if (node.op === '**') return this.power(node, frame);
        const left = this.expression(node.left, frame);
        const right = this.expression(node.right, frame);
        const run = binary(node.op);
        const place = this.place(node.at);
        return (a) => {
          try {
            return run(a.ctx.budget, left(a), right(a));
          } catch (error) {
            throw locate(error, place);
          }
        };
      }
      case 'And': {
        const left = this.expression(node.left, frame);
        const right = this.expression(node.right, frame);
        return this.located(node.at, (a) => {
          const value = left(a);
          return truthy(value) ? right(a) : value;
        });
      }
      case 'Or': {
        const left = this.expression(node.left, frame);
        const right = this.expression(node.right, frame);
        return this.located(node.at, (a) => {
          const value = left(a);
          return truthy(value) ? value : right(a);
        });
      }
      case 'Not':
      case 'Neg':
      case 'Pos': {
        const inner = this.expression(node.node, frame);
        const run = unary(node.type);
        return this.located(node.at, (a) => run(inner(a)));
      }
      case 'Compare':
        return this.compare(node, frame);
      case 'Concat': {
        const parts = node.nodes.map((part) => this.expression(part, frame));
        // In volatile code Jinja2 asks the context whether *it* is volatile, which it never is: plain joining.
        const autoescape = this.evalCtx.autoescape && !this.evalCtx.volatile;
        return this.located(node.at, (a) =>
          concatenate(
            a.ctx.budget,
            parts.map((part) => part(a)),
            autoescape,
          ),
        );
      }
      case 'CondExpr':
        return this.conditional(node, frame);
      case 'Getattr':
        return this.getattr(node, frame);
      case 'Getitem':
        return this.getitem(node, frame);
      case 'Call':
        return this.call(node, frame, null);
      case 'Filter':
        return this.filter(node, frame, null);
      case 'Test':
        return this.filterOrTest(node, 'test', this.expression(node.node, frame), frame);
    }
  }

  /**
   * Jinja2 writes a negative constant into its Python code without parentheses, so that `-2 ** x` means -(2 ** x) there,
   * although its own grammar binds the minus first.
   */
  private power(node: n.Binary, frame: Frame): Evaluate {
    const run = binary('**');
    const constant = this.folder.foldSafe(node.left);
    const negated = constant !== NOT_CONSTANT && isNumber(constant) && isNegative(constant);
    const base = negated ? this.constant(negative(constant)) : this.expression(node.left, frame);
    const exponent = this.expression(node.right, frame);
    return this.located(node.at, (a) => {
      const result = run(a.ctx.budget, base(a), exponent(a));
      return negated ? negative(result) : result;
    });
  }

  /** The closure that reads a variable; undefined while it has no value. */
  protected read(slot: Slot, frame: Frame): (a: Activation) => Value | undefined {
    const { index } = slot;
    let hops = 0;
    for (let scope = frame.symbols.scope; scope !== slot.scope; scope = scope.outer!) hops++;
    if (hops === 0) return (a) => a.vars[index];
    if (hops === 1) return (a) => a.outer!.vars[index];
    return (a) => {
      let home = a;
      for (let i = 0; i < hops; i++) home = home.outer!;
      return home.vars[index];
    };
  }

  private name(node: n.Name, frame: Frame): Evaluate {
    const { name } = node;
    const slot = frame.symbols.ref(name);
    if (slot.scope === frame.symbols.scope) {
      const { index } = slot;
      return (a) => {
        const value = a.vars[index];
        return value === undefined ? a.ctx.undefined(name) : value;
      };
    }
    const read = this.read(slot, frame);
    return (a) => {
      const value = read(a);
      return value === undefined ? a.ctx.undefined(name) : value;
    };
  }

  private dict(node: n.DictNode, frame: Frame): Evaluate {
    const pairs = node.items.map(
      (pair) => [this.expression(pair.key, frame), this.expression(pair.value, frame)] as const,
    );
    return this.located(node.at, (a) => {
      a.ctx.budget.step(8 + pairs.length * 4);
      // Every key and value is evaluated before the first one is stored: a fault in a later pair comes before an unhashable key.
      const values = pairs.map(([key, value]) => [key(a), value(a)] as const);
      const dict = new Dict();
      for (const [key, value] of values) dict.set(key, value);
      return dict;
    });
  }

  private compare(node: n.Compare, frame: Frame): Evaluate {
    const first = this.expression(node.expr, frame);
    const ops = node.ops.map(({ op, expr }) => ({
      run: compare(op),
      right: this.expression(expr, frame),
    }));
    if (ops.length === 1) {
      const { run, right } = ops[0]!;
      const place = this.place(node.at);
      return (a) => {
        try {
          return run(a.ctx.budget, first(a), right(a));
        } catch (error) {
          throw locate(error, place);
        }
      };
    }
    return this.located(node.at, (a) => {
      let left = first(a);
      for (const { run, right } of ops) {
        const next = right(a);
        if (!run(a.ctx.budget, left, next)) return false;
        left = next;
      }
      return true;
    });
  }

  private conditional(node: n.CondExpr, frame: Frame): Evaluate {
    const soft = frame.soft();
    const test = this.expression(node.test, soft);
    const yes = this.expression(node.expr1, soft);
    if (node.expr2 !== null) {
      const no = this.expression(node.expr2, soft);
      return (a) => (truthy(test(a)) ? yes(a) : no(a));
    }
    const name = this.source.name === null ? '' : ` in ${quote(this.source.name)}`;
    const hint = `the inline if-expression on line ${this.lineOf(node.at)}${name} evaluated to false and no else section was defined.`;
    return (a) => (truthy(test(a)) ? yes(a) : new Undefined('default', { hint }));
  }

  private getattr(node: n.Getattr, frame: Frame): Evaluate {
    const inner = this.expression(node.node, frame);
    const { attr } = node;
    const place = this.place(node.at);
    // Attributes come before items in Python; for a dict only its methods are attributes, so most names skip the tables.
    const direct = !isDictMethod(attr) && !attr.startsWith('__');
    return (a) => {
      const value = inner(a);
      if (direct && typeof value === 'object' && value !== null) {
        if (!(value instanceof PyObject)) {
          if (!Array.isArray(value) && Object.hasOwn(value, attr)) {
            const found = (value as Record<string, Value>)[attr];
            if (found !== undefined) return found;
          }
        } else if (value instanceof Dict) {
          const found = value.get(attr);
          if (found !== undefined) return found;
        } else if (value instanceof LoopContext) {
          const found = value.attribute(a.ctx, attr);
          if (found !== undefined) return found;
        }
      }
      try {
        return getAttribute(a.ctx, value, attr);
      } catch (error) {
        throw locate(error, place);
      }
    };
  }

  private getitem(node: n.Getitem, frame: Frame): Evaluate {
    const inner = this.expression(node.node, frame);
    const { arg } = node;
    if (arg.type === 'Slice') {
      const [start, stop, step] = [arg.start, arg.stop, arg.step].map((part) =>
        part === null ? () => null : this.expression(part, frame),
      ) as [Evaluate, Evaluate, Evaluate];
      return this.located(node.at, (a) => slice(a.ctx, inner(a), start(a), stop(a), step(a)));
    }
    const key = this.expression(arg, frame);
    return this.located(node.at, (a) => getItem(a.ctx, inner(a), key(a)));
  }

  /** Python refuses a keyword given twice, unless one is a word of Python's own: then Jinja2 spells them as a dict. */
  private refuseRepeated(node: n.Args): void {
    const seen = new Set<string>();
    if (node.kwargs.some(({ key }) => PYTHON_WORDS.has(key))) return;
    for (const { key, value } of node.kwargs) {
      if (seen.has(key))
        throw locate(
          new TemplateSyntaxError(`keyword argument repeated: ${key}`, 'SyntaxError'),
          this.place(value.at),
        );
      seen.add(key);
    }
  }

  /** Arguments in call order; `caller` is handed on by {% call %}. */
  private args(
    node: n.Args,
    frame: Frame,
    caller: Evaluate | null,
  ): { args: (a: Activation) => Value[]; kwargs: (a: Activation) => Kwargs | null } {
    this.refuseRepeated(node);
    const positional = node.args.map((arg) => this.expression(arg, frame));
    const named = node.kwargs.map(({ key, value }) => ({
      key,
      value: this.expression(value, frame),
    }));
    if (caller !== null) named.push({ key: 'caller', value: caller });
    const dynArgs = node.dynArgs === null ? null : this.expression(node.dynArgs, frame);
    const dynKwargs = node.dynKwargs === null ? null : this.expression(node.dynKwargs, frame);
    const args = (a: Activation): Value[] => {
      const out: Value[] = [];
      for (let i = 0; i < positional.length; i++) out.push(positional[i]!(a));
      if (dynArgs !== null) out.push(...spread(a.ctx, dynArgs(a)));
      return out;
    };
    if (named.length === 0 && dynKwargs === null) return { args, kwargs: () => null };
    const kwargs = (a: Activation): Kwargs => {
      const out: Kwargs = new Map();
      for (const { key, value } of named) out.set(key, value(a));
      if (dynKwargs !== null) spreadKwargs(out, dynKwargs(a));
      return out;
    };
    return { args, kwargs };
  }

  /** A call. Methods of values are called straight from their table, without making a bound method first. */
  protected call(node: n.Call, frame: Frame, caller: Evaluate | null): Evaluate {
    const { args, kwargs } = this.args(node, frame, caller);
    const place = this.place(node.node.type === 'Getattr' ? node.node.at : node.at);
    if (node.node.type === 'Getattr' && this.folder.foldSafe(node.node) === NOT_CONSTANT) {
      const inner = this.expression(node.node.node, frame);
      const { attr } = node.node;
      const internal = attr.startsWith('__');
      return (a) => {
        const value = inner(a);
        try {
          // Modules, loops and the like hold what is called; other values have methods.
          const method =
            internal || value instanceof WithAttributes ? undefined : methodsOf(value)?.get(attr);
          if (method !== undefined) {
            a.ctx.budget.step(1);
            return invoke(a.ctx, attr, method, value, args(a), kwargs(a));
          }
          return callValue(a.ctx, getAttribute(a.ctx, value, attr), args(a), kwargs(a));
        } catch (error) {
          throw locate(error, place);
        }
      };
    }
    const callee = this.expression(node.node, frame);
    return (a) => {
      try {
        return callValue(a.ctx, callee(a), args(a), kwargs(a));
      } catch (error) {
        throw locate(error, place);
      }
    };
  }

  /** A filter; `input` stands for the text of a block where the chain starts from none. */
  protected filter(node: n.Filter, frame: Frame, input: Evaluate | null): Evaluate {
    const value =
      node.node === null
        ? input!
        : node.node.type === 'Filter' && input !== null
          ? this.filter(node.node, frame, input)
          : this.expression(node.node, frame);
    return this.filterOrTest(node, 'filter', value, frame);
  }

  private filterOrTest(
    node: n.Filter | n.Test,
    kind: 'filter' | 'test',
    value: Evaluate,
    frame: Frame,
  ): Evaluate {
    const entry = (kind === 'filter' ? this.env.filters : this.env.tests).get(node.name);
    if (entry === undefined) {
      const message = `No ${kind} named ${quote(node.name)}`;
      if (!frame.softFrame) this.fail(`${message}.`, node.at);
      return this.located(node.at, () => {
        throw new TemplateRuntimeError(`${message} found.`);
      });
    }
    return this.located(node.at, this.applied(node, entry.fn, value, frame));
  }

  private applied(node: n.Filter | n.Test, fn: Native, value: Evaluate, frame: Frame): Evaluate {
    const { run } = fn;
    if (fn.rest || node.dynArgs !== null || node.dynKwargs !== null) {
      const { args, kwargs } = this.args(node, frame, null);
      return (a) => {
        a.ctx.budget.step(1);
        return invoke(a.ctx, node.name, fn, value(a), args(a), kwargs(a));
      };
    }
    this.refuseRepeated(node);
    // Where each argument goes is known now, so that a render only evaluates them: in the order they are written.
    const written = [...node.args, ...node.kwargs.map((kw) => kw.value)].map((arg) =>
      this.expression(arg, frame),
    );
    let positions: number[];
    try {
      const named: Kwargs = new Map(node.kwargs.map((kw, i) => [kw.key, node.args.length + i]));
      positions = bind(node.name, fn, [...node.args.keys()], named) as number[];
    } catch (error) {
      if (!(error instanceof TemplateRuntimeError)) throw error;
      // Python evaluates what a call is given before it finds that the call is wrong.
      return (a) => {
        value(a);
        for (const arg of written) arg(a);
        throw error;
      };
    }
    const inOrder = node.kwargs.length === 0;
    const [first, second] = written;
    if (written.length === 0)
      return (a) => {
        a.ctx.budget.step(1);
        return run(a.ctx, value(a));
      };
    if (inOrder && first !== undefined && second === undefined)
      return (a) => {
        a.ctx.budget.step(1);
        return run(a.ctx, value(a), first(a));
      };
    if (inOrder && written.length === 2 && first !== undefined && second !== undefined)
      return (a) => {
        a.ctx.budget.step(1);
        return run(a.ctx, value(a), first(a), second(a));
      };
    return (a) => {
      a.ctx.budget.step(1);
      const subject = value(a);
      const given = written.map((arg) => arg(a));
      return run(a.ctx, subject, ...positions.map((position) => given[position]));
    };
  }
}

/** `inf` or `nan`, whichever stands first in the Python spelling of a constant. */
function findNonFinite(value: Value): string | null {
  if (value instanceof Float || typeof value === 'number') {
    const number = toFloat(value);
    return Number.isNaN(number) ? 'nan' : Number.isFinite(number) ? null : 'inf';
  }
  if (isDict(value)) return findNonFinite(dictEntries(value).flat());
  const items = Array.isArray(value) ? value : value instanceof Tuple ? value.items : [];
  for (const item of items) {
    const found = findNonFinite(item);
    if (found !== null) return found;
  }
  return null;
}

const PYTHON_WORDS = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

const isNegative = (value: number | bigint | boolean | Float): boolean =>
  typeof value === 'bigint' ? value < 0n : toFloat(value) < 0 || Object.is(toFloat(value), -0);

function spread(ctx: Context, value: Value): Value[] {
  if (!isIterable(value))
    throw typeError(`Value after * must be an iterable, not ${typeName(value)}`);
  return toList(ctx.budget, value);
}

function spreadKwargs(kwargs: Kwargs, value: Value): void {
  if (value instanceof Undefined) value.fail();
  if (!isDict(value))
    throw typeError(`argument after ** must be a mapping, not ${typeName(value)}`);
  for (const [key, item] of dictEntries(value)) {
    if (typeof key !== 'string') throw typeError('keywords must be strings');
    if (kwargs.has(key)) throw typeError(`got multiple values for keyword argument '${key}'`);
    kwargs.set(key, item);
  }
}
