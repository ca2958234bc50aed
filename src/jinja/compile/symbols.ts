// Which variable a name means where: Jinja2's scoping rules (its idtracking module), resolved while
// compiling. A name is looked up in the context once per frame; a store makes a variable of the
// frame; inner frames see outer ones.
import type { Budget } from '../budget.ts';
import { TemplateRuntimeError } from '../errors.ts';
import type { Node, Stmt } from '../syntax/nodes.ts';
import { children } from '../syntax/nodes.ts';
import { quote } from '../values/repr.ts';

/** The variables of one function (template root, block, macro, recursive loop), each in a slot. */
export class FunctionScope {
  readonly outer: FunctionScope | null;
  /** What compiling the template may cost: many names under many ifs would take forever. */
  readonly work: Budget;
  private readonly slots = new Map<string, number>();
  constructor(outer: FunctionScope | null, work: Budget) {
    this.outer = outer;
    this.work = work;
  }
  get size(): number {
    return this.slots.size;
  }
  slot(ident: string): Slot {
    let index = this.slots.get(ident);
    if (index === undefined) {
      index = this.slots.size;
      this.slots.set(ident, index);
    }
    return { scope: this, index };
  }
}

export interface Slot {
  readonly scope: FunctionScope;
  readonly index: number;
}

/** How a variable gets its value when its frame is entered. */
export type Load =
  | { how: 'param' }
  | { how: 'resolve'; name: string }
  | { how: 'alias'; from: Slot }
  | { how: 'undefined' };

const key = (slot: Slot): number => slot.index;

export class Symbols {
  readonly level: number;
  readonly parent: Symbols | null;
  readonly scope: FunctionScope;
  refs = new Map<string, Slot>();
  /** By slot index; all slots of a frame belong to its own function. */
  loads = new Map<number, Load>();
  stores = new Set<string>();

  constructor(
    parent: Symbols | null,
    scope: FunctionScope,
    level = parent === null ? 0 : parent.level + 1,
  ) {
    this.parent = parent;
    this.scope = scope;
    this.level = level;
  }

  private define(name: string, load: Load): Slot {
    const slot = this.scope.slot(`${this.level}:${name}`);
    this.refs.set(name, slot);
    this.loads.set(key(slot), load);
    return slot;
  }

  find(name: string): Slot | null {
    return this.refs.get(name) ?? this.parent?.find(name) ?? null;
  }

  /** The variable of a name that analysis has seen. */
  ref(name: string): Slot {
    const slot = this.find(name);
    // Jinja2 does not analyze the filter of a {% set %} block before compiling it, so a name in it
    // may be unknown.
    if (slot === null)
      throw new TemplateRuntimeError(
        `Tried to resolve a name to a reference that was unknown to the frame (${quote(name)})`,
        'AssertionError',
      );
    return slot;
  }

  private copy(): Symbols {
    this.scope.work.step(this.refs.size * 4);
    const copy = new Symbols(this.parent, this.scope, this.level);
    copy.refs = new Map(this.refs);
    copy.loads = new Map(this.loads);
    copy.stores = new Set(this.stores);
    return copy;
  }

  store(name: string): void {
    this.stores.add(name);
    if (this.refs.has(name)) return;
    const outer = this.parent?.find(name) ?? null;
    this.define(name, outer === null ? { how: 'undefined' } : { how: 'alias', from: outer });
  }

  declareParameter(name: string): Slot {
    this.stores.add(name);
    return this.define(name, { how: 'param' });
  }

  load(name: string): void {
    if (this.find(name) === null) this.define(name, { how: 'resolve', name });
  }

  /**
   * Merges what the branches of an if did: a name only some of them set may still be the outer one.
   */
  branchUpdate(bodies: readonly (readonly Stmt[])[]): void {
    const branches = bodies
      .filter((body) => body.length > 0)
      .map((body) => {
        const branch = this.copy();
        analyze(branch, body);
        return branch;
      });
    const stored = new Set<string>();
    for (const branch of branches)
      for (const name of branch.stores) if (!this.stores.has(name)) stored.add(name);
    for (const branch of branches) {
      for (const [name, slot] of branch.refs) this.refs.set(name, slot);
      for (const [slot, load] of branch.loads) this.loads.set(slot, load);
      for (const name of branch.stores) this.stores.add(name);
    }
    for (const name of stored) {
      const slot = this.ref(name);
      const outer = this.parent?.find(name) ?? null;
      this.loads.set(
        key(slot),
        outer === null ? { how: 'resolve', name } : { how: 'alias', from: outer },
      );
    }
  }

  /** Every variable set in this frame or around it. */
  visibleStores(): Map<string, Slot> {
    const out = new Map<string, Slot>();
    for (let node: Symbols | null = this; node !== null; node = node.parent)
      for (const name of node.stores) {
        this.scope.work.step(4);
        if (!out.has(name)) out.set(name, this.ref(name));
      }
    return out;
  }
}

/**
 * Records the names used by `nodes` in a frame; bodies with a frame of their own are left to that
 * frame.
 */
export function analyze(symbols: Symbols, nodes: readonly Node[], asParam = false): void {
  for (const node of nodes) visit(symbols, node, asParam);
}

function visit(symbols: Symbols, node: Node, asParam: boolean): void {
  switch (node.type) {
    case 'Name':
      if (asParam || node.ctx === 'param') symbols.declareParameter(node.name);
      else if (node.ctx === 'store') symbols.store(node.name);
      else symbols.load(node.name);
      return;
    case 'NSRef':
      symbols.load(node.name);
      return;
    case 'If': {
      visit(symbols, node.test, asParam);
      symbols.branchUpdate([node.body, node.elif, node.else_]);
      return;
    }
    case 'Macro':
      symbols.store(node.name);
      return;
    case 'Import':
      visit(symbols, node.template, asParam);
      symbols.store(node.target);
      return;
    case 'FromImport':
      visit(symbols, node.template, asParam);
      for (const { alias } of node.names) symbols.store(alias);
      return;
    case 'Assign':
      visit(symbols, node.node, asParam);
      visit(symbols, node.target, asParam);
      return;
    case 'For':
      visit(symbols, node.iter, asParam);
      return;
    case 'CallBlock':
      visit(symbols, node.call, asParam);
      return;
    case 'FilterBlock':
      visit(symbols, node.filter, asParam);
      return;
    case 'With':
      analyze(symbols, node.values);
      return;
    case 'AssignBlock':
      visit(symbols, node.target, asParam);
      return;
    case 'Autoescape':
    case 'Block':
      return;
    default:
      for (const child of children(node)) visit(symbols, child, asParam);
  }
}

/** Which of `names` are read in `nodes` before being set there, blocks left out. */
export function findUndeclared(nodes: readonly Node[], names: readonly string[]): Set<string> {
  const open = new Set(names);
  const found = new Set<string>();
  const walk = (node: Node): void => {
    if (node.type === 'Block') return;
    if (node.type === 'Name') {
      if (node.ctx === 'load' && open.has(node.name)) found.add(node.name);
      else open.delete(node.name);
      return;
    }
    for (const child of children(node)) walk(child);
  };
  for (const node of nodes) walk(node);
  return found;
}
