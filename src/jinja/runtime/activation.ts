// Where the variables of running code live. Made by compiled code, one per run of a function; read
// by every closure.
import type { Context } from '../running.ts';
import type { Value } from '../values/types.ts';

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
