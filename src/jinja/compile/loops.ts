// For loops: plain, filtered and recursive. Called by statements.ts.
import { locate } from '../errors.ts';
import { Activation } from '../runtime/activation.ts';
import { LoopContext } from '../runtime/loop.ts';
import type * as n from '../syntax/nodes.ts';
import { descendants } from '../syntax/nodes.ts';
import { DictView, isDict } from '../values/dict.ts';
import { elements, iterator } from '../values/iterate.ts';
import { str } from '../values/repr.ts';
import { Iterator, Markup, orNone, Tuple, type Value } from '../values/types.ts';
import { conditionCode } from './bodies.ts';
import {
  BREAK,
  type Compilation,
  type Evaluate,
  type Execute,
  fail,
  NEXT,
  placeOf,
  weighed,
} from './compilation.ts';
import type { Frame } from './frame.ts';
import { enterFrame, leaveFrame } from './frame-code.ts';
import { wrapsBlocks } from './output.ts';
import { analyze, FunctionScope, findUndeclared, type Slot } from './symbols.ts';
import { storeCode } from './variables.ts';

/** Runs the body of a loop over an iterable; returns false if there was nothing to iterate. */
type RunLoop = (
  a: Activation,
  iterable: Value,
  depth: number,
  recurse: ((items: Value, depth: number) => Value) | null,
) => boolean;

export function forLoop(c: Compilation, node: n.For, frame: Frame): Execute {
  for (const name of descendants([node]))
    if (name.type === 'Name' && name.ctx === 'store' && name.name === 'loop')
      fail(c, "Can't assign to special loop variable in for-loop target", name.at);
  return node.recursive ? recursiveLoop(c, node, frame) : plainLoop(c, node, frame);
}

function plainLoop(c: Compilation, node: n.For, frame: Frame): Execute {
  const iter = c.expression(node.iter, frame);
  const loop = loopCode(c, node, frame, undefined);
  const otherwise = elseBody(c, node, frame, undefined);
  const place = placeOf(c, node.iter.at);
  return (a) => {
    let iterable: Value;
    try {
      iterable = iter(a);
    } catch (error) {
      throw locate(error, place);
    }
    if (!loop(a, iterable, 0, null) && otherwise !== null) return otherwise(a);
    return NEXT;
  };
}

function recursiveLoop(c: Compilation, node: n.For, frame: Frame): Execute {
  const scope = new FunctionScope(frame.symbols.scope, c.work);
  const iter = c.expression(node.iter, frame);
  const loop = loopCode(c, node, frame, scope);
  const otherwise = elseBody(c, node, frame, scope);
  const slots = scope.size;
  const wrap = wrapsBlocks(c);
  const place = placeOf(c, node.at);
  return (a) => {
    const { budget } = a.ctx;
    const recurse = (items: Value, depth: number): Value => {
      const inner = new Activation(slots, a.ctx, a);
      budget.enter();
      budget.beginCapture();
      if (!loop(inner, items, depth, recurse)) otherwise?.(inner);
      const text = budget.endCapture();
      budget.leave();
      return wrap(a) ? new Markup(text) : text;
    };
    try {
      budget.write(str(budget, recurse(iter(a), 0)));
    } catch (error) {
      throw locate(error, place);
    }
    return NEXT;
  };
}

function elseBody(
  c: Compilation,
  node: n.For,
  frame: Frame,
  scope: FunctionScope | undefined,
): Execute | null {
  if (node.else_.length === 0) return null;
  const inner = frame.inner(scope);
  analyze(inner.symbols, node.else_);
  const enter = enterFrame(inner);
  const body = c.body(node.else_, inner);
  const leave = leaveFrame(inner);
  return (a) => {
    enter(a);
    const signal = body(a);
    leave(a);
    return signal;
  };
}

/** The loop itself, in a frame of its own inside the function it belongs to. */
function loopCode(
  c: Compilation,
  node: n.For,
  frame: Frame,
  scope: FunctionScope | undefined,
): RunLoop {
  const inner = frame.inner(scope);
  inner.inLoop = true;
  // The loop variable costs something on every turn, so it exists only where it is used.
  const extended =
    node.recursive ||
    findUndeclared(node.body, ['loop']).has('loop') ||
    [...descendants([node])].some((child) => child.type === 'Block' && child.scoped);
  const loopSlot = extended ? inner.symbols.declareParameter('loop') : null;
  analyze(inner.symbols, [node.target], true);
  analyze(inner.symbols, node.body);
  const filter = node.test === null ? null : loopFilter(c, node, frame, scope);
  const enterOnce = enterFrame(inner, 'once');
  const enterEach = enterFrame(inner, 'each');
  const store = storeCode(node.target, inner);
  const body = c.body(node.body, inner);
  const leave = leaveFrame(inner);
  const place = placeOf(c, node.iter.at);
  const run =
    loopSlot === null
      ? simpleTurns(store, enterEach, body)
      : extendedTurns(loopSlot, store, enterEach, body);
  return (a, iterable, depth, recurse) => {
    let items: Value[] | null;
    let source: Iterator | null = null;
    try {
      const from = filter === null ? iterable : filter(a, iterable);
      // Dicts are walked by an iterator, which notices changes during the walk.
      items = isDict(from) || from instanceof DictView ? null : elements(a.ctx.budget, from);
      if (items === null) source = iterator(a.ctx.budget, from);
    } catch (error) {
      throw locate(error, place);
    }
    enterOnce(a);
    const some = run(a, items, source, depth, recurse);
    leave(a);
    return some;
  };
}

function simpleTurns(
  store: (a: Activation, value: Value) => void,
  enter: (a: Activation) => void,
  body: Execute,
): (a: Activation, items: Value[] | null, source: Iterator | null) => boolean {
  return (a, items, source) => {
    const { budget } = a.ctx;
    if (items === null) {
      let some = false;
      for (let item = source!.next(); item !== undefined; item = source!.next()) {
        some = true;
        budget.step(1);
        store(a, item);
        enter(a);
        if (body(a) === BREAK) break;
      }
      return some;
    }
    for (let i = 0; i < items.length; i++) {
      budget.step(1);
      store(a, orNone(items[i]));
      enter(a);
      if (body(a) === BREAK) break;
    }
    return items.length > 0;
  };
}

function extendedTurns(
  loopSlot: Slot,
  store: (a: Activation, value: Value) => void,
  enter: (a: Activation) => void,
  body: Execute,
): (
  a: Activation,
  items: Value[] | null,
  source: Iterator | null,
  depth: number,
  recurse: ((items: Value, depth: number) => Value) | null,
) => boolean {
  return (a, items, source, depth, recurse) => {
    const { budget } = a.ctx;
    const loop = new LoopContext(a.ctx, items, source, recurse, depth);
    let some = false;
    for (let item = loop.advance(); item !== undefined; item = loop.advance()) {
      some = true;
      budget.step(1);
      store(a, item);
      a.vars[loopSlot.index] = loop;
      enter(a);
      if (body(a) === BREAK) break;
    }
    return some;
  };
}

/** `for x in xs if test`: a function of its own that passes items on one by one. */
function loopFilter(
  c: Compilation,
  node: n.For,
  frame: Frame,
  around: FunctionScope | undefined,
): (a: Activation, iterable: Value) => Value {
  const scope = new FunctionScope(around ?? frame.symbols.scope, c.work);
  const inner = frame.inner(scope);
  analyze(inner.symbols, [node.target], true);
  analyze(inner.symbols, [node.test!]);
  const enter = enterFrame(inner);
  const store = storeCode(node.target, inner);
  const reload = reloadCode(node.target, inner);
  const { code: test, cost } = weighed(c, () => conditionCode(c, node.test!, inner));
  const slots = scope.size;
  return (outer, iterable) => {
    const a = new Activation(slots, outer.ctx, outer);
    enter(a);
    const { budget } = outer.ctx;
    const source = iterator(budget, iterable);
    return new Iterator('generator', () => {
      for (let item = source.next(); item !== undefined; item = source.next()) {
        budget.step(1 + cost);
        store(a, item);
        if (test(a)) return reload(a);
      }
      return undefined;
    });
  };
}

/** The target read back as a value: unpacked pairs come out as tuples. */
function reloadCode(target: n.Expr, frame: Frame): Evaluate {
  if (target.type === 'Name') {
    const { index } = frame.symbols.ref(target.name);
    return (a) => orNone(a.vars[index]);
  }
  const items = (target as n.TupleNode).items.map((item) => reloadCode(item, frame));
  return (a) => new Tuple(items.map((item) => item(a)));
}
