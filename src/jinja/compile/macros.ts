// Macros and call blocks: functions of a template. Called by statements.ts.
import { locate, TemplateSyntaxError } from '../errors.ts';
import type { Activation } from '../runtime/activation.ts';
import { Macro, type MacroCode } from '../runtime/macro.ts';
import type * as n from '../syntax/nodes.ts';
import { Undefined } from '../values/undefined.ts';
import { callCode } from './calls.ts';
import {
  type Compilation,
  type Evaluate,
  type Execute,
  fail,
  located,
  NEXT,
  placeOf,
  type Signal,
  weighed,
} from './compilation.ts';
import type { Frame } from './frame.ts';
import { enterFrame } from './frame-code.ts';
import { joinable } from './output.ts';
import { analyze, FunctionScope, findUndeclared } from './symbols.ts';
import { publishNames } from './variables.ts';

export function macro(c: Compilation, node: n.Macro, frame: Frame): Execute {
  const code = macroCode(c, node, node.name, frame);
  const { index } = frame.symbols.ref(node.name);
  const publish = frame.toplevel ? publishNames([node.name], frame, true) : null;
  return (a) => {
    a.ctx.budget.step(4);
    a.vars[index] = new Macro(code, a);
    publish?.(a);
    return NEXT;
  };
}

export function callBlock(c: Compilation, node: n.CallBlock, frame: Frame): Execute {
  const code = macroCode(c, node, null, frame);
  const call = callCode(c, node.call, frame, (a) => new Macro(code, a));
  const joined = located(c, node.at, (a) => joinable(call(a)));
  return (a): Signal => {
    a.ctx.budget.write(joined(a) as string);
    return NEXT;
  };
}

function macroCode(
  c: Compilation,
  node: n.Macro | n.CallBlock,
  name: string | null,
  around: Frame,
): MacroCode {
  const scope = new FunctionScope(around.symbols.scope, c.work);
  const frame = around.inner(scope);
  const everything = [...node.args, ...node.defaults, ...node.body];
  analyze(frame.symbols, everything);
  const params = node.args.map((arg) => arg.name);
  const seen = new Set<string>();
  for (const arg of node.args) {
    if (seen.has(arg.name))
      throw locate(
        new TemplateSyntaxError(
          `duplicate argument '${arg.name}' in function definition`,
          'SyntaxError',
        ),
        placeOf(c, arg.at),
      );
    seen.add(arg.name);
  }
  const undeclared = findUndeclared(node.body, ['caller', 'kwargs', 'varargs']);
  const explicitCaller = params.indexOf('caller');
  if (
    undeclared.has('caller') &&
    explicitCaller !== -1 &&
    explicitCaller < params.length - node.defaults.length
  )
    fail(
      c,
      'When defining macros or call blocks the special "caller" argument must be omitted or be given a default.',
      node.at,
    );
  const special = (word: string) =>
    undeclared.has(word) && !params.includes(word)
      ? frame.symbols.declareParameter(word).index
      : -1;
  const callerSlot = special('caller');
  const kwargsSlot = special('kwargs');
  const varargsSlot = special('varargs');
  frame.requireOutputCheck = false;
  analyze(frame.symbols, everything);
  const slots = params.map((param) => frame.symbols.ref(param).index);
  const enter = enterFrame(frame);
  const { code: fill, cost } = weighed(c, () => defaultsCode(c, node, slots, frame));
  const body = c.body(node.body, frame);
  return {
    name,
    params,
    slots,
    callerSlot,
    kwargsSlot,
    varargsSlot,
    slotCount: scope.size,
    run: (a) => {
      a.ctx.budget.step(cost);
      enter(a);
      fill(a);
      body(a);
    },
  };
}

/** Parameters without an argument: the default, or undefined with a reason. */
function defaultsCode(
  c: Compilation,
  node: n.Signature,
  slots: number[],
  frame: Frame,
): (a: Activation) => void {
  const offset = node.args.length - node.defaults.length;
  const values = node.args.map((arg, i): Evaluate => {
    if (i >= offset) return c.expression(node.defaults[i - offset]!, frame);
    const options = { hint: `parameter '${arg.name}' was not provided`, name: arg.name };
    return (a) => new Undefined(a.ctx.env.undefinedKind, options);
  });
  return (a) => {
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i]!;
      if (a.vars[slot] === undefined) a.vars[slot] = values[i]!(a);
    }
  };
}
