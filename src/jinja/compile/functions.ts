// The statements that make functions: for loops (plain, filtered, recursive), macros and call blocks. Top of the compiler.
import type { Environment } from '../environment.ts';
import { locate, TemplateSyntaxError } from '../errors.ts';
import { Activation } from '../runtime/activation.ts';
import { LoopContext } from '../runtime/loop.ts';
import { Macro, type MacroCode } from '../runtime/macro.ts';
import type * as n from '../syntax/nodes.ts';
import { descendants } from '../syntax/nodes.ts';
import { DictView, isDict } from '../values/dict.ts';
import { elements, iterator } from '../values/iterate.ts';
import { str } from '../values/repr.ts';
import { Iterator, Markup, orNone, Tuple, type Value } from '../values/types.ts';
import { Undefined } from '../values/undefined.ts';
import type { Evaluate, Source } from './compiler.ts';
import type { Frame } from './frame.ts';
import { ImportCompiler } from './imports.ts';
import type { CompiledTemplate } from './inheritance.ts';
import { BREAK, type Execute, NEXT, type Signal } from './statements.ts';
import { analyze, FunctionScope, findUndeclared, type Slot } from './symbols.ts';

/** Compiles the body of a template. */
export function compileTemplate(
  env: Environment,
  source: Source,
  body: n.Stmt[],
): CompiledTemplate {
  return new FunctionCompiler(env, source).template(body);
}

/** Runs the body of a loop over an iterable; answers false when there was nothing to iterate. */
type RunLoop = (
  a: Activation,
  iterable: Value,
  depth: number,
  recurse: ((items: Value, depth: number) => Value) | null,
) => boolean;

class FunctionCompiler extends ImportCompiler {
  protected forLoop(node: n.For, frame: Frame): Execute {
    for (const name of descendants([node]))
      if (name.type === 'Name' && name.ctx === 'store' && name.name === 'loop')
        this.fail("Can't assign to special loop variable in for-loop target", name.at);
    return node.recursive ? this.recursiveLoop(node, frame) : this.plainLoop(node, frame);
  }

  private plainLoop(node: n.For, frame: Frame): Execute {
    const iter = this.expression(node.iter, frame);
    const loop = this.loop(node, frame, undefined);
    const otherwise = this.elseBody(node, frame, undefined);
    const place = this.place(node.iter.at);
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

  private recursiveLoop(node: n.For, frame: Frame): Execute {
    const scope = new FunctionScope(frame.symbols.scope, this.work);
    const iter = this.expression(node.iter, frame);
    const loop = this.loop(node, frame, scope);
    const otherwise = this.elseBody(node, frame, scope);
    const slots = scope.size;
    const wrap = this.wrapsBlocks();
    const place = this.place(node.at);
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

  private elseBody(node: n.For, frame: Frame, scope: FunctionScope | undefined): Execute | null {
    if (node.else_.length === 0) return null;
    const inner = frame.inner(scope);
    analyze(inner.symbols, node.else_);
    const enter = this.enter(inner);
    const body = this.body(node.else_, inner);
    const leave = this.leave(inner);
    return (a) => {
      enter(a);
      const signal = body(a);
      leave(a);
      return signal;
    };
  }

  /** The loop itself, in a frame of its own inside the function it belongs to. */
  private loop(node: n.For, frame: Frame, scope: FunctionScope | undefined): RunLoop {
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
    const filter = node.test === null ? null : this.loopFilter(node, frame, scope);
    const enterOnce = this.enter(inner, 'once');
    const enterEach = this.enter(inner, 'each');
    const store = this.target(node.target, inner);
    const body = this.body(node.body, inner);
    const leave = this.leave(inner);
    const place = this.place(node.iter.at);
    const run =
      loopSlot === null
        ? this.simpleTurns(store, enterEach, body)
        : this.extendedTurns(loopSlot, store, enterEach, body);
    return (a, iterable, depth, recurse) => {
      let items: Value[] | null;
      let source: Iterator | null = null;
      try {
        const from = filter === null ? iterable : filter(a, iterable);
        // Dicts are walked by an iterator, which notices when they change underneath.
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

  private simpleTurns(
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

  private extendedTurns(
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

  /** `for x in xs if test`: a function of its own that lets items through one by one. */
  private loopFilter(
    node: n.For,
    frame: Frame,
    around: FunctionScope | undefined,
  ): (a: Activation, iterable: Value) => Value {
    const scope = new FunctionScope(around ?? frame.symbols.scope, this.work);
    const inner = frame.inner(scope);
    analyze(inner.symbols, [node.target], true);
    analyze(inner.symbols, [node.test!]);
    const enter = this.enter(inner);
    const store = this.target(node.target, inner);
    const reload = this.reload(node.target, inner);
    const { code: test, cost } = this.weighed(() => this.condition(node.test!, inner));
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
  private reload(target: n.Expr, frame: Frame): Evaluate {
    if (target.type === 'Name') {
      const { index } = frame.symbols.ref(target.name);
      return (a) => orNone(a.vars[index]);
    }
    const items = (target as n.TupleNode).items.map((item) => this.reload(item, frame));
    return (a) => new Tuple(items.map((item) => item(a)));
  }

  protected macro(node: n.Macro, frame: Frame): Execute {
    const code = this.macroCode(node, node.name, frame);
    const { index } = frame.symbols.ref(node.name);
    const publish = frame.toplevel ? this.publishNames([node.name], frame, true) : null;
    return (a) => {
      a.ctx.budget.step(4);
      a.vars[index] = new Macro(code, a);
      publish?.(a);
      return NEXT;
    };
  }

  protected callBlock(node: n.CallBlock, frame: Frame): Execute {
    const code = this.macroCode(node, null, frame);
    const call = this.call(node.call, frame, (a) => new Macro(code, a));
    const joined = this.located(node.at, (a) => this.joinable(call(a)));
    return (a): Signal => {
      a.ctx.budget.write(joined(a) as string);
      return NEXT;
    };
  }

  private macroCode(node: n.Macro | n.CallBlock, name: string | null, around: Frame): MacroCode {
    const scope = new FunctionScope(around.symbols.scope, this.work);
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
          this.place(arg.at),
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
      this.fail(
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
    const enter = this.enter(frame);
    const { code: fill, cost } = this.weighed(() => this.defaults(node, slots, frame));
    const body = this.body(node.body, frame);
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

  /** Parameters nobody gave a value: the default, or undefined with a reason. */
  private defaults(node: n.Signature, slots: number[], frame: Frame): (a: Activation) => void {
    const offset = node.args.length - node.defaults.length;
    const values = node.args.map((arg, i): Evaluate => {
      if (i >= offset) return this.expression(node.defaults[i - offset]!, frame);
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
}
