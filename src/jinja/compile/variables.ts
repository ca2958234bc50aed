// Statements that set variables, and how variables are seen from elsewhere: targets, set, block
// set, what is published to blocks, includes and importers. Called by statements.ts and by
// statements with targets of their own.

import { locate, TemplateRuntimeError, typeError, valueError } from '../errors.ts';
import type { Context, Lookup } from '../running.ts';
import type { Activation } from '../runtime/activation.ts';
import type * as n from '../syntax/nodes.ts';
import { descendants } from '../syntax/nodes.ts';
import { Namespace } from '../values/dict.ts';
import { elements, isIterable, toList } from '../values/iterate.ts';
import { str } from '../values/repr.ts';
import { Markup, orNone, typeName, type Value } from '../values/types.ts';
import { filterCode } from './calls.ts';
import { type Compilation, type Execute, NEXT, placeOf, type Reads } from './compilation.ts';
import type { Frame } from './frame.ts';
import { enterFrame, leaveFrame, reader } from './frame-code.ts';
import { capture, wrapsBlocks } from './output.ts';
import { analyze } from './symbols.ts';

/** Stores a value into an assignment target. */
export function storeCode(node: n.Expr, frame: Frame): (a: Activation, value: Value) => void {
  if (node.type === 'Name') {
    const { index } = frame.symbols.ref(node.name);
    return (a, value) => {
      a.vars[index] = value;
    };
  }
  if (node.type === 'NSRef') {
    const read = reader(frame.symbols.ref(node.name), frame);
    const { attr } = node;
    return (a, value) => {
      a.ctx.budget.step(4);
      (read(a) as Namespace).attributes.set(attr, value);
    };
  }
  const targets = (node as n.TupleNode).items.map((item) => storeCode(item, frame));
  return (a, value) => {
    const items = unpack(a.ctx, value, targets.length);
    for (let i = 0; i < targets.length; i++) targets[i]!(a, orNone(items[i]));
  };
}

export function assign(c: Compilation, node: n.Assign, frame: Frame): Execute {
  const namespaces = [
    ...new Set(
      [...descendants([node.target])].flatMap((ref) => (ref.type === 'NSRef' ? [ref.name] : [])),
    ),
  ];
  const checks = namespaces.map((name) => reader(frame.symbols.ref(name), frame));
  const value = c.expression(node.node, frame);
  const store = storeCode(node.target, frame);
  const publish = publishTarget(node.target, frame);
  const place = placeOf(c, node.at);
  return (a) => {
    try {
      for (const check of checks)
        if (!(check(a) instanceof Namespace))
          throw new TemplateRuntimeError('cannot assign attribute on non-namespace object');
      a.ctx.budget.step(1);
      store(a, value(a));
      publish?.(a);
      return NEXT;
    } catch (error) {
      throw locate(error, place);
    }
  };
}

/** At the top level, names set become visible to blocks, includes and importers. */
function publishTarget(target: n.Expr, frame: Frame): ((a: Activation) => void) | null {
  if (!frame.toplevel) return null;
  const names = [...descendants([target])].flatMap((node) =>
    node.type === 'Name' ? [node.name] : [],
  );
  return publishNames(names, frame, true);
}

export function publishNames(
  names: string[],
  frame: Frame,
  exported: boolean,
): (a: Activation) => void {
  const slots = names.map((name) => ({
    name,
    index: frame.symbols.ref(name).index,
    exported: exported && !name.startsWith('_'),
  }));
  return (a) => {
    for (const { name, index, exported } of slots) {
      a.ctx.vars.set(name, a.vars[index]);
      if (exported) a.ctx.exported.add(name);
      else if (!name.startsWith('_')) a.ctx.exported.delete(name);
    }
  };
}

export function assignBlock(c: Compilation, node: n.AssignBlock, frame: Frame): Execute {
  const inner = frame.inner();
  inner.requireOutputCheck = false;
  analyze(inner.symbols, node.body);
  const enter = enterFrame(inner);
  const captured = capture(c.body(node.body, inner));
  let text: string | Markup = '';
  const filter = node.filter === null ? null : filterCode(c, node.filter, inner, () => text);
  const wrap = wrapsBlocks(c);
  const store = storeCode(node.target, frame);
  const publish = publishTarget(node.target, frame);
  const leave = leaveFrame(inner);
  const checks =
    node.target.type === 'NSRef' ? reader(frame.symbols.ref(node.target.name), frame) : null;
  return (a) => {
    enter(a);
    const { text: body, signal } = captured(a);
    if (signal !== NEXT) return signal;
    let value: Value = body;
    if (filter !== null) {
      text = wrap(a) ? new Markup(body) : body;
      value = filter(a);
    }
    if (a.ctx.evalCtx.autoescape) value = new Markup(escapeAsMarkup(a, value));
    if (checks !== null && !(checks(a) instanceof Namespace))
      throw typeError(`'${typeName(checks(a))}' object does not support item assignment`);
    store(a, value);
    publish?.(a);
    leave(a);
    return NEXT;
  };
}

/** The variables set around here, for code that gets a context of its own. */
export function localsOf(c: Compilation, frame: Frame): (a: Activation) => Lookup {
  const reads = readsOf(c, frame);
  return (a) => ({ get: (name) => reads.get(name)?.(a) });
}

export function readsOf(c: Compilation, frame: Frame): Reads {
  const known = c.reads.get(frame.symbols);
  if (known !== undefined) return known;
  const reads: Reads = new Map();
  for (const [name, slot] of frame.symbols.visibleStores()) reads.set(name, reader(slot, frame));
  c.reads.set(frame.symbols, reads);
  return reads;
}

/** Markup(value): text as it is, other things printed. */
function escapeAsMarkup(a: Activation, value: Value): string {
  return value instanceof Markup ? value.text : str(a.ctx.budget, value);
}

function unpack(ctx: Context, value: Value, wanted: number): Value[] {
  if (!isIterable(value)) throw typeError(`cannot unpack non-iterable ${typeName(value)} object`);
  const items = elements(ctx.budget, value) ?? toList(ctx.budget, value);
  if (items.length < wanted)
    throw valueError(`not enough values to unpack (expected ${wanted}, got ${items.length})`);
  if (items.length > wanted) throw valueError(`too many values to unpack (expected ${wanted})`);
  return items;
}
