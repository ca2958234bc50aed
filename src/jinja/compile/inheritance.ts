// A template as a whole, its blocks, and extends. compile-template.ts begins here; statements.ts
// comes back for blocks.

import { locate, TemplateRuntimeError } from '../errors.ts';
import type { BlockCode, CompiledTemplate, Context, LoadedTemplate } from '../running.ts';
import { Activation } from '../runtime/activation.ts';
import { superBlock, TemplateReference } from '../runtime/blocks.ts';
import type * as n from '../syntax/nodes.ts';
import { descendants } from '../syntax/nodes.ts';
import { quote } from '../values/repr.ts';
import { type Compilation, type Execute, fail, NEXT, placeOf } from './compilation.ts';
import { Frame } from './frame.ts';
import { enterFrame } from './frame-code.ts';
import { parentSlot, unlessExtended } from './output.ts';
import { analyze, FunctionScope, findUndeclared, Symbols } from './symbols.ts';
import { localsOf } from './variables.ts';

export function templateCode(c: Compilation, body: n.Stmt[]): CompiledTemplate {
  const all = [...descendants(body)];
  const blockNodes = new Map<string, n.Block>();
  for (const node of all) {
    if (node.type !== 'Block') continue;
    if (blockNodes.has(node.name)) fail(c, `block ${quote(node.name)} defined twice`, node.at);
    blockNodes.set(node.name, node);
  }
  const root = rootCode(
    c,
    body,
    all.some((node) => node.type === 'Extends'),
  );
  const blocks = new Map<string, BlockCode>();
  for (const [name, node] of blockNodes) blocks.set(name, blockCode(c, name, node));
  return { root, blocks };
}

function rootCode(c: Compilation, body: n.Stmt[], hasExtends: boolean): (ctx: Context) => void {
  const scope = new FunctionScope(null, c.work);
  const frame = new Frame(new Symbols(null, scope));
  const self = findUndeclared(body, ['self']).has('self')
    ? frame.symbols.declareParameter('self')
    : null;
  analyze(frame.symbols, body);
  frame.toplevel = frame.rootlevel = true;
  frame.requireOutputCheck = hasExtends;
  const parent = hasExtends ? parentSlot(scope) : null;
  const enter = enterFrame(frame);
  const run = c.body(body, frame);
  const slots = scope.size;
  return (ctx) => {
    const a = new Activation(slots, ctx, null);
    if (self !== null) a.vars[self.index] = new TemplateReference(ctx);
    enter(a);
    run(a);
    const extended =
      parent === null ? undefined : (a.vars[parent.index] as LoadedTemplate | undefined);
    if (extended === undefined) return;
    ctx.budget.enter();
    extended.compiled.root(ctx);
    ctx.budget.leave();
  };
}

function blockCode(c: Compilation, name: string, node: n.Block): BlockCode {
  const scope = new FunctionScope(null, c.work);
  const frame = new Frame(new Symbols(null, scope));
  const undeclared = findUndeclared(node.body, ['self', 'super']);
  const self = undeclared.has('self') ? frame.symbols.declareParameter('self') : null;
  const parent = undeclared.has('super') ? frame.symbols.declareParameter('super') : null;
  analyze(frame.symbols, node.body);
  const enter = enterFrame(frame);
  const run = c.body(node.body, frame);
  const slots = scope.size;
  const code: BlockCode = {
    run: (ctx) => {
      const a = new Activation(slots, ctx, null);
      if (self !== null) a.vars[self.index] = new TemplateReference(ctx);
      if (parent !== null) a.vars[parent.index] = superBlock(ctx, name, code);
      ctx.budget.enter();
      enter(a);
      run(a);
      ctx.budget.leave();
    },
  };
  return code;
}

export function block(c: Compilation, node: n.Block, frame: Frame): Execute | null {
  if (frame.toplevel && c.hasKnownExtends) return null;
  const { name, required } = node;
  const locals = node.scoped ? localsOf(c, frame) : null;
  const place = placeOf(c, node.at);
  const run: Execute = (a) => {
    const stack = a.ctx.blocks.get(name)!;
    if (required && stack.length <= 1)
      throw locate(new TemplateRuntimeError(`Required block ${quote(name)} not found`), place);
    stack[0]!.run(locals === null ? a.ctx : a.ctx.derived(locals(a)));
    return NEXT;
  };
  return frame.toplevel && c.extendsSoFar > 0 ? unlessExtended(frame, run) : run;
}

export function extendsStatement(c: Compilation, node: n.Extends, frame: Frame): Execute {
  if (!frame.toplevel) fail(c, 'cannot use extend from a non top-level scope', node.at);
  const place = placeOf(c, node.at);
  const again = () => locate(new TemplateRuntimeError('extended multiple times'), place);
  if (c.hasKnownExtends) {
    c.deadCode = true;
    return () => {
      throw again();
    };
  }
  const check = c.extendsSoFar > 0;
  const name = c.expression(node.template, frame);
  const parent = parentSlot(frame.symbols.scope);
  if (frame.rootlevel) c.hasKnownExtends = true;
  c.extendsSoFar++;
  return (a) => {
    if (check && a.vars[parent.index] !== undefined) throw again();
    try {
      const template = c.env.templateFor(a.ctx, name(a));
      a.vars[parent.index] = template;
      a.ctx.budget.step(template.compiled.blocks.size * 4);
      for (const [block, code] of template.compiled.blocks) {
        const stack = a.ctx.blocks.get(block);
        if (stack === undefined) a.ctx.blocks.set(block, [code]);
        else stack.push(code);
      }
      return NEXT;
    } catch (error) {
      throw locate(error, place);
    }
  };
}
