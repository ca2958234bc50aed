// The types that all files of the engine share, and that refer to each other: values, running code,
// what it sees and what it may ask for. Types only, so that nothing has to know the classes behind
// them: context.ts, environment.ts, template.ts.
import type { Budget, Limits } from './budget.ts';

/**
 * None is null, int is a safe-integer number or a bigint, float is any other number or a Float, str
 * is a string, list is an array, dict is a Dict or a plain object. JavaScript's undefined means
 * "missing" and is never a value.
 */
export type Value = unknown;
export type Kwargs = Map<string, Value>;

export type UndefinedKind = 'default' | 'chainable' | 'strict' | 'debug';

// ---- What runs ----------------------------------------------------------------------------------

export interface CompiledTemplate {
  readonly root: (ctx: Context) => void;
  readonly blocks: Map<string, BlockCode>;
}

/** One definition of a block; the list of a name starts with the most derived. */
export interface BlockCode {
  readonly run: (ctx: Context) => void;
}
export type Blocks = Map<string, BlockCode[]>;

// biome-ignore lint/suspicious/noExplicitAny: arguments were bound by `params`, each implementation names what it gets
export type Run = (ctx: Context, self: any, ...args: any[]) => Value;

/**
 * A built-in function, method, filter or test of the engine; methods/signature.ts makes and calls
 * them.
 */
export interface Native {
  readonly params: readonly string[];
  /** How many of `params` must be given. */
  readonly required: number;
  readonly run: Run;
  /** Parameters by position only, as most methods written in C. */
  readonly positional: boolean;
  /** Takes any arguments: run(ctx, self, args, kwargs). */
  readonly rest: boolean;
  /**
   * For functions that Jinja2 implements in Python: the name there, and how many arguments come
   * before those in `params`.
   */
  readonly python?: { readonly name: string; readonly hidden: number };
  /**
   * For Python's own functions written in C: the name there, with its module if error messages show
   * it.
   */
  readonly builtin?: { readonly name: string; readonly module?: string };
  /** A method that Markup inherits from str unchanged. */
  readonly shared?: boolean;
}

/** A filter or test; those that read the context are never evaluated while compiling. */
export interface Registered {
  readonly fn: Native;
  readonly usesContext: boolean;
}

// ---- What running code sees ---------------------------------------------------------------------

/**
 * Names below the ones a template sets itself: the caller's data, the globals, what an include
 * inherits.
 */
export interface Lookup {
  get(name: string): Value | undefined;
}

/** Mutable: {% autoescape %} changes it for its body. */
export interface EvalContext {
  autoescape: boolean;
}

/**
 * What compiled code runs against, one for every render, include and import; passed to filters,
 * tests and functions.
 */
export interface Context {
  readonly env: Engine;
  readonly budget: Budget;
  /** Name of the template this context was made for. */
  readonly name: string | null;
  readonly evalCtx: EvalContext;
  readonly blocks: Blocks;
  readonly modules: Modules;
  /** Names set at the top level of the template. */
  readonly vars: Map<string, Value>;
  readonly exported: Set<string>;
  /** The value of a name, or undefined if nothing defines it. */
  resolve(name: string): Value | undefined;
  /**
   * Everything visible now, plus `locals`, for code that ends before any of it can change: an
   * include, a scoped block.
   */
  seenWith(locals: Lookup): Lookup;
  /** The same, frozen: an imported module keeps it, and its macros read it later. */
  snapshotWith(locals: Map<string, Value>): Lookup;
  /** A context for a scoped block: same template, own names. */
  derived(locals: Lookup): Context;
  undefined(name: string): Value;
  undefinedBecause(hint: string, name?: string): Value;
  attributeOf(value: Value, name: string): Value | undefined;
  subscript(value: Value, key: Value): Value;
}

/** Templates loaded and modules imported without context in one render: each is evaluated once. */
export interface Modules {
  readonly templates: Map<string, LoadedTemplate>;
  readonly imported: Map<LoadedTemplate, Value>;
  /** The names they see. */
  readonly globals: Lookup;
}

// ---- What it may ask for ------------------------------------------------------------------------

/** What templates ask of their environment, while they are compiled and while they run. */
export interface Engine {
  readonly undefinedKind: UndefinedKind;
  readonly newlineSequence: string;
  readonly globals: ReadonlyMap<string, Value>;
  readonly filters: ReadonlyMap<string, Registered>;
  readonly tests: ReadonlyMap<string, Registered>;
  readonly limits: Limits;
  autoescapeFor(name: string | null): boolean;
  /** The template a running one asks for; one name means one template for a whole render. */
  templateFor(ctx: Context, wanted: Value): LoadedTemplate;
  /**
   * The template of an include: one name, or the first of several that exists; null if missing ones
   * are ignored.
   */
  includeFor(
    ctx: Context,
    wanted: Value,
    form: 'list' | 'name' | 'either',
    ignoreMissing: boolean,
  ): LoadedTemplate | null;
  /** A context without data, for evaluating constants. */
  bareContext(): Context;
}

/** What templates ask of one another. */
export interface LoadedTemplate {
  readonly source: string;
  readonly compiled: CompiledTemplate;
  /** {% include %}: writes the template into the current output. */
  renderInto(from: Context, names: Lookup): void;
  /** {% import … with context %}: a fresh module. */
  makeModule(from: Context, names: Lookup): Value;
  /** {% import %}: the module without context, evaluated once in a render. */
  moduleFor(from: Context): Value;
}
