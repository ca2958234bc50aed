// One compiled template: rendering it, including it, importing it. Made by Environment.
import { Budget, type Limits } from './budget.ts';
import { compileTemplate } from './compile/compile-template.ts';
import { DataLookup, RunningContext } from './context.ts';
import { locate, NeedsOwnData } from './errors.ts';
import type {
  Blocks,
  CompiledTemplate,
  Context,
  Engine,
  LoadedTemplate,
  Lookup,
} from './running.ts';
import { TemplateModule } from './runtime/module.ts';
import type { Syntax } from './syntax/lexer.ts';
import { type Extension, parseTemplate } from './syntax/parser.ts';
import { ownCopy } from './values/copy.ts';
import { type Dict, forgetObjects } from './values/dict.ts';
import type { Value } from './values/types.ts';

/** An environment, as far as its templates need it. */
interface Home extends Engine {
  readonly syntax: Syntax;
  readonly extensions: readonly Extension[];
}

export class Template implements LoadedTemplate {
  readonly name: string | null;
  readonly source: string;
  readonly compiled: CompiledTemplate;
  private readonly env: Engine;
  /**
   * Learned from a render that had to start over: this template changes data, so it gets its own
   * copy at once.
   */
  private changesData = false;

  constructor(env: Home, text: string, name: string | null) {
    const { source, body } = parseTemplate(text, name, env.syntax, env.extensions);
    this.env = env;
    this.name = name;
    this.source = source;
    try {
      this.compiled = compileTemplate(env, { name, text: source }, body);
    } catch (error) {
      throw locate(error, { templateName: name, source, offset: 0 });
    }
  }

  /**
   * Renders the template with `data`: a plain object, or a Dict (as parseJson returns) if key order
   * and floats matter.
   */
  render(
    data: Record<string, Value> | Dict = {},
    options: { limits?: Partial<Limits>; globals?: Record<string, Value> } = {},
  ): string {
    const limits = { ...this.env.limits, ...options.limits };
    const { globals = {} } = options;
    forgetObjects();
    if (!this.changesData) {
      try {
        return this.renderOnce(data, globals, new Budget(limits));
      } catch (error) {
        if (!(error instanceof NeedsOwnData)) throw error;
        this.changesData = true;
      }
    }
    return this.renderOnce(data, globals, new Budget(limits, true));
  }

  private renderOnce(
    data: Record<string, Value> | Dict,
    given: Record<string, Value>,
    budget: Budget,
  ): string {
    try {
      let globals: Lookup = new DataLookup(given, this.env.globals);
      let own = data;
      if (budget.ownsData) {
        own = ownCopy(budget, data) as Dict;
        const all = [...this.env.globals, ...Object.entries(given)];
        globals = new Map(all.map(([key, value]) => [key, ownCopy(budget, value)]));
      }
      const shared = {
        env: this.env,
        budget,
        modules: { templates: new Map(), imported: new Map(), globals },
      };
      const ctx = new RunningContext(
        shared,
        this.name,
        new DataLookup(own, globals),
        this.newEvalContext(),
        this.newBlocks(),
      );
      this.compiled.root(ctx);
      return budget.finish();
    } catch (error) {
      throw locate(error, { templateName: this.name, source: this.source, offset: 0 });
    }
  }

  private newEvalContext() {
    return { autoescape: this.env.autoescapeFor(this.name) };
  }

  private newBlocks(): Blocks {
    const blocks: Blocks = new Map();
    for (const [name, code] of this.compiled.blocks) blocks.set(name, [code]);
    return blocks;
  }

  private newContext(from: Context, names: Lookup): Context {
    from.budget.step(20 + this.compiled.blocks.size * 4);
    return new RunningContext(from, this.name, names, this.newEvalContext(), this.newBlocks());
  }

  /** {% include %}: writes the template into the current output. */
  renderInto(from: Context, names: Lookup): void {
    from.budget.enter();
    this.compiled.root(this.newContext(from, names));
    from.budget.leave();
  }

  /** {% import … with context %}: a fresh module. */
  makeModule(from: Context, names: Lookup): TemplateModule {
    const ctx = this.newContext(from, names);
    from.budget.enter();
    from.budget.beginCapture();
    this.compiled.root(ctx);
    const body = from.budget.endCapture();
    from.budget.leave();
    from.budget.step(ctx.exported.size * 4);
    return new TemplateModule(this.name, body, ctx);
  }

  /** {% import %}: the module without context, evaluated once in a render. */
  moduleFor(from: Context): TemplateModule {
    const known = from.modules.imported.get(this) as TemplateModule | undefined;
    if (known !== undefined) return known;
    const module = this.makeModule(from, from.modules.globals);
    from.modules.imported.set(this, module);
    return module;
  }
}
