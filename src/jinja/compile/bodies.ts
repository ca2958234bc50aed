// Statements around a body: if, with, filter and autoescape. Called by statements.ts.
import { locate } from '../errors.ts';
import type { Activation } from '../runtime/activation.ts';
import type * as n from '../syntax/nodes.ts';
import { truthy } from '../values/iterate.ts';
import { Markup } from '../values/types.ts';
import { filterCode } from './calls.ts';
import { type Compilation, type Execute, located, NEXT, placeOf } from './compilation.ts';
import { NOT_CONSTANT } from './constants.ts';
import type { Frame } from './frame.ts';
import { enterFrame, leaveFrame } from './frame-code.ts';
import { capture, joinable, wrapsBlocks, writer } from './output.ts';
import { analyze } from './symbols.ts';
import { storeCode } from './variables.ts';

export function ifStatement(c: Compilation, node: n.If, frame: Frame): Execute {
  const soft = frame.soft();
  const branches = [node, ...node.elif].map((branch) => ({
    test: conditionCode(c, branch.test, soft),
    body: c.body(branch.body, soft),
  }));
  const otherwise = c.body(node.else_, soft);
  if (branches.length === 1) {
    const { test, body } = branches[0]!;
    return (a) => (test(a) ? body(a) : otherwise(a));
  }
  return (a) => {
    for (const { test, body } of branches) if (test(a)) return body(a);
    return otherwise(a);
  };
}

export function conditionCode(
  c: Compilation,
  node: n.Expr,
  frame: Frame,
): (a: Activation) => boolean {
  const test = c.expression(node, frame);
  const place = placeOf(c, node.at);
  return (a) => {
    const value = test(a);
    if (typeof value === 'boolean') return value;
    try {
      return truthy(value);
    } catch (error) {
      throw locate(error, place);
    }
  };
}

export function filterBlock(c: Compilation, node: n.FilterBlock, frame: Frame): Execute {
  const inner = frame.inner();
  analyze(inner.symbols, [...node.body, node.filter]);
  const enter = enterFrame(inner);
  const body = c.body(node.body, inner);
  const captured = capture(body);
  const wrap = wrapsBlocks(c);
  let content: string | Markup = '';
  const filter = filterCode(c, node.filter, inner, () => content);
  const write = writer(['', ''], [located(c, node.at, (a) => joinable(filter(a)))]);
  const leave = leaveFrame(inner);
  return (a) => {
    enter(a);
    const { text, signal } = captured(a);
    // A break or continue in the body leaves the block before its text is written.
    if (signal === NEXT) {
      content = wrap(a) ? new Markup(text) : text;
      write(a);
    }
    leave(a);
    return signal;
  };
}

export function withStatement(c: Compilation, node: n.With, frame: Frame): Execute {
  const inner = frame.inner();
  analyze(inner.symbols, node.targets);
  analyze(inner.symbols, node.body);
  const enter = enterFrame(inner);
  const values = node.values.map((value) => c.expression(value, frame));
  const stores = node.targets.map((target) => storeCode(target, inner));
  const body = c.body(node.body, inner);
  const leave = leaveFrame(inner);
  return (a) => {
    enter(a);
    for (let i = 0; i < stores.length; i++) stores[i]!(a, values[i]!(a));
    const signal = body(a);
    leave(a);
    return signal;
  };
}

export function autoescapeBlock(c: Compilation, node: n.Autoescape, frame: Frame): Execute {
  const inner = frame.inner();
  analyze(inner.symbols, [node.value, ...node.body]);
  const enter = enterFrame(inner);
  const value = c.expression(node.value, inner);
  const saved = { ...c.evalCtx };
  const constant = c.folder.fold(node.value);
  if (constant === NOT_CONSTANT) c.evalCtx.volatile = true;
  else c.evalCtx.autoescape = truthy(constant);
  const body = c.body(node.body, inner);
  Object.assign(c.evalCtx, saved);
  const leave = leaveFrame(inner);
  return (a) => {
    enter(a);
    const { evalCtx } = a.ctx;
    const before = evalCtx.autoescape;
    evalCtx.autoescape = truthy(value(a));
    const signal = body(a);
    evalCtx.autoescape = before;
    leave(a);
    return signal;
  };
}
