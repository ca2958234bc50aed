// What the compiler knows about the place it is compiling: variables, whether it is the top level,
// what has to be checked.
import { type FunctionScope, Symbols } from './symbols.ts';

export class Frame {
  symbols: Symbols;
  /**
   * An {% extends %} that may or may not run: text outside blocks is written only if it did not.
   */
  requireOutputCheck = false;
  /** The root of a template and the ifs in it: names set here are exported. */
  toplevel = false;
  /** The root itself. */
  rootlevel = false;
  /** Inside an if: unknown filters are reported only when reached. */
  softFrame = false;
  /** Inside a for of the same function, where break and continue have a meaning. */
  inLoop = false;

  constructor(symbols: Symbols) {
    this.symbols = symbols;
  }

  /** A frame inside this one; with `scope` it is a function of its own. */
  inner(scope?: FunctionScope): Frame {
    const inner = new Frame(new Symbols(this.symbols, scope ?? this.symbols.scope));
    inner.requireOutputCheck = this.requireOutputCheck;
    inner.inLoop = scope === undefined && this.inLoop;
    return inner;
  }

  /** The same frame under a condition. */
  soft(): Frame {
    const copy = new Frame(this.symbols);
    copy.requireOutputCheck = this.requireOutputCheck;
    copy.toplevel = this.toplevel;
    copy.inLoop = this.inLoop;
    copy.softFrame = true;
    return copy;
  }
}
