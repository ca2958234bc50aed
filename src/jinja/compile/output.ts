// Text that a template writes: {{ … }} and the text between tags, what a block captures, and what
// may write at all.
import { locate, typeError } from '../errors.ts';
import type { Activation } from '../runtime/activation.ts';
import type * as n from '../syntax/nodes.ts';
import { escapeText, escapeValue, str } from '../values/repr.ts';
import { Markup, typeName, type Value } from '../values/types.ts';
import {
  type Compilation,
  type Evaluate,
  type Execute,
  located,
  NEXT,
  placeOf,
  type Signal,
} from './compilation.ts';
import { NOT_CONSTANT } from './constants.ts';
import type { Frame } from './frame.ts';
import { reader } from './frame-code.ts';
import type { FunctionScope, Slot } from './symbols.ts';

export function output(c: Compilation, node: n.Output, frame: Frame): Execute | null {
  if (frame.requireOutputCheck && c.hasKnownExtends) return null;
  // texts[i] comes before values[i]; constants and template data are joined, escaped, now.
  const texts: string[] = [''];
  const values: Evaluate[] = [];
  for (const child of node.nodes) {
    const constant = outputConstant(c, child);
    if (constant !== null) texts[texts.length - 1] += constant;
    else {
      values.push(written(c, child, frame));
      texts.push('');
    }
  }
  const run = writer(texts, values);
  return frame.requireOutputCheck ? unlessExtended(frame, run) : run;
}

function outputConstant(c: Compilation, node: n.Expr): string | null {
  try {
    const value = c.folder.fold(node);
    if (value === NOT_CONSTANT) return null;
    const ctx = c.env.bareContext();
    return c.evalCtx.autoescape ? escapeValue(ctx.budget, value) : str(ctx.budget, value);
  } catch {
    return null;
  }
}

/** Nearly all text is shorter than this, and is paid for when it is written. */
const SHORT = 64;

/** An expression as the text to write. */
function written(c: Compilation, node: n.Expr, frame: Frame): Evaluate {
  const value = c.expression(node, frame);
  const place = placeOf(c, node.at);
  if (c.evalCtx.volatile)
    return located(c, node.at, (a) => {
      const { budget, evalCtx } = a.ctx;
      return evalCtx.autoescape ? escapeValue(budget, value(a)) : str(budget, value(a));
    });
  const { autoescape } = c.evalCtx;
  const convert = autoescape ? escapeValue : str;
  return (a) => {
    const result = value(a);
    if (typeof result === 'string') {
      if (result.length < SHORT) return autoescape ? escapeText(result) : result;
    } else if (result instanceof Markup) return result.text;
    if (typeof result === 'object' || typeof result === 'bigint') {
      try {
        return convert(a.ctx.budget, result);
      } catch (error) {
        throw locate(error, place);
      }
    }
    return convert(a.ctx.budget, result);
  };
}

export function writer(texts: string[], values: Evaluate[]): Execute {
  const [first, second] = texts as [string, string];
  if (values.length === 0)
    return (a) => {
      a.ctx.budget.write(first);
      return NEXT;
    };
  if (values.length === 1) {
    const value = values[0]!;
    return (a) => {
      a.ctx.budget.write(first + value(a) + second);
      return NEXT;
    };
  }
  return (a) => {
    let out = first;
    for (let i = 0; i < values.length; i++) out += (values[i]!(a) as string) + texts[i + 1]!;
    a.ctx.budget.write(out);
    return NEXT;
  };
}

export function capture(body: Execute): (a: Activation) => { text: string; signal: Signal } {
  return (a) => {
    const { budget } = a.ctx;
    budget.beginCapture();
    const signal = body(a);
    return { text: budget.endCapture(), signal };
  };
}

/**
 * The value of a filter or call block is written as it is, without escaping; Python cannot join
 * anything but text.
 */
export function joinable(value: Value): string {
  if (typeof value === 'string') return value;
  if (value instanceof Markup) return value.text;
  throw typeError(`sequence item 0: expected str instance, ${typeName(value)} found`);
}

/** Whether the text of a block is Markup for the filters that take it. */
export function wrapsBlocks(c: Compilation): (a: Activation) => boolean {
  if (c.evalCtx.volatile) return (a) => a.ctx.evalCtx.autoescape;
  const { autoescape } = c.evalCtx;
  return () => autoescape;
}

/** Writes only if no parent template has taken over. */
export function unlessExtended(frame: Frame, run: Execute): Execute {
  let top = frame.symbols;
  while (top.parent !== null) top = top.parent;
  const parent = reader(parentSlot(top.scope), frame);
  return (a) => (parent(a) === undefined ? run(a) : NEXT);
}

export function parentSlot(scope: FunctionScope): Slot {
  return scope.slot('parent template');
}
