// The `loop` of a for loop: its position, and the items before and after. Made and advanced by
// compile/loops.ts.

import { typeError } from '../errors.ts';
import { BoundMethod, variadic } from '../methods/signature.ts';
import type { Context, Native } from '../running.ts';
import { equals } from '../values/compare.ts';
import {
  Iterator,
  type Kwargs,
  orNone,
  Tuple,
  type Value,
  WithAttributes,
} from '../values/types.ts';

/** The `loop` variable. */
export class LoopContext extends WithAttributes {
  index0 = -1;
  readonly depth0: number;
  private readonly ctx: Context;
  /** The items if they are an array already; otherwise `source` is walked. */
  private readonly items: Value[] | null;
  private readonly source: Iterator | null;
  private readonly recurse: ((items: Value, depth: number) => Value) | null;
  private total: number | null = null;
  /** Items read ahead of the loop, from `ahead` on. */
  private buffered: Value[] = [];
  private ahead = 0;
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
      next = this.ahead < this.buffered.length ? this.takeBuffered() : this.source!.next();
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
    if (this.ahead === this.buffered.length) {
      const next = this.source!.next();
      if (next !== undefined) this.buffered.push(next);
    }
    return this.buffered[this.ahead];
  }

  /** By index: removing the first from a long array moves all others. */
  private takeBuffered(): Value {
    const item = this.buffered[this.ahead++];
    if (this.ahead === this.buffered.length) {
      this.buffered = [];
      this.ahead = 0;
    }
    return item;
  }

  count(): number {
    if (this.total === null) {
      if (this.items !== null) this.total = this.items.length;
      else {
        for (let item = this.source!.next(); item !== undefined; item = this.source!.next()) {
          this.buffered.push(item);
          this.ctx.budget.step(2);
        }
        this.total = this.index0 + 1 + this.buffered.length - this.ahead;
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
