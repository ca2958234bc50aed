// A macro as templates see it: a value that can be called. Made by compile/macros.ts.

import { typeError } from '../errors.ts';
import type { Context } from '../running.ts';
import { Dict } from '../values/dict.ts';
import { quote } from '../values/repr.ts';
import { type Kwargs, Markup, Tuple, type Value, WithAttributes } from '../values/types.ts';
import { Activation } from './activation.ts';

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

  attribute(ctx: Context, name: string): Value | undefined {
    const { code } = this;
    switch (name) {
      case 'name':
        return code.name;
      case 'arguments':
        ctx.budget.list(code.params.length);
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
