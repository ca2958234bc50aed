// What compiled code runs against: the names a template sees, its blocks, its escaping mode, and
// the budget they share. Made by Template for every render, include and import; passed to filters,
// tests and functions.
import type { Budget } from './budget.ts';
import type { Blocks, Context, Engine, EvalContext, Lookup, Modules } from './running.ts';
import { attributeOf, subscript } from './values/access.ts';
import { Dict } from './values/dict.ts';
import type { Value } from './values/types.ts';
import { Undefined } from './values/undefined.ts';

export class DataLookup implements Lookup {
  private readonly data: Dict | Record<string, Value>;
  private readonly globals: Lookup;
  constructor(data: Dict | Record<string, Value>, globals: Lookup) {
    this.data = data;
    this.globals = globals;
  }
  get(name: string): Value | undefined {
    const { data } = this;
    const found =
      data instanceof Dict ? data.get(name) : Object.hasOwn(data, name) ? data[name] : undefined;
    return found === undefined ? this.globals.get(name) : found;
  }
}

class Layer implements Lookup {
  private readonly names: Lookup;
  private readonly below: Lookup;
  constructor(names: Lookup, below: Lookup) {
    this.names = names;
    this.below = below;
  }
  get(name: string): Value | undefined {
    const found = this.names.get(name);
    return found === undefined ? this.below.get(name) : found;
  }
}

export class RunningContext implements Context {
  readonly env: Engine;
  readonly budget: Budget;
  /** Name of the template this context was made for. */
  readonly name: string | null;
  readonly evalCtx: EvalContext;
  readonly blocks: Blocks;
  readonly modules: Modules;
  /** Names set at the top level of the template. */
  readonly vars = new Map<string, Value>();
  readonly exported = new Set<string>();
  private readonly parent: Lookup;

  constructor(
    shared: { env: Engine; budget: Budget; modules: Modules },
    name: string | null,
    parent: Lookup,
    evalCtx: EvalContext,
    blocks: Blocks,
  ) {
    this.env = shared.env;
    this.budget = shared.budget;
    this.modules = shared.modules;
    this.name = name;
    this.parent = parent;
    this.evalCtx = evalCtx;
    this.blocks = blocks;
  }

  /** The value of a name, or undefined if nothing defines it. */
  resolve(name: string): Value | undefined {
    if (this.vars.size > 0) {
      const own = this.vars.get(name);
      if (own !== undefined) return own;
    }
    return this.parent.get(name);
  }

  /**
   * Everything visible now, plus `locals`, for code that ends before any of it can change: an
   * include, a scoped block.
   */
  seenWith(locals: Lookup): Lookup {
    return new Layer(locals, new Layer(this.vars, this.parent));
  }

  /** The same, frozen: an imported module keeps it, and its macros read it later. */
  snapshotWith(locals: Map<string, Value>): Lookup {
    this.budget.step(this.vars.size * 4);
    return new Layer(locals, new Layer(new Map(this.vars), this.parent));
  }

  /** A context for a scoped block: same template, own names. */
  derived(locals: Lookup): Context {
    this.budget.step(20);
    return new RunningContext(this, this.name, this.seenWith(locals), this.evalCtx, this.blocks);
  }

  undefined(name: string): Undefined {
    return new Undefined(this.env.undefinedKind, { name });
  }
  undefinedBecause(hint: string, name?: string): Undefined {
    return new Undefined(this.env.undefinedKind, name === undefined ? { hint } : { hint, name });
  }

  attributeOf(value: Value, name: string): Value | undefined {
    return attributeOf(this, value, name);
  }
  subscript(value: Value, key: Value): Value {
    return subscript(this, value, key);
  }
}
