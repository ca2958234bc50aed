// The values templates work with. JavaScript's own null, boolean, string, array and plain object stand for None, bool, str,
// list and dict; the classes here are what Python has and JavaScript has not. Everything else in values/ works on these.
import type { Budget } from '../budget.ts';
import type { Context } from '../context.ts';
import {
  LimitExceeded,
  SecurityError,
  type TemplateError,
  typeError,
  UndefinedError,
} from '../errors.ts';

/**
 * None is null, int is a safe-integer number or a bigint, float is any other number or a Float, str is a string,
 * list is an array, dict is a Dict or a plain object. JavaScript's undefined means "missing" and is never a value.
 */
export type Value = unknown;
export type Kwargs = Map<string, Value>;

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
  /** str(), where it is not the repr. */
  str(budget: Budget): string {
    return this.repr(budget);
  }
}

/** A float whose value is a whole number (1.0), which a JavaScript number cannot tell from the int. */
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

/** The float for a number: boxed only where it would read as an int. */
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
  /** Its hash key, once it was asked for: what is in it does not change. */
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

/** bytes, as str.encode() gives them: printed, measured and decoded, nothing more. */
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

/** A one-shot iterator such as map and select give: asking again does not start again. */
export class Iterator extends PyObject {
  readonly typeName: string;
  /** The next item, or undefined at the end. */
  readonly next: () => Value | undefined;
  /** Name of the generator function, which shows when one is printed. */
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

/** A hash key: equal Python keys (1, 1.0, True) give the same one, in the sense of JavaScript's Map. */
export function hashKey(key: Value): unknown {
  if (typeof key === 'string' || key === null) return key;
  if (typeof key === 'number')
    return Number.isInteger(key) && !Number.isSafeInteger(key) ? BigInt(key) : key;
  if (typeof key === 'boolean') return key ? 1 : 0;
  if (typeof key === 'bigint' || typeof key === 'function') return key;
  if (key instanceof Markup) return key.text;
  if (key instanceof Float) return key.value;
  if (key instanceof Tuple) return tupleKey(key);
  if (key instanceof Undefined) return key.kind === 'strict' ? key.fail() : Undefined;
  if (
    key instanceof Slice ||
    key instanceof Dict ||
    key instanceof DictView ||
    key instanceof SetValue ||
    !(key instanceof PyObject)
  )
    throw typeError(
      `unhashable type: '${key instanceof PyObject ? key.typeName : Array.isArray(key) ? 'list' : 'dict'}'`,
    );
  return key;
}

const objectIds = new WeakMap<object, number>();
let lastObjectId = 0;

/** Tuples of tuples of tuples can be small in memory and endless when spelled out. */
const MAX_TUPLE_KEY = 65_536;

function tupleKey(tuple: Tuple): string {
  if (tuple.hash !== null) return tuple.hash;
  let text = '\u0000(';
  for (const item of tuple.items) {
    if (text.length > MAX_TUPLE_KEY)
      throw new LimitExceeded('stringLength', 'tuple too large to be the key of a dictionary');
    const key = hashKey(item);
    if (typeof key === 'object' && key !== null) {
      let id = objectIds.get(key);
      if (id === undefined) {
        id = ++lastObjectId;
        objectIds.set(key, id);
      }
      text += `o${id},`;
    } else
      text += typeof key === 'string' ? `s${key.length}:${key},` : `${typeof key}${String(key)},`;
  }
  tuple.hash = `${text})`;
  return tuple.hash;
}

/** A dictionary that keeps insertion order and any hashable key. */
export class Dict extends PyObject {
  private readonly values = new Map<unknown, Value>();
  /** Keys that differ from their hash key (True, 1.0, Markup, tuples). */
  private originals: Map<unknown, Value> | null = null;

  get typeName() {
    return 'dict';
  }
  get size(): number {
    return this.values.size;
  }
  get(key: Value): Value | undefined {
    return this.values.get(typeof key === 'string' ? key : hashKey(key));
  }
  has(key: Value): boolean {
    return this.values.has(hashKey(key));
  }
  set(key: Value, value: Value): void {
    const hash = hashKey(key);
    if (hash !== key && !this.values.has(hash)) {
      this.originals ??= new Map();
      this.originals.set(hash, key);
    }
    this.values.set(hash, value);
  }
  delete(key: Value): boolean {
    const hash = hashKey(key);
    this.originals?.delete(hash);
    return this.values.delete(hash);
  }
  clear(): void {
    this.values.clear();
    this.originals = null;
  }
  keys(): Value[] {
    const hashes = [...this.values.keys()];
    const originals = this.originals;
    return originals === null
      ? hashes
      : hashes.map((h) => (originals.has(h) ? originals.get(h) : h));
  }
  valueList(): Value[] {
    return [...this.values.values()];
  }
  entries(): [Value, Value][] {
    const originals = this.originals;
    if (originals === null) return [...this.values] as [Value, Value][];
    return [...this.values].map(([h, v]) => [originals.has(h) ? originals.get(h) : h, v]);
  }
}

/** True for both kinds of dict: our own and the plain objects of a caller's data. */
export function isDict(value: Value): value is Dict | Record<string, Value> {
  return (
    typeof value === 'object' &&
    value !== null &&
    (value instanceof Dict || (!(value instanceof PyObject) && !Array.isArray(value)))
  );
}

export function dictGet(dict: Dict | Record<string, Value>, key: Value): Value | undefined {
  if (dict instanceof Dict) return dict.get(key);
  const name = hashKey(key);
  return typeof name === 'string' && Object.hasOwn(dict, name) ? dict[name] : undefined;
}
/** The keys of the caller's large objects: V8 lists them anew for every question, even whether there are any. */
let largeObjects = new WeakMap<object, string[]>();

/** For the start of a render: while it lasts, the caller's data does not change. */
export function forgetObjects(): void {
  largeObjects = new WeakMap();
}

function ownKeys(record: Record<string, Value>): string[] {
  const known = largeObjects.get(record);
  if (known !== undefined) return known;
  const keys = Object.keys(record);
  if (keys.length > 100) largeObjects.set(record, keys);
  return keys;
}

export const dictSize = (dict: Dict | Record<string, Value>): number =>
  dict instanceof Dict ? dict.size : ownKeys(dict).length;
export const dictKeys = (dict: Dict | Record<string, Value>): Value[] =>
  dict instanceof Dict ? dict.keys() : ownKeys(dict).slice();
export const dictValues = (dict: Dict | Record<string, Value>): Value[] =>
  dict instanceof Dict ? dict.valueList() : Object.values(dict).map(orNone);
export const dictEntries = (dict: Dict | Record<string, Value>): [Value, Value][] =>
  dict instanceof Dict ? dict.entries() : Object.entries(dict).map(([k, v]) => [k, orNone(v)]);

/** A caller's undefined inside a list or as a dict value reads as None. */
export const orNone = (value: Value | undefined): Value => (value === undefined ? null : value);

/** dict.keys(), .values() and .items(): live views. */
export class DictView extends PyObject {
  readonly part: 'keys' | 'values' | 'items';
  readonly dict: Dict | Record<string, Value>;
  constructor(part: 'keys' | 'values' | 'items', dict: Dict | Record<string, Value>) {
    super();
    this.part = part;
    this.dict = dict;
  }
  get typeName() {
    return `dict_${this.part}`;
  }
  list(): Value[] {
    if (this.part === 'keys') return dictKeys(this.dict);
    if (this.part === 'values') return dictValues(this.dict);
    return dictEntries(this.dict).map((pair) => new Tuple(pair));
  }
}

/** A set, as `d.keys() - other` gives one. Python's order of its members is that of their hashes, ours that of the dict. */
export class SetValue extends PyObject {
  /** The members are its keys. */
  readonly members = new Dict();
  get typeName() {
    return 'set';
  }
  count(): number {
    return this.members.size;
  }
  iterate(): Iterator {
    const list = this.members.keys();
    let i = 0;
    return new Iterator('set_iterator', () => (i < list.length ? list[i++] : undefined));
  }
}

/** What {% set ns.name = … %} may write to. */
export class Namespace extends PyObject {
  readonly attributes: Dict;
  constructor(attributes: Dict) {
    super();
    this.attributes = attributes;
  }
  get typeName() {
    return 'Namespace';
  }
  override get moduleName() {
    return 'jinja2.utils';
  }
}

/** Anything a template can call. */
export abstract class Callable extends PyObject {
  abstract call(ctx: Context, args: Value[], kwargs: Kwargs | null): Value;
}

/** An object of the engine with a fixed table of attributes, such as `loop` or a cycler. */
export abstract class WithAttributes extends Callable {
  /** The attribute, or undefined when there is none of that name. */
  abstract attribute(ctx: Context, name: string): Value | undefined;
  call(_ctx: Context, _args: Value[], _kwargs: Kwargs | null): Value {
    throw typeError(`'${this.typeName}' object is not callable`);
  }
}

export type UndefinedKind = 'default' | 'chainable' | 'strict' | 'debug';

const CLASS_NAMES = {
  default: 'Undefined',
  chainable: 'ChainableUndefined',
  strict: 'StrictUndefined',
  debug: 'DebugUndefined',
} as const;

/** A name or attribute that is not there. Printing and iterating it is allowed (unless strict), anything else fails. */
export class Undefined extends PyObject {
  readonly kind: UndefinedKind;
  readonly hint: string | null;
  /** Name of the object type that lacks `name`; null for a plain variable. */
  readonly owner: string | null;
  readonly name: string | null;
  /** The name as Python's repr, when it was not a string. */
  readonly element: string | null;
  private readonly unsafe: boolean;

  constructor(
    kind: UndefinedKind,
    options: { hint?: string; owner?: string; name?: string; element?: string; unsafe?: boolean },
  ) {
    super();
    this.kind = kind;
    this.hint = options.hint ?? null;
    this.owner = options.owner ?? null;
    this.name = options.name ?? null;
    this.element = options.element ?? null;
    this.unsafe = options.unsafe ?? false;
  }
  get typeName() {
    return CLASS_NAMES[this.kind];
  }
  override get moduleName() {
    return 'jinja2.runtime';
  }
  message(quote: (text: string) => string): string {
    if (this.hint !== null) return this.hint;
    if (this.owner === null)
      return `${this.name === null ? 'None' : quote(this.name)} is undefined`;
    if (this.element !== null) return `${this.owner} has no element ${this.element}`;
    return `${quote(this.owner)} has no attribute ${quote(this.name ?? '')}`;
  }
  error(): TemplateError {
    return this.unsafe
      ? new SecurityError(this.message(quoteName))
      : new UndefinedError(this.message(quoteName));
  }
  fail(): never {
    throw this.error();
  }
}

/** repr of a name; names that need more than quotes are rare enough to be shown raw. */
const quoteName = (text: string): string =>
  text.includes("'") && !text.includes('"')
    ? `"${text}"`
    : `'${text.replace(/[\\']/g, '\\$&').replace(/\n/g, '\\n')}'`;

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

/** How messages about undefined attributes name the object they miss it on. */
export function objectTypeRepr(value: Value): string {
  if (value === null) return 'None';
  const module = value instanceof PyObject ? value.moduleName : '';
  return `${module === '' ? '' : `${module}.`}${typeName(value)} object`;
}
