// Calls, filters and tests to closures, with their arguments. Called by expressions.ts; macros.ts
// and bodies.ts for {% call %} and {% filter %}.
import { callValue } from '../calls.ts';
import { locate, TemplateRuntimeError, TemplateSyntaxError, typeError } from '../errors.ts';
import { bind, invoke } from '../methods/signature.ts';
import type { Context, Native } from '../running.ts';
import type { Activation } from '../runtime/activation.ts';
import type * as n from '../syntax/nodes.ts';
import { getAttribute, methodsOf } from '../values/access.ts';
import { dictEntries, isDict } from '../values/dict.ts';
import { isIterable, toList } from '../values/iterate.ts';
import { quote } from '../values/repr.ts';
import { type Kwargs, typeName, type Value, WithAttributes } from '../values/types.ts';
import { Undefined } from '../values/undefined.ts';
import { type Compilation, type Evaluate, fail, located, placeOf } from './compilation.ts';
import { NOT_CONSTANT } from './constants.ts';
import type { Frame } from './frame.ts';

/**
 * A call. Methods of values are called straight from their table, without making a bound method
 * first.
 */
export function callCode(
  c: Compilation,
  node: n.Call,
  frame: Frame,
  caller: Evaluate | null,
): Evaluate {
  const { args, kwargs } = argumentsCode(c, node, frame, caller);
  const place = placeOf(c, node.node.type === 'Getattr' ? node.node.at : node.at);
  if (node.node.type === 'Getattr' && c.folder.foldSafe(node.node) === NOT_CONSTANT) {
    const inner = c.expression(node.node.node, frame);
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
  const callee = c.expression(node.node, frame);
  return (a) => {
    try {
      return callValue(a.ctx, callee(a), args(a), kwargs(a));
    } catch (error) {
      throw locate(error, place);
    }
  };
}

/** A filter; `input` is the text of a block if the chain does not start with an expression. */
export function filterCode(
  c: Compilation,
  node: n.Filter,
  frame: Frame,
  input: Evaluate | null,
): Evaluate {
  const value =
    node.node === null
      ? input!
      : node.node.type === 'Filter' && input !== null
        ? filterCode(c, node.node, frame, input)
        : c.expression(node.node, frame);
  return filterOrTest(c, node, 'filter', value, frame);
}

export function testCode(c: Compilation, node: n.Test, frame: Frame): Evaluate {
  return filterOrTest(c, node, 'test', c.expression(node.node, frame), frame);
}

function filterOrTest(
  c: Compilation,
  node: n.Filter | n.Test,
  kind: 'filter' | 'test',
  value: Evaluate,
  frame: Frame,
): Evaluate {
  const entry = (kind === 'filter' ? c.env.filters : c.env.tests).get(node.name);
  if (entry === undefined) {
    const message = `No ${kind} named ${quote(node.name)}`;
    if (!frame.softFrame) fail(c, `${message}.`, node.at);
    return located(c, node.at, () => {
      throw new TemplateRuntimeError(`${message} found.`);
    });
  }
  return located(c, node.at, applied(c, node, entry.fn, value, frame));
}

function applied(
  c: Compilation,
  node: n.Filter | n.Test,
  fn: Native,
  value: Evaluate,
  frame: Frame,
): Evaluate {
  const { run } = fn;
  if (fn.rest || node.dynArgs !== null || node.dynKwargs !== null) {
    const { args, kwargs } = argumentsCode(c, node, frame, null);
    return (a) => {
      a.ctx.budget.step(1);
      return invoke(a.ctx, node.name, fn, value(a), args(a), kwargs(a));
    };
  }
  refuseRepeated(c, node);
  // The position of each argument is known now, so a render only evaluates them, in the order
  // written.
  const written = [...node.args, ...node.kwargs.map((kw) => kw.value)].map((arg) =>
    c.expression(arg, frame),
  );
  let positions: number[];
  try {
    const named: Kwargs = new Map(node.kwargs.map((kw, i) => [kw.key, node.args.length + i]));
    positions = bind(node.name, fn, [...node.args.keys()], named) as number[];
  } catch (error) {
    if (!(error instanceof TemplateRuntimeError)) throw error;
    // Python evaluates the arguments of a call before it notices that the call is wrong.
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

/** Arguments in call order; `caller` is passed by {% call %}. */
function argumentsCode(
  c: Compilation,
  node: n.Args,
  frame: Frame,
  caller: Evaluate | null,
): { args: (a: Activation) => Value[]; kwargs: (a: Activation) => Kwargs | null } {
  refuseRepeated(c, node);
  const positional = node.args.map((arg) => c.expression(arg, frame));
  const named = node.kwargs.map(({ key, value }) => ({
    key,
    value: c.expression(value, frame),
  }));
  if (caller !== null) named.push({ key: 'caller', value: caller });
  const dynArgs = node.dynArgs === null ? null : c.expression(node.dynArgs, frame);
  const dynKwargs = node.dynKwargs === null ? null : c.expression(node.dynKwargs, frame);
  const args = (a: Activation): Value[] => {
    const out: Value[] = [];
    for (let i = 0; i < positional.length; i++) out.push(positional[i]!(a));
    if (dynArgs !== null) for (const item of spread(a.ctx, dynArgs(a))) out.push(item);
    if (out.length > 8) a.ctx.budget.list(out.length);
    return out;
  };
  if (named.length === 0 && dynKwargs === null) return { args, kwargs: () => null };
  const kwargs = (a: Activation): Kwargs => {
    const out: Kwargs = new Map();
    for (const { key, value } of named) out.set(key, value(a));
    if (dynKwargs !== null) spreadKwargs(a.ctx, out, dynKwargs(a));
    if (out.size > 8) a.ctx.budget.list(out.size * 4);
    return out;
  };
  return { args, kwargs };
}

/**
 * Python refuses a keyword given twice, unless one is a Python keyword: then Jinja2 passes them as
 * a dict.
 */
function refuseRepeated(c: Compilation, node: n.Args): void {
  const seen = new Set<string>();
  if (node.kwargs.some(({ key }) => PYTHON_WORDS.has(key))) return;
  for (const { key, value } of node.kwargs) {
    if (seen.has(key))
      throw locate(
        new TemplateSyntaxError(`keyword argument repeated: ${key}`, 'SyntaxError'),
        placeOf(c, value.at),
      );
    seen.add(key);
  }
}

const PYTHON_WORDS = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

function spread(ctx: Context, value: Value): Value[] {
  if (!isIterable(value))
    throw typeError(`Value after * must be an iterable, not ${typeName(value)}`);
  return toList(ctx.budget, value);
}

function spreadKwargs(ctx: Context, kwargs: Kwargs, value: Value): void {
  if (value instanceof Undefined) value.fail();
  if (!isDict(value))
    throw typeError(`argument after ** must be a mapping, not ${typeName(value)}`);
  for (const [key, item] of dictEntries(ctx.budget, value)) {
    if (typeof key !== 'string') throw typeError('keywords must be strings');
    if (kwargs.has(key)) throw typeError(`got multiple values for keyword argument '${key}'`);
    kwargs.set(key, item);
  }
}
