// Statements to closures: output, conditions, assignments, scopes, blocks and inheritance. Loops and macros are in functions.ts.
import type { BlockCode, Context, Lookup } from '../context.ts';
import {
  locate,
  TemplateRuntimeError,
  TemplateSyntaxError,
  typeError,
  valueError,
} from '../errors.ts';
import { Activation, superBlock, type TemplateModule, TemplateReference } from '../runtime.ts';
import type * as n from '../syntax/nodes.ts';
import { descendants } from '../syntax/nodes.ts';
import type { Template } from '../template.ts';
import { elements, isIterable, toList, truthy } from '../values/iterate.ts';
import { escapeValue, quote, str } from '../values/repr.ts';
import { Markup, Namespace, orNone, typeName, type Value } from '../values/types.ts';
import { NOT_CONSTANT } from './constants.ts';
import { type Evaluate, ExpressionCompiler } from './expressions.ts';
import { Frame } from './frame.ts';
import { analyze, FunctionScope, findUndeclared, type Slot, Symbols } from './symbols.ts';

/** What a statement asks of the loop around it. */
export type Signal = 0 | 1 | 2;
export const NEXT: Signal = 0;
export const BREAK: Signal = 1;
export const CONTINUE: Signal = 2;

export type Execute = (a: Activation) => Signal;

/** How the variables around a place are read, by name. */
type Reads = Map<string, (a: Activation) => Value | undefined>;

export interface CompiledTemplate {
  readonly root: (ctx: Context) => void;
  readonly blocks: Map<string, BlockCode>;
}

export abstract class StatementCompiler extends ExpressionCompiler {
  private extendsSoFar = 0;
  private hasKnownExtends = false;
  /** By frame: all includes of one see the same variables. */
  private readonly reads = new Map<Symbols, Reads>();
  /** Set when nothing after a statement can run. */
  private deadCode = false;

  protected abstract forLoop(node: n.For, frame: Frame): Execute;
  protected abstract macro(node: n.Macro, frame: Frame): Execute;
  protected abstract callBlock(node: n.CallBlock, frame: Frame): Execute;

  template(body: n.Stmt[]): CompiledTemplate {
    const all = [...descendants(body)];
    const blockNodes = new Map<string, n.Block>();
    for (const node of all) {
      if (node.type !== 'Block') continue;
      if (blockNodes.has(node.name)) this.fail(`block ${quote(node.name)} defined twice`, node.at);
      blockNodes.set(node.name, node);
    }
    const root = this.root(
      body,
      all.some((node) => node.type === 'Extends'),
    );
    const blocks = new Map<string, BlockCode>();
    for (const [name, node] of blockNodes) blocks.set(name, this.blockFunction(name, node));
    return { root, blocks };
  }

  private root(body: n.Stmt[], hasExtends: boolean): (ctx: Context) => void {
    const scope = new FunctionScope(null, this.work);
    const frame = new Frame(new Symbols(null, scope));
    const self = findUndeclared(body, ['self']).has('self')
      ? frame.symbols.declareParameter('self')
      : null;
    analyze(frame.symbols, body);
    frame.toplevel = frame.rootlevel = true;
    frame.requireOutputCheck = hasExtends;
    const parent = hasExtends ? this.parentSlot(scope) : null;
    const enter = this.enter(frame);
    const run = this.body(body, frame);
    const slots = scope.size;
    return (ctx) => {
      const a = new Activation(slots, ctx, null);
      if (self !== null) a.vars[self.index] = new TemplateReference(ctx);
      enter(a);
      run(a);
      const extended = parent === null ? undefined : (a.vars[parent.index] as Template | undefined);
      if (extended === undefined) return;
      ctx.budget.enter();
      extended.compiled.root(ctx);
      ctx.budget.leave();
    };
  }

  private parentSlot(scope: FunctionScope): Slot {
    return scope.slot('parent template');
  }

  private blockFunction(name: string, node: n.Block): BlockCode {
    const scope = new FunctionScope(null, this.work);
    const frame = new Frame(new Symbols(null, scope));
    const undeclared = findUndeclared(node.body, ['self', 'super']);
    const self = undeclared.has('self') ? frame.symbols.declareParameter('self') : null;
    const parent = undeclared.has('super') ? frame.symbols.declareParameter('super') : null;
    analyze(frame.symbols, node.body);
    const enter = this.enter(frame);
    const run = this.body(node.body, frame);
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

  /** Gives the variables of a frame their first values. `only` picks loads that can be done once for a whole loop, or the rest. */
  protected enter(frame: Frame, only?: 'once' | 'each'): (a: Activation) => void {
    const { loads, refs, stores } = frame.symbols;
    const stored = new Set(
      [...refs].filter(([name]) => stores.has(name)).map(([, slot]) => slot.index),
    );
    const resolves: [number, string][] = [];
    const aliases: [number, (a: Activation) => Value | undefined][] = [];
    const clears: number[] = [];
    for (const [index, load] of loads) {
      const once = load.how === 'resolve' && !stored.has(index);
      if (only !== undefined && (only === 'once') !== once) continue;
      if (load.how === 'resolve') resolves.push([index, load.name]);
      else if (load.how === 'alias') aliases.push([index, this.read(load.from, frame)]);
      else if (load.how === 'undefined') clears.push(index);
    }
    if (resolves.length + aliases.length + clears.length === 0) return () => {};
    return (a) => {
      const { vars, ctx } = a;
      for (let i = 0; i < resolves.length; i++)
        vars[resolves[i]![0]] = ctx.resolve(resolves[i]![1]);
      for (let i = 0; i < aliases.length; i++) vars[aliases[i]![0]] = aliases[i]![1](a);
      for (let i = 0; i < clears.length; i++) vars[clears[i]!] = undefined;
    };
  }

  /** Forgets the variables of a frame that shares its function with code after it. */
  protected leave(frame: Frame): (a: Activation) => void {
    const indexes = [...frame.symbols.loads.keys()];
    return (a) => {
      for (let i = 0; i < indexes.length; i++) a.vars[indexes[i]!] = undefined;
    };
  }

  protected body(nodes: n.Stmt[], frame: Frame): Execute {
    const statements: Execute[] = [];
    for (const node of nodes) {
      const statement = this.statement(node, frame);
      if (statement !== null) statements.push(statement);
      if (this.deadCode) break;
    }
    this.deadCode = false;
    if (statements.length === 0) return () => NEXT;
    if (statements.length === 1) return statements[0]!;
    if (statements.length === 2) {
      const [first, second] = statements as [Execute, Execute];
      return (a) => first(a) || second(a);
    }
    return (a) => {
      for (let i = 0; i < statements.length; i++) {
        const signal = statements[i]!(a);
        if (signal !== NEXT) return signal;
      }
      return NEXT;
    };
  }

  private statement(node: n.Stmt, frame: Frame): Execute | null {
    switch (node.type) {
      case 'Output':
        return this.output(node, frame);
      case 'If':
        return this.ifStatement(node, frame);
      case 'For':
        return this.forLoop(node, frame);
      case 'Macro':
        return this.macro(node, frame);
      case 'CallBlock':
        return this.callBlock(node, frame);
      case 'FilterBlock':
        return this.filterBlock(node, frame);
      case 'With':
        return this.withStatement(node, frame);
      case 'Block':
        return this.block(node, frame);
      case 'Extends':
        return this.extendsStatement(node, frame);
      case 'Include':
        return this.include(node, frame);
      case 'Import':
        return this.importStatement(node, frame);
      case 'FromImport':
        return this.fromImport(node, frame);
      case 'Assign':
        return this.assign(node, frame);
      case 'AssignBlock':
        return this.assignBlock(node, frame);
      case 'Autoescape':
        return this.autoescape(node, frame);
      case 'ExprStmt': {
        const run = this.expression(node.node, frame);
        return (a) => {
          run(a);
          return NEXT;
        };
      }
      case 'Break':
      case 'Continue': {
        const word = node.type.toLowerCase();
        if (!frame.inLoop) {
          const message =
            word === 'break' ? "'break' outside loop" : "'continue' not properly in loop";
          throw locate(new TemplateSyntaxError(message, 'SyntaxError'), this.place(node.at));
        }
        const signal = node.type === 'Break' ? BREAK : CONTINUE;
        return () => signal;
      }
    }
  }

  /** Writes only when no parent template has taken over. */
  private unlessExtended(frame: Frame, run: Execute): Execute {
    let top = frame.symbols;
    while (top.parent !== null) top = top.parent;
    const parent = this.read(this.parentSlot(top.scope), frame);
    return (a) => (parent(a) === undefined ? run(a) : NEXT);
  }

  private output(node: n.Output, frame: Frame): Execute | null {
    if (frame.requireOutputCheck && this.hasKnownExtends) return null;
    // texts[i] comes before values[i]; constants and template data are joined, escaped, now.
    const texts: string[] = [''];
    const values: Evaluate[] = [];
    for (const child of node.nodes) {
      const constant = this.outputConstant(child);
      if (constant !== null) texts[texts.length - 1] += constant;
      else {
        values.push(this.written(child, frame));
        texts.push('');
      }
    }
    const run = this.writer(texts, values);
    return frame.requireOutputCheck ? this.unlessExtended(frame, run) : run;
  }

  private outputConstant(node: n.Expr): string | null {
    try {
      const value = this.folder.fold(node);
      if (value === NOT_CONSTANT) return null;
      const ctx = this.env.bareContext();
      return this.evalCtx.autoescape ? escapeValue(ctx.budget, value) : str(ctx.budget, value);
    } catch {
      return null;
    }
  }

  /** An expression as the text to write. */
  private written(node: n.Expr, frame: Frame): Evaluate {
    const value = this.expression(node, frame);
    const place = this.place(node.at);
    if (this.evalCtx.volatile)
      return this.located(node.at, (a) => {
        const { budget, evalCtx } = a.ctx;
        return evalCtx.autoescape ? escapeValue(budget, value(a)) : str(budget, value(a));
      });
    const convert = this.evalCtx.autoescape ? escapeValue : str;
    return (a) => {
      const result = value(a);
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

  private writer(texts: string[], values: Evaluate[]): Execute {
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

  private ifStatement(node: n.If, frame: Frame): Execute {
    const soft = frame.soft();
    const branches = [node, ...node.elif].map((branch) => ({
      test: this.condition(branch.test, soft),
      body: this.body(branch.body, soft),
    }));
    const otherwise = this.body(node.else_, soft);
    if (branches.length === 1) {
      const { test, body } = branches[0]!;
      return (a) => (test(a) ? body(a) : otherwise(a));
    }
    return (a) => {
      for (const { test, body } of branches) if (test(a)) return body(a);
      return otherwise(a);
    };
  }

  protected condition(node: n.Expr, frame: Frame): (a: Activation) => boolean {
    const test = this.expression(node, frame);
    const place = this.place(node.at);
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

  private filterBlock(node: n.FilterBlock, frame: Frame): Execute {
    const inner = frame.inner();
    analyze(inner.symbols, [...node.body, node.filter]);
    const enter = this.enter(inner);
    const body = this.body(node.body, inner);
    const captured = this.captured(body);
    const wrap = this.wrapsBlocks();
    let content: string | Markup = '';
    const filter = this.filter(node.filter, inner, () => content);
    const write = this.writer(['', ''], [this.located(node.at, (a) => this.joinable(filter(a)))]);
    const leave = this.leave(inner);
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

  /** The value of a filter or call block is written as it is, without escaping; Python cannot join what is not text. */
  protected joinable(value: Value): string {
    if (typeof value === 'string') return value;
    if (value instanceof Markup) return value.text;
    throw typeError(`sequence item 0: expected str instance, ${typeName(value)} found`);
  }

  protected captured(body: Execute): (a: Activation) => { text: string; signal: Signal } {
    return (a) => {
      const { budget } = a.ctx;
      budget.beginCapture();
      const signal = body(a);
      return { text: budget.endCapture(), signal };
    };
  }

  private withStatement(node: n.With, frame: Frame): Execute {
    const inner = frame.inner();
    analyze(inner.symbols, node.targets);
    analyze(inner.symbols, node.body);
    const enter = this.enter(inner);
    const values = node.values.map((value) => this.expression(value, frame));
    const stores = node.targets.map((target) => this.target(target, inner));
    const body = this.body(node.body, inner);
    const leave = this.leave(inner);
    return (a) => {
      enter(a);
      for (let i = 0; i < stores.length; i++) stores[i]!(a, values[i]!(a));
      const signal = body(a);
      leave(a);
      return signal;
    };
  }

  private autoescape(node: n.Autoescape, frame: Frame): Execute {
    const inner = frame.inner();
    analyze(inner.symbols, [node.value, ...node.body]);
    const enter = this.enter(inner);
    const value = this.expression(node.value, inner);
    const saved = { ...this.evalCtx };
    const constant = this.folder.fold(node.value);
    if (constant === NOT_CONSTANT) this.evalCtx.volatile = true;
    else this.evalCtx.autoescape = truthy(constant);
    const body = this.body(node.body, inner);
    Object.assign(this.evalCtx, saved);
    const leave = this.leave(inner);
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

  /** Stores a value into an assignment target. */
  protected target(node: n.Expr, frame: Frame): (a: Activation, value: Value) => void {
    if (node.type === 'Name') {
      const { index } = frame.symbols.ref(node.name);
      return (a, value) => {
        a.vars[index] = value;
      };
    }
    if (node.type === 'NSRef') {
      const read = this.read(frame.symbols.ref(node.name), frame);
      const { attr } = node;
      return (a, value) => {
        a.ctx.budget.step(4);
        (read(a) as Namespace).attributes.set(attr, value);
      };
    }
    const targets = (node as n.TupleNode).items.map((item) => this.target(item, frame));
    return (a, value) => {
      const items = unpack(a.ctx, value, targets.length);
      for (let i = 0; i < targets.length; i++) targets[i]!(a, orNone(items[i]));
    };
  }

  private assign(node: n.Assign, frame: Frame): Execute {
    const namespaces = [
      ...new Set(
        [...descendants([node.target])].flatMap((ref) => (ref.type === 'NSRef' ? [ref.name] : [])),
      ),
    ];
    const checks = namespaces.map((name) => this.read(frame.symbols.ref(name), frame));
    const value = this.expression(node.node, frame);
    const store = this.target(node.target, frame);
    const publish = this.publish(node.target, frame);
    const place = this.place(node.at);
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
  private publish(target: n.Expr, frame: Frame): ((a: Activation) => void) | null {
    if (!frame.toplevel) return null;
    const names = [...descendants([target])].flatMap((node) =>
      node.type === 'Name' ? [node.name] : [],
    );
    return this.publishNames(names, frame, true);
  }

  protected publishNames(
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

  private assignBlock(node: n.AssignBlock, frame: Frame): Execute {
    const inner = frame.inner();
    inner.requireOutputCheck = false;
    analyze(inner.symbols, node.body);
    const enter = this.enter(inner);
    const captured = this.captured(this.body(node.body, inner));
    let text: string | Markup = '';
    const filter = node.filter === null ? null : this.filter(node.filter, inner, () => text);
    const wrap = this.wrapsBlocks();
    const store = this.target(node.target, frame);
    const publish = this.publish(node.target, frame);
    const leave = this.leave(inner);
    const checks =
      node.target.type === 'NSRef' ? this.read(frame.symbols.ref(node.target.name), frame) : null;
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

  /** Whether the text of a block is Markup for the filters that take it. */
  private wrapsBlocks(): (a: Activation) => boolean {
    if (this.evalCtx.volatile) return (a) => a.ctx.evalCtx.autoescape;
    const { autoescape } = this.evalCtx;
    return () => autoescape;
  }

  private block(node: n.Block, frame: Frame): Execute | null {
    if (frame.toplevel && this.hasKnownExtends) return null;
    const { name, required } = node;
    const locals = node.scoped ? this.locals(frame) : null;
    const place = this.place(node.at);
    const run: Execute = (a) => {
      const stack = a.ctx.blocks.get(name)!;
      if (required && stack.length <= 1)
        throw locate(new TemplateRuntimeError(`Required block ${quote(name)} not found`), place);
      stack[0]!.run(locals === null ? a.ctx : a.ctx.derived(locals(a)));
      return NEXT;
    };
    return frame.toplevel && this.extendsSoFar > 0 ? this.unlessExtended(frame, run) : run;
  }

  /** The variables set in templates around here, for what is given a context of its own. */
  private locals(frame: Frame): (a: Activation) => Lookup {
    const reads = this.readsOf(frame);
    return (a) => ({ get: (name) => reads.get(name)?.(a) });
  }

  private readsOf(frame: Frame): Reads {
    const known = this.reads.get(frame.symbols);
    if (known !== undefined) return known;
    const reads: Reads = new Map();
    for (const [name, slot] of frame.symbols.visibleStores())
      reads.set(name, this.read(slot, frame));
    this.reads.set(frame.symbols, reads);
    return reads;
  }

  private extendsStatement(node: n.Extends, frame: Frame): Execute {
    if (!frame.toplevel) this.fail('cannot use extend from a non top-level scope', node.at);
    const place = this.place(node.at);
    const again = () => locate(new TemplateRuntimeError('extended multiple times'), place);
    if (this.hasKnownExtends) {
      this.deadCode = true;
      return () => {
        throw again();
      };
    }
    const check = this.extendsSoFar > 0;
    const name = this.expression(node.template, frame);
    const parent = this.parentSlot(frame.symbols.scope);
    if (frame.rootlevel) this.hasKnownExtends = true;
    this.extendsSoFar++;
    return (a) => {
      if (check && a.vars[parent.index] !== undefined) throw again();
      try {
        const template = this.env.templateFor(a.ctx, name(a));
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

  private include(node: n.Include, frame: Frame): Execute {
    const name = this.expression(node.template, frame);
    const list = node.template.type === 'List' || node.template.type === 'Tuple';
    const single = node.template.type === 'Const' && typeof node.template.value === 'string';
    const locals = this.locals(frame);
    const place = this.place(node.at);
    const { ignoreMissing, withContext } = node;
    return (a) => {
      try {
        const wanted = name(a);
        const template = this.env.includeFor(
          a.ctx,
          wanted,
          list ? 'list' : single ? 'name' : 'either',
          ignoreMissing,
        );
        if (template === null) return NEXT;
        if (withContext) template.renderInto(a.ctx, a.ctx.seenWith(locals(a)));
        else {
          // Jinja2 forgets that it may be inside a {% filter %} or {% set %} block here and writes past it.
          const { body } = template.moduleFor(a.ctx) as TemplateModule;
          if (a.outer === null) a.ctx.budget.writeAround(body, a.captures);
          else a.ctx.budget.write(body);
        }
        return NEXT;
      } catch (error) {
        throw locate(error, place);
      }
    };
  }

  private imported(node: n.Import | n.FromImport, frame: Frame): (a: Activation) => TemplateModule {
    const name = this.expression(node.template, frame);
    const reads = this.readsOf(frame);
    const locals = (a: Activation): Map<string, Value> => {
      a.ctx.budget.step(reads.size * 4);
      const out = new Map<string, Value>();
      for (const [name, read] of reads) out.set(name, read(a));
      return out;
    };
    const { withContext } = node;
    const place = this.place(node.at);
    return (a) => {
      try {
        const template = this.env.templateFor(a.ctx, name(a));
        return (
          withContext
            ? template.makeModule(a.ctx, a.ctx.snapshotWith(locals(a)))
            : template.moduleFor(a.ctx)
        ) as TemplateModule;
      } catch (error) {
        throw locate(error, place);
      }
    };
  }

  private importStatement(node: n.Import, frame: Frame): Execute {
    const module = this.imported(node, frame);
    const { index } = frame.symbols.ref(node.target);
    const publish = frame.toplevel ? this.publishNames([node.target], frame, false) : null;
    return (a) => {
      a.vars[index] = module(a);
      publish?.(a);
      return NEXT;
    };
  }

  private fromImport(node: n.FromImport, frame: Frame): Execute {
    const module = this.imported(node, frame);
    const names = node.names.map(({ name, alias }) => ({
      name,
      index: frame.symbols.ref(alias).index,
    }));
    const publish = frame.toplevel
      ? this.publishNames(
          node.names.map(({ alias }) => alias),
          frame,
          false,
        )
      : null;
    const position = `line ${this.lineOf(node.at)}${this.source.name === null ? '' : ` in ${quote(this.source.name)}`}`;
    return (a) => {
      const from = module(a);
      for (const { name, index } of names) {
        const found = from.attribute(a.ctx, name);
        const hint = `the template ${from.name === null ? 'None' : quote(from.name)} (imported on ${position}) does not export the requested name ${quote(name)}`;
        a.vars[index] = found === undefined ? a.ctx.undefinedBecause(hint, name) : found;
      }
      publish?.(a);
      return NEXT;
    };
  }
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
