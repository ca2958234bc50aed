// An imported template as the importing one sees it. Made by template.ts.
import type { Context } from '../running.ts';
import { quote } from '../values/repr.ts';
import { type Value, WithAttributes } from '../values/types.ts';

/** An imported template: its exported names, and its text when printed. */
export class TemplateModule extends WithAttributes {
  readonly name: string | null;
  readonly body: string;
  private readonly made: Pick<Context, 'vars' | 'exported'>;
  /** `made`: what its top level left behind, which no longer changes. */
  constructor(name: string | null, body: string, made: Pick<Context, 'vars' | 'exported'>) {
    super();
    this.name = name;
    this.body = body;
    this.made = made;
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
    return this.made.exported.has(name) ? this.made.vars.get(name) : undefined;
  }
}
