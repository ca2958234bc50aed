// Statements to closures: the order of a body, output, conditions, filter blocks, with, autoescape. After expressions.ts in the
// chain of classes; variables.ts, inheritance.ts, imports.ts and functions.ts add the statements that are abstract here.
import { locate, TemplateSyntaxError, typeError } from '../errors.ts';
import type { Activation } from '../runtime/activation.ts';
import type * as n from '../syntax/nodes.ts';
import { truthy } from '../values/iterate.ts';
import { escapeValue, str } from '../values/repr.ts';
import { Markup, typeName, type Value } from '../values/types.ts';
import type { Evaluate } from './compiler.ts';
import { NOT_CONSTANT } from './constants.ts';
import { ExpressionCompiler } from './expressions.ts';
import type { Frame } from './frame.ts';
import { analyze } from './symbols.ts';

/** What a statement asks of the loop around it. */
export type Signal = 0 | 1 | 2;
export const NEXT: Signal = 0;
export const BREAK: Signal = 1;
export const CONTINUE: Signal = 2;

export type Execute = (a: Activation) => Signal;

export abstract class StatementCompiler extends ExpressionCompiler {
  /** Set once a parent template is certain: what follows writes nothing. */
  protected hasKnownExtends = false;
  /** Set when nothing after a statement can run. */
  protected deadCode = false;

  // variables.ts
  protected abstract target(node: n.Expr, frame: Frame): (a: Activation, value: Value) => void;
  protected abstract assign(node: n.Assign, frame: Frame): Execute;
  protected abstract assignBlock(node: n.AssignBlock, frame: Frame): Execute;
  // inheritance.ts
  protected abstract unlessExtended(frame: Frame, run: Execute): Execute;
  protected abstract block(node: n.Block, frame: Frame): Execute | null;
  protected abstract extendsStatement(node: n.Extends, frame: Frame): Execute;
  // imports.ts
  protected abstract include(node: n.Include, frame: Frame): Execute;
  protected abstract importStatement(node: n.Import, frame: Frame): Execute;
  protected abstract fromImport(node: n.FromImport, frame: Frame): Execute;
  // functions.ts
  protected abstract forLoop(node: n.For, frame: Frame): Execute;
  protected abstract macro(node: n.Macro, frame: Frame): Execute;
  protected abstract callBlock(node: n.CallBlock, frame: Frame): Execute;

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

  /** Statements one after another. Long ones are paid for as a whole: not every statement pays by itself. */
  protected body(nodes: n.Stmt[], frame: Frame): Execute {
    const { code, cost } = this.weighed(() => this.sequence(nodes, frame));
    if (cost === 0) return code;
    return (a) => {
      a.ctx.budget.step(cost);
      return code(a);
    };
  }

  private sequence(nodes: n.Stmt[], frame: Frame): Execute {
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
    this.parts++;
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

  /** Whether the text of a block is Markup for the filters that take it. */
  protected wrapsBlocks(): (a: Activation) => boolean {
    if (this.evalCtx.volatile) return (a) => a.ctx.evalCtx.autoescape;
    const { autoescape } = this.evalCtx;
    return () => autoescape;
  }
}
