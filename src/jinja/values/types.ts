// The values templates work with. JavaScript's own null, boolean, string, array and plain object
// stand for None, bool, str, list and dict; the classes here, in undefined.ts and in dict.ts are
// what Python has and JavaScript lacks. Everything else in values/ works on these.
import type { Budget } from '../budget.ts';
import { typeError } from '../errors.ts';
import type { Context, Kwargs, Value } from '../running.ts';

export type { Kwargs, Value } from '../running.ts';

export abstract class PyObject {
  abstract get typeName(): string;
  /** Module of the class as error messages show it; empty for Python's builtins. */
  get moduleName(): string {
    return '';
  }
  /** repr(); Python shows an address, which would differ from run to run. */
  repr(_budget: Budget): string {
    const module = this.moduleName === '' ? '' : `${this.moduleName}.`;
    return `<${module}${this.typeName} object at 0x7f0000000000>`;
  }
  /** str(), if it is not the repr. */
  str(budget: Budget): string {
    return this.repr(budget);
  }
}

/**
 * A float whose value is a whole number (1.0), which a JavaScript number cannot distinguish from
 * the int.
 */
export class Float extends PyObject {
  readonly value: number;
  constructor(value: number) {
    super();
    this.value = value;
  }
  get typeName() {
    return 'float';
  }
}

/** The float for a number: boxed only if it would look like an int. */
export function float(value: number): number | Float {
  return Number.isSafeInteger(value) ? new Float(value) : value;
}

/** Text that is HTML already: never escaped again, and it escapes what is joined to it. */
export class Markup extends PyObject {
  readonly text: string;
  constructor(text: string) {
    super();
    this.text = text;
  }
  get typeName() {
    return 'Markup';
  }
  override get moduleName() {
    return 'markupsafe';
  }
  override toString(): string {
    return this.text;
  }
}

export class Tuple extends PyObject {
  readonly items: Value[];
  /** Its hash key, once computed: the contents do not change. */
  hash: string | null = null;
  constructor(items: Value[]) {
    super();
    this.items = items;
  }
  get typeName() {
    return 'tuple';
  }
}

/** What groupby yields: a tuple with names for its two elements. */
export class GroupTuple extends Tuple {
  override get typeName() {
    return '_GroupTuple';
  }
  override get moduleName() {
    return 'jinja2.filters';
  }
}

/** bytes, as str.encode() returns them: they can only be printed, measured and decoded. */
export class Bytes extends PyObject {
  readonly data: Uint8Array;
  constructor(data: Uint8Array) {
    super();
    this.data = data;
  }
  get typeName() {
    return 'bytes';
  }
  count(): number {
    return this.data.length;
  }
  override repr(budget: Budget): string {
    budget.text(this.data.length * 4);
    budget.step(this.data.length >> 2);
    const mark = this.data.includes(39) && !this.data.includes(34) ? '"' : "'";
    let out = '';
    for (const byte of this.data) {
      const char = String.fromCharCode(byte);
      if (char === mark || char === '\\') out += `\\${char}`;
      else if (byte >= 32 && byte < 127) out += char;
      else out += BYTE_ESCAPES[byte] ?? `\\x${byte.toString(16).padStart(2, '0')}`;
    }
    return `b${mark}${out}${mark}`;
  }
}
const BYTE_ESCAPES: Record<number, string> = { 9: '\\t', 10: '\\n', 13: '\\r' };

export class Range extends PyObject {
  readonly start: number;
  readonly stop: number;
  readonly step: number;
  readonly length: number;
  constructor(start: number, stop: number, step: number) {
    super();
    this.start = start;
    this.stop = stop;
    this.step = step;
    this.length = Math.max(0, Math.ceil((stop - start) / step));
  }
  get typeName() {
    return 'range';
  }
  at(index: number): number {
    return this.start + index * this.step;
  }
}

/** A one-shot iterator as map and select return: a second walk does not start over. */
export class Iterator extends PyObject {
  readonly typeName: string;
  /** The next item, or undefined at the end. */
  readonly next: () => Value | undefined;
  /** Name of the generator function, which appears when one is printed. */
  private readonly label: string;
  constructor(typeName: string, next: () => Value | undefined, label = '') {
    super();
    this.typeName = typeName;
    this.next = next;
    this.label = label;
  }
  override repr(): string {
    return `<${this.typeName} object ${this.label === '' ? '' : `${this.label} `}at 0x7f0000000000>`;
  }
}

export class Slice extends PyObject {
  readonly start: Value;
  readonly stop: Value;
  readonly step: Value;
  constructor(start: Value, stop: Value, step: Value) {
    super();
    this.start = start;
    this.stop = stop;
    this.step = step;
  }
  get typeName() {
    return 'slice';
  }
}

/** A caller's undefined inside a list or as a dict value reads as None. */
export const orNone = (value: Value | undefined): Value => (value === undefined ? null : value);

/** Anything a template can call. */
export abstract class Callable extends PyObject {
  abstract call(ctx: Context, args: Value[], kwargs: Kwargs | null): Value;
}

/** An object of the engine with a fixed table of attributes, such as `loop` or a cycler. */
export abstract class WithAttributes extends Callable {
  /** The attribute, or undefined if there is none by that name. */
  abstract attribute(ctx: Context, name: string): Value | undefined;
  call(_ctx: Context, _args: Value[], _kwargs: Kwargs | null): Value {
    throw typeError(`'${this.typeName}' object is not callable`);
  }
}

/** type(value).__name__ */
export function typeName(value: Value): string {
  switch (typeof value) {
    case 'string':
      return 'str';
    case 'number':
      return Number.isSafeInteger(value) ? 'int' : 'float';
    case 'bigint':
      return 'int';
    case 'boolean':
      return 'bool';
    case 'function':
      return 'function';
    case 'object':
      if (value === null) return 'NoneType';
      if (Array.isArray(value)) return 'list';
      return value instanceof PyObject ? value.typeName : 'dict';
    default:
      return 'NoneType';
  }
}

/** How messages about undefined attributes name the object that lacks it. */
export function objectTypeRepr(value: Value): string {
  if (value === null) return 'None';
  const module = value instanceof PyObject ? value.moduleName : '';
  return `${module === '' ? '' : `${module}.`}${typeName(value)} object`;
}
