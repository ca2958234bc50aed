// Dictionaries and what is built on them: hash keys, views, sets, namespaces. After types.ts and
// undefined.ts.
import { createHash } from 'node:crypto';
import type { Budget } from '../budget.ts';
import { attributeError, LimitExceeded, typeError } from '../errors.ts';
import {
  Float,
  Iterator,
  Markup,
  orNone,
  PyObject,
  Slice,
  Tuple,
  typeName,
  type Value,
} from './types.ts';
import { Undefined } from './undefined.ts';

/**
 * A hash key: equal Python keys (1, 1.0, True) give keys that a JavaScript Map considers the same.
 */
export function hashKey(key: Value): unknown {
  if (typeof key === 'string') return key.length > LONG_KEY ? digest(key) : key;
  if (key === null) return key;
  if (typeof key === 'number')
    return Number.isInteger(key) && !Number.isSafeInteger(key) ? BigInt(key) : key;
  if (typeof key === 'boolean') return key ? 1 : 0;
  if (typeof key === 'bigint' || typeof key === 'function') return key;
  if (key instanceof Markup) return hashKey(key.text);
  if (key instanceof Float) return key.value;
  if (key instanceof Tuple) return hashKey(tupleKey(key));
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

/**
 * V8 hashes longer texts by their length alone: a Map of many of one length would compare each with
 * all others.
 */
const LONG_KEY = 16_000;
const digest = (text: string): string =>
  `\u0000${text.length}:${createHash('sha256').update(text, 'utf16le').digest('base64')}`;

/** Pays for looking a key up: a long one is read from end to end. */
export function payForKey(budget: Budget, key: Value): void {
  if (typeof key === 'string') budget.scan(key.length);
  else if (key instanceof Markup) budget.scan(key.text.length);
  else if (key instanceof Tuple) {
    budget.step(1 + key.items.length);
    if (key.hash === null) for (const item of key.items) payForKey(budget, item);
  }
}

const objectIds = new WeakMap<object, number>();
let lastObjectId = 0;

/** Tuples of tuples of tuples can be small in memory and endless when spelled out. */
const LONGEST_TUPLE_KEY = 65_536;

function tupleKey(tuple: Tuple): string {
  if (tuple.hash !== null) return tuple.hash;
  let text = '\u0000(';
  for (const item of tuple.items) {
    if (text.length > LONGEST_TUPLE_KEY)
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
    return this.values.get(typeof key === 'string' && key.length <= LONG_KEY ? key : hashKey(key));
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

/**
 * The keys of the caller's large objects: V8 lists them again every time, even to check whether
 * there are any.
 */
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
// Copies of what a dict holds, paid for before they are made.
export function dictKeys(budget: Budget, dict: Dict | Record<string, Value>): Value[] {
  budget.list(dictSize(dict));
  return dict instanceof Dict ? dict.keys() : ownKeys(dict).slice();
}
export function dictValues(budget: Budget, dict: Dict | Record<string, Value>): Value[] {
  budget.list(dictSize(dict));
  if (dict instanceof Dict) return dict.valueList();
  return ownKeys(dict).map((key) => orNone(dict[key]));
}
export function dictEntries(budget: Budget, dict: Dict | Record<string, Value>): [Value, Value][] {
  // Every entry is a separate array.
  budget.step(dictSize(dict));
  budget.list(dictSize(dict));
  if (dict instanceof Dict) return dict.entries();
  return ownKeys(dict).map((key) => [key, orNone(dict[key])]);
}

/** value.items(), or the error Python raises for a value without them. */
export function pairsOf(budget: Budget, value: Value): [Value, Value][] {
  if (value instanceof Undefined) return value.fail();
  if (!isDict(value)) throw attributeError(`'${typeName(value)}' object has no attribute 'items'`);
  return dictEntries(budget, value);
}

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
  list(budget: Budget): Value[] {
    if (this.part === 'keys') return dictKeys(budget, this.dict);
    if (this.part === 'values') return dictValues(budget, this.dict);
    return dictEntries(budget, this.dict).map((pair) => new Tuple(pair));
  }
}

/**
 * A set, as `d.keys() - other` returns. Python orders its members by their hashes, we in the order
 * of the dict.
 */
export class SetValue extends PyObject {
  /** The members are its keys. */
  readonly members = new Dict();
  get typeName() {
    return 'set';
  }
  count(): number {
    return this.members.size;
  }
  iterate(budget: Budget): Iterator {
    const list = dictKeys(budget, this.members);
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
