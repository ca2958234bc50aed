// Blocks as templates see them: `self` and `super`. Made by compile/inheritance.ts.
import type { BlockCode, Context } from '../running.ts';
import { quote } from '../values/repr.ts';
import { Markup, type Value, WithAttributes } from '../values/types.ts';

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

/** A block that can be called: `self.name()` or `super()`. */
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
