// The builtin globals: range, dict, lipsum, cycler, joiner, namespace.

import { TemplateRuntimeError, typeError, valueError } from './errors.ts';
import { lipsum } from './lorem-ipsum.ts';
import { dictMethods, fillDict } from './methods/dict.ts';
import { BoundMethod, invoke, native, positional, variadic } from './methods/signature.ts';
import type { Context, Native } from './running.ts';
import { Dict, Namespace } from './values/dict.ts';
import { toIndex } from './values/numbers.ts';
import { type Kwargs, Range, Tuple, type Value, WithAttributes } from './values/types.ts';

/** A builtin class or function. */
class Builtin extends WithAttributes {
  private readonly name: string;
  private readonly fn: Native;
  private readonly shown: string;
  readonly typeName: string;
  constructor(name: string, typeName: 'type' | 'function', shown: string, fn: Native) {
    super();
    this.name = name;
    this.typeName = typeName;
    this.shown = shown;
    this.fn = fn;
  }
  override repr(): string {
    return this.shown;
  }
  /**
   * The one class method of Python's that templates use: dict.fromkeys(names) removes repeated
   * ones.
   */
  attribute(_ctx: Context, name: string): Value | undefined {
    if (this.name !== 'dict' || name !== 'fromkeys') return undefined;
    return new BoundMethod(new Dict(), name, dictMethods.get(name)!);
  }
  override call(ctx: Context, args: Value[], kwargs: Kwargs | null): Value {
    return invoke(ctx, this.name, this.fn, null, args, kwargs);
  }
}

function range(_ctx: Context, _self: Value, args: Value[], kwargs: Kwargs | null): Value {
  if (kwargs !== null && kwargs.size > 0) throw typeError('range() takes no keyword arguments');
  if (args.length === 0) throw typeError('range expected at least 1 argument, got 0');
  if (args.length > 3) throw typeError(`range expected at most 3 arguments, got ${args.length}`);
  const [first, second, third] = args.map(toIndex) as [
    number,
    number | undefined,
    number | undefined,
  ];
  if (third === 0) throw valueError('range() arg 3 must not be zero');
  return second === undefined ? new Range(0, first, 1) : new Range(first, second, third ?? 1);
}

class Cycler extends WithAttributes {
  readonly items: Value[];
  pos = 0;
  constructor(items: Value[]) {
    super();
    this.items = items;
  }
  get typeName() {
    return 'Cycler';
  }
  override get moduleName() {
    return 'jinja2.utils';
  }
  attribute(_ctx: Context, name: string): Value | undefined {
    switch (name) {
      case 'current':
        return this.items[this.pos];
      case 'items':
        return new Tuple(this.items);
      case 'pos':
        return this.pos;
      case 'next':
      case 'reset':
        return new BoundMethod(this, name, CYCLER[name]);
      default:
        return undefined;
    }
  }
}
const CYCLER: Record<'next' | 'reset', Native> = {
  next: positional('', (_ctx, cycler: Cycler) => {
    const item = cycler.items[cycler.pos];
    cycler.pos = (cycler.pos + 1) % cycler.items.length;
    return item;
  }),
  reset: positional('', (_ctx, cycler: Cycler) => {
    cycler.pos = 0;
    return null;
  }),
};

class Joiner extends WithAttributes {
  private readonly sep: Value;
  private used = false;
  constructor(sep: Value) {
    super();
    this.sep = sep;
  }
  get typeName() {
    return 'Joiner';
  }
  override get moduleName() {
    return 'jinja2.utils';
  }
  attribute(_ctx: Context, name: string): Value | undefined {
    return name === 'sep' ? this.sep : name === 'used' ? this.used : undefined;
  }
  override call(): Value {
    if (this.used) return this.sep;
    this.used = true;
    return '';
  }
}

function makeDict(ctx: Context, name: string, args: Value[], kwargs: Kwargs | null): Dict {
  const dict = new Dict();
  ctx.budget.step(8);
  fillDict(ctx, dict, name, args, kwargs);
  return dict;
}

export function defaultGlobals(): Map<string, Value> {
  return new Map<string, Value>([
    ['range', new Builtin('range', 'type', "<class 'range'>", variadic(range))],
    [
      'dict',
      new Builtin(
        'dict',
        'type',
        "<class 'dict'>",
        variadic((ctx, _self, args, kwargs) => makeDict(ctx, 'dict', args, kwargs)),
      ),
    ],
    [
      'lipsum',
      new Builtin(
        'generate_lorem_ipsum',
        'function',
        '<function generate_lorem_ipsum at 0x7f0000000000>',
        native('? n html min max', (ctx, _self, n, html, min, max) =>
          lipsum(ctx, n, html, min, max),
        ),
      ),
    ],
    [
      'cycler',
      new Builtin(
        'Cycler',
        'type',
        "<class 'jinja2.utils.Cycler'>",
        variadic((_ctx, _self, args: Value[]) => {
          if (args.length === 0)
            throw new TemplateRuntimeError('at least one item has to be provided', 'RuntimeError');
          return new Cycler(args);
        }),
      ),
    ],
    [
      'joiner',
      new Builtin(
        'Joiner',
        'type',
        "<class 'jinja2.utils.Joiner'>",
        native('? sep', (_ctx, _self, sep: Value = ', ') => new Joiner(sep)),
      ),
    ],
    [
      'namespace',
      new Builtin(
        'Namespace',
        'type',
        "<class 'jinja2.utils.Namespace'>",
        variadic((ctx, _self, args, kwargs) => new Namespace(makeDict(ctx, 'dict', args, kwargs))),
      ),
    ],
  ]);
}
