// The environment: configuration, loader, and the templates compiled so far. A program creates it
// first.
import { Budget, defaultLimits, type Limits } from './budget.ts';
import { type HostFunction, hostFilter } from './calls.ts';
import { RunningContext } from './context.ts';
import { LimitExceeded, TemplateNotFound, typeError, UndefinedError } from './errors.ts';
import { contextFilters, filters } from './filters/table.ts';
import { defaultGlobals } from './globals.ts';
import type { Context, Engine, LoadedTemplate, Native, Registered } from './running.ts';
import type { Syntax } from './syntax/lexer.ts';
import type { Extension } from './syntax/parser.ts';
import { Template } from './template.ts';
import { tests } from './tests.ts';
import { hashKey } from './values/dict.ts';
import { isIterable, readList, truthy } from './values/iterate.ts';
import { str } from './values/repr.ts';
import { Markup, typeName, type Value } from './values/types.ts';
import { Undefined, type UndefinedKind } from './values/undefined.ts';

export interface EnvironmentOptions {
  /** Finds the source of a template; undefined if there is none by that name. */
  loader?: (name: string) => string | undefined;
  /** The names the loader knows, to suggest one if another does not exist. */
  templateNames?: () => string[];
  /** Whether {{ … }} escapes HTML; true by default. */
  autoescape?: boolean | ((name: string | null) => boolean);
  undefined?: UndefinedKind;
  trimBlocks?: boolean;
  lstripBlocks?: boolean;
  keepTrailingNewline?: boolean;
  newlineSequence?: '\n' | '\r\n' | '\r';
  blockStart?: string;
  blockEnd?: string;
  variableStart?: string;
  variableEnd?: string;
  commentStart?: string;
  commentEnd?: string;
  lineStatementPrefix?: string;
  lineCommentPrefix?: string;
  /** Tags beyond the standard ones: `do`, and `loopcontrols` for break and continue. */
  extensions?: readonly Extension[];
  globals?: Record<string, Value>;
  /**
   * A Native gets the running context and unconverted values, and pays for what it builds itself.
   */
  filters?: Record<string, HostFunction | Native>;
  tests?: Record<string, HostFunction>;
  limits?: Partial<Limits>;
}

const CACHE_SIZE = 400;
/** A compiled template takes about ten times the memory of its source. */
const CACHE_CHARACTERS = 1024 * 1024;

export class Environment implements Engine {
  readonly syntax: Syntax;
  readonly extensions: readonly Extension[];
  readonly undefinedKind: UndefinedKind;
  readonly globals: ReadonlyMap<string, Value>;
  readonly filters: ReadonlyMap<string, Registered>;
  readonly tests: ReadonlyMap<string, Registered>;
  readonly limits: Limits;
  readonly newlineSequence: string;
  readonly templateNames: () => string[];
  private readonly loader: ((name: string) => string | undefined) | null;
  private readonly autoescape: boolean | ((name: string | null) => boolean);
  /** By name, then by content: a changed source is compiled again, the same one never twice. */
  private readonly cache = new Map<string, Map<string, Template>>();
  private cached = 0;
  private cachedCharacters = 0;

  constructor(options: EnvironmentOptions = {}) {
    this.loader = options.loader ?? null;
    this.templateNames = options.templateNames ?? (() => []);
    this.autoescape = options.autoescape ?? true;
    this.undefinedKind = options.undefined ?? 'default';
    this.extensions = options.extensions ?? [];
    this.limits = { ...defaultLimits, ...options.limits };
    this.newlineSequence = options.newlineSequence ?? '\n';
    this.syntax = {
      blockStart: options.blockStart ?? '{%',
      blockEnd: options.blockEnd ?? '%}',
      variableStart: options.variableStart ?? '{{',
      variableEnd: options.variableEnd ?? '}}',
      commentStart: options.commentStart ?? '{#',
      commentEnd: options.commentEnd ?? '#}',
      lineStatementPrefix: options.lineStatementPrefix ?? null,
      lineCommentPrefix: options.lineCommentPrefix ?? null,
      trimBlocks: options.trimBlocks ?? false,
      lstripBlocks: options.lstripBlocks ?? false,
      keepTrailingNewline: options.keepTrailingNewline ?? false,
      newlineSequence: this.newlineSequence,
    };
    const starts = [this.syntax.blockStart, this.syntax.variableStart, this.syntax.commentStart];
    if (new Set(starts).size < starts.length)
      throw new Error('block, variable and comment start strings must be different');
    this.globals = new Map([...defaultGlobals(), ...Object.entries(options.globals ?? {})]);
    this.filters = register(filters, contextFilters, options.filters);
    this.tests = register(tests, new Set(), options.tests);
  }

  autoescapeFor(name: string | null): boolean {
    return typeof this.autoescape === 'function' ? this.autoescape(name) : this.autoescape;
  }

  /** Compiles a template given as text. */
  fromString(source: string, name: string | null = null): Template {
    return this.compiled(source, name);
  }

  has(name: string): boolean {
    return this.loader?.(name) !== undefined;
  }

  /** Loads and compiles a template by name. */
  getTemplate(name: string): Template {
    const source = this.loader?.(name);
    if (source === undefined) throw new TemplateNotFound(name, [name]);
    return this.compiled(source, name);
  }

  private compiled(source: string, name: string | null): Template {
    const key = name ?? '\u0000';
    const known = this.cache.get(key)?.get(source);
    if (known !== undefined) return known;
    if (source.length > this.limits.sourceLength)
      throw new LimitExceeded(
        'sourceLength',
        `template too long: more than ${this.limits.sourceLength} characters`,
      );
    const template = new Template(this, source, name);
    if (this.cached >= CACHE_SIZE || this.cachedCharacters > CACHE_CHARACTERS) {
      this.cache.clear();
      this.cached = 0;
      this.cachedCharacters = 0;
    }
    const versions = this.cache.get(key) ?? new Map<string, Template>();
    versions.set(source, template);
    this.cache.set(key, versions);
    this.cached++;
    this.cachedCharacters += source.length;
    return template;
  }

  /** The template a running one asks for; one name means one template for a whole render. */
  templateFor(ctx: Context, wanted: Value): LoadedTemplate {
    if (wanted instanceof Undefined) return wanted.fail();
    const name =
      typeof wanted === 'string' ? wanted : wanted instanceof Markup ? wanted.text : null;
    if (name === null) {
      hashKey(wanted); // Python checks its cache first, and a list cannot be a key there.
      throw new TemplateNotFound(str(ctx.budget, wanted), []);
    }
    const known = ctx.modules.templates.get(name);
    if (known !== undefined) return known;
    ctx.budget.step(20);
    const template = this.getTemplate(name);
    ctx.budget.step(template.source.length >> 4);
    ctx.modules.templates.set(name, template);
    return template;
  }

  /**
   * The template of an include: one name, or the first of several that exists; null if missing ones
   * are ignored.
   */
  includeFor(
    ctx: Context,
    wanted: Value,
    form: 'list' | 'name' | 'either',
    ignoreMissing: boolean,
  ): LoadedTemplate | null {
    const several =
      form === 'list' ||
      (form === 'either' && typeof wanted !== 'string' && !(wanted instanceof Markup));
    try {
      return several ? this.firstOf(ctx, wanted) : this.templateFor(ctx, wanted);
    } catch (error) {
      if (ignoreMissing && error instanceof TemplateNotFound && error.line === null) return null;
      throw error;
    }
  }

  private firstOf(ctx: Context, wanted: Value): LoadedTemplate {
    if (wanted instanceof Undefined) return wanted.fail();
    if (!truthy(wanted))
      throw new TemplateNotFound(
        'Tried to select from an empty list of templates.',
        [],
        'TemplatesNotFound',
      );
    if (!isIterable(wanted)) throw typeError(`'${typeName(wanted)}' object is not iterable`);
    const names = readList(ctx.budget, wanted);
    for (const name of names) {
      try {
        return this.templateFor(ctx, name);
      } catch (error) {
        const missing = error instanceof TemplateNotFound || error instanceof UndefinedError;
        if (!missing || error.line !== null) throw error;
      }
    }
    const shown = names.map((name) =>
      name instanceof Undefined ? name.error().message : str(ctx.budget, name),
    );
    throw new TemplateNotFound(
      `none of the templates given were found: ${shown.join(', ')}`,
      shown,
      'TemplatesNotFound',
    );
  }

  /** A context without data, for evaluating constants. */
  bareContext(): Context {
    const modules = { templates: new Map(), imported: new Map(), globals: this.globals };
    return new RunningContext(
      { env: this, budget: new Budget(this.limits), modules },
      null,
      { get: () => undefined },
      { autoescape: true },
      new Map(),
    );
  }
}

function register(
  builtin: ReadonlyMap<string, Native>,
  context: ReadonlySet<string>,
  own: Record<string, HostFunction | Native> | undefined,
): Map<string, Registered> {
  const out = new Map<string, Registered>();
  for (const [name, fn] of builtin) out.set(name, { fn, usesContext: context.has(name) });
  for (const [name, fn] of Object.entries(own ?? {}))
    out.set(name, { fn: typeof fn === 'function' ? hostFilter(fn) : fn, usesContext: true });
  return out;
}
