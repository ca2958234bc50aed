// Objects templates meet while rendering: macros, `loop`, `self` and `super`, imported modules. Made by compiled code.
import type { BlockCode, Context } from './context.ts';
import { typeError } from './errors.ts';
import { BoundMethod, type Native, variadic } from './methods/signature.ts';
import { equals } from './values/compare.ts';
import { quote } from './values/repr.ts';
import {
  Dict,
  Iterator,
  type Kwargs,
  Markup,
  orNone,
  Tuple,
  type Value,
  WithAttributes,
} from './values/types.ts';

/** The variables of one running function: a template's root, a block, a macro, a recursive loop. */
export class Activation {
  readonly vars: (Value | undefined)[];
  readonly outer: Activation | null;
  readonly ctx: Context;
  /** Captures that were open when the function started. */
  readonly captures: number;
  constructor(slots: number, ctx: Context, outer: Activation | null) {
    this.vars = new Array(slots);
    this.ctx = ctx;
    this.outer = outer;
    this.captures = ctx.budget.captures;
  }
}

export interface MacroCode {
  readonly name: string | null;
  readonly params: readonly string[];
  /** Slot of each parameter. */
  readonly slots: readonly number[];
  readonly callerSlot: number;
  readonly kwargsSlot: number;
  readonly varargsSlot: number;
  readonly slotCount: number;
  /** Fills in defaults and writes the body. */
  readonly run: (activation: Activation) => void;
}

export class Macro extends WithAttributes {
  private readonly code: MacroCode;
  private readonly home: Activation;
  constructor(code: MacroCode, home: Activation) {
    super();
    this.code = code;
    this.home = home;
  }
  get typeName() {
    return 'Macro';
  }
  override get moduleName() {
    return 'jinja2.runtime';
  }
  override repr(): string {
    return `<Macro ${this.code.name === null ? 'anonymous' : quote(this.code.name)}>`;
  }

  attribute(_ctx: Context, name: string): Value | undefined {
    const { code } = this;
    switch (name) {
      case 'name':
        return code.name;
      case 'arguments':
        return new Tuple([...code.params]);
      case 'catch_kwargs':
        return code.kwargsSlot >= 0;
      case 'catch_varargs':
        return code.varargsSlot >= 0;
      case 'caller':
        return code.callerSlot >= 0 || code.params.includes('caller');
      case 'explicit_caller':
        return code.params.includes('caller');
      default:
        return undefined;
    }
  }

  override call(ctx: Context, args: Value[], kwargs: Kwargs | null): Value {
    const { code } = this;
    const { budget } = ctx;
    const activation = new Activation(code.slotCount, this.home.ctx, this.home);
    const { vars } = activation;
    const given = Math.min(args.length, code.slots.length);
    for (let i = 0; i < given; i++) vars[code.slots[i]!] = args[i];
    if (
      kwargs !== null ||
      args.length > given ||
      code.callerSlot >= 0 ||
      code.kwargsSlot >= 0 ||
      code.varargsSlot >= 0
    )
      this.bindRest(ctx, vars, args, given, kwargs);
    budget.enter();
    budget.step(code.slots.length);
    budget.beginCapture();
    code.run(activation);
    const text = budget.endCapture();
    budget.leave();
    return ctx.evalCtx.autoescape ? new Markup(text) : text;
  }

  /** Keywords, the caller, and what is left over. */
  private bindRest(
    ctx: Context,
    vars: Value[],
    args: Value[],
    given: number,
    kwargs: Kwargs | null,
  ): void {
    const { code } = this;
    const rest = kwargs === null ? null : new Map(kwargs);
    if (rest !== null)
      for (let i = given; i < code.params.length; i++) {
        const value = rest.get(code.params[i]!);
        if (value !== undefined) {
          vars[code.slots[i]!] = value;
          rest.delete(code.params[i]!);
        }
      }
    if (code.callerSlot >= 0) {
      const caller = rest?.get('caller') ?? null;
      rest?.delete('caller');
      vars[code.callerSlot] = caller ?? ctx.undefinedBecause('No caller defined', 'caller');
    }
    if (code.kwargsSlot >= 0) {
      const dict = new Dict();
      if (rest !== null) for (const [key, value] of rest) dict.set(key, value);
      vars[code.kwargsSlot] = dict;
    } else if (rest !== null && rest.size > 0) {
      const name = code.name === null ? 'None' : quote(code.name);
      if (rest.has('caller'))
        throw typeError(
          `macro ${name} was invoked with two values for the special caller argument. This is most likely a bug.`,
        );
      throw typeError(`macro ${name} takes no keyword argument ${quote([...rest.keys()][0]!)}`);
    }
    if (code.varargsSlot >= 0) vars[code.varargsSlot] = new Tuple(args.slice(given));
    else if (args.length > given)
      throw typeError(
        `macro ${code.name === null ? 'None' : quote(code.name)} takes not more than ${code.params.length} argument(s)`,
      );
  }
}

/** The `loop` variable. */
export class LoopContext extends WithAttributes {
  index0 = -1;
  readonly depth0: number;
  private readonly ctx: Context;
  /** The items when they are at hand; otherwise `source` is walked. */
  private readonly items: Value[] | null;
  private readonly source: Iterator | null;
  private readonly recurse: ((items: Value, depth: number) => Value) | null;
  private total: number | null = null;
  private buffered: Value[] = [];
  private current: Value | undefined;
  private before: Value | undefined;
  private lastChanged: Value[] | null = null;

  constructor(
    ctx: Context,
    items: Value[] | null,
    source: Iterator | null,
    recurse: ((items: Value, depth: number) => Value) | null,
    depth0: number,
  ) {
    super();
    this.ctx = ctx;
    this.items = items;
    this.source = source;
    this.recurse = recurse;
    this.depth0 = depth0;
  }
  get typeName() {
    return 'LoopContext';
  }
  override get moduleName() {
    return 'jinja2.runtime';
  }
  override repr(): string {
    return `<LoopContext ${this.index0 + 1}/${this.count()}>`;
  }

  /** Moves to the next item; undefined at the end. */
  advance(): Value | undefined {
    let next: Value | undefined;
    if (this.items !== null) {
      if (this.index0 + 1 >= this.items.length) return undefined;
      next = orNone(this.items[this.index0 + 1]);
    } else {
      next = this.buffered.length > 0 ? this.buffered.shift() : this.source!.next();
      if (next === undefined) return undefined;
    }
    this.index0++;
    this.before = this.current;
    this.current = next;
    return next;
  }

  private peek(): Value | undefined {
    if (this.items !== null)
      return this.index0 + 1 < this.items.length ? orNone(this.items[this.index0 + 1]) : undefined;
    if (this.buffered.length === 0) {
      const next = this.source!.next();
      if (next !== undefined) this.buffered.push(next);
    }
    return this.buffered[0];
  }

  count(): number {
    if (this.total === null) {
      if (this.items !== null) this.total = this.items.length;
      else {
        for (let item = this.source!.next(); item !== undefined; item = this.source!.next()) {
          this.buffered.push(item);
          this.ctx.budget.step(2);
        }
        this.total = this.index0 + 1 + this.buffered.length;
      }
    }
    return this.total;
  }

  attribute(ctx: Context, name: string): Value | undefined {
    switch (name) {
      case 'index':
        return this.index0 + 1;
      case 'index0':
        return this.index0;
      case 'first':
        return this.index0 === 0;
      case 'last':
        return this.peek() === undefined;
      case 'length':
        return this.count();
      case 'revindex':
        return this.count() - this.index0;
      case 'revindex0':
        return this.count() - this.index0 - 1;
      case 'depth':
        return this.depth0 + 1;
      case 'depth0':
        return this.depth0;
      case 'previtem':
        return this.index0 === 0 ? ctx.undefinedBecause('there is no previous item') : this.before;
      case 'nextitem':
        return this.peek() ?? this.noNext(ctx);
      case 'cycle':
        return new BoundMethod(this, 'cycle', LOOP_CYCLE);
      case 'changed':
        return new BoundMethod(this, 'changed', LOOP_CHANGED);
      default:
        return undefined;
    }
  }
  private noNext(ctx: Context): Value {
    return this.peek() === undefined ? ctx.undefinedBecause('there is no next item') : null;
  }

  cycle(args: Value[]): Value {
    if (args.length === 0) throw typeError('no items for cycling given');
    return args[this.index0 % args.length];
  }
  changed(ctx: Context, args: Value[]): boolean {
    const last = this.lastChanged;
    if (
      last !== null &&
      last.length === args.length &&
      args.every((arg, i) => equals(ctx.budget, last[i], arg))
    )
      return false;
    this.lastChanged = args;
    return true;
  }

  override call(_ctx: Context, args: Value[], _kwargs: Kwargs | null): Value {
    if (this.recurse === null)
      throw typeError("The loop must have the 'recursive' marker to be called recursively.");
    if (args.length === 0)
      throw typeError("LoopContext.__call__() missing 1 required positional argument: 'iterable'");
    if (args.length > 1)
      throw typeError(
        `LoopContext.__call__() takes 2 positional arguments but ${args.length + 1} were given`,
      );
    return this.recurse(args[0], this.depth0 + 1);
  }

  iterate(): Iterator {
    return new Iterator('LoopContext', () => {
      const next = this.advance();
      return next === undefined ? undefined : new Tuple([next, this]);
    });
  }
}

const LOOP_CYCLE: Native = variadic((_ctx, loop: LoopContext, args: Value[]) => loop.cycle(args));
const LOOP_CHANGED: Native = variadic((ctx, loop: LoopContext, args: Value[]) =>
  loop.changed(ctx, args),
);

/** `self`: the blocks of the template by name. */
export class TemplateReference extends WithAttributes {
  private readonly ctx: Context;
  constructor(ctx: Context) {
    super();
    this.ctx = ctx;
  }
  get typeName() {
    return 'TemplateReference';
  }
  override get moduleName() {
    return 'jinja2.runtime';
  }
  override repr(): string {
    return `<TemplateReference ${this.ctx.name === null ? 'None' : quote(this.ctx.name)}>`;
  }
  attribute(): Value | undefined {
    return undefined;
  }
  item(key: Value): Value | undefined {
    const stack = typeof key === 'string' ? this.ctx.blocks.get(key) : undefined;
    return stack === undefined ? undefined : new BlockReference(key as string, this.ctx, stack, 0);
  }
}

/** A block to be called: `self.name()` or `super()`. */
export class BlockReference extends WithAttributes {
  private readonly name: string;
  private readonly ctx: Context;
  private readonly stack: BlockCode[];
  private readonly depth: number;
  constructor(name: string, ctx: Context, stack: BlockCode[], depth: number) {
    super();
    this.name = name;
    this.ctx = ctx;
    this.stack = stack;
    this.depth = depth;
  }
  get typeName() {
    return 'BlockReference';
  }
  override get moduleName() {
    return 'jinja2.runtime';
  }
  attribute(_ctx: Context, name: string): Value | undefined {
    if (name === 'super') return blockAt(this.ctx, this.name, this.stack, this.depth + 1);
    return name === 'name' ? this.name : undefined;
  }
  override call(): Value {
    const { budget, evalCtx } = this.ctx;
    budget.beginCapture();
    this.stack[this.depth]!.run(this.ctx);
    const text = budget.endCapture();
    return evalCtx.autoescape ? new Markup(text) : text;
  }
}

function blockAt(ctx: Context, name: string, stack: BlockCode[], depth: number): Value {
  if (depth >= stack.length)
    return ctx.undefinedBecause(`there is no parent block called ${quote(name)}.`, 'super');
  return new BlockReference(name, ctx, stack, depth);
}

/** What `super` means inside `block`. */
export function superBlock(ctx: Context, name: string, block: BlockCode): Value {
  const stack = ctx.blocks.get(name) ?? [];
  const index = stack.indexOf(block);
  return blockAt(ctx, name, stack, index === -1 ? stack.length : index + 1);
}

/** An imported template: its exported names, and its text when printed. */
export class TemplateModule extends WithAttributes {
  readonly name: string | null;
  readonly body: string;
  private readonly exports: Map<string, Value>;
  constructor(name: string | null, body: string, exports: Map<string, Value>) {
    super();
    this.name = name;
    this.body = body;
    this.exports = exports;
  }
  get typeName() {
    return 'TemplateModule';
  }
  override get moduleName() {
    return 'jinja2.environment';
  }
  override repr(): string {
    return `<TemplateModule ${this.name === null ? 'memory:7f0000000000' : quote(this.name)}>`;
  }
  override str(): string {
    return this.body;
  }
  html(): string {
    return this.body;
  }
  attribute(_ctx: Context, name: string): Value | undefined {
    return this.exports.get(name);
  }
}
