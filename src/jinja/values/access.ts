// Reaching into values: attributes only through the tables of each type, items only through
// Python's rules. This is the sandbox: nothing here ever reads a property that the data did not
// bring itself.
import type { Budget } from '../budget.ts';
import { indexError, keyError, typeError, valueError } from '../errors.ts';
import { bytesMethods } from '../methods/bytes.ts';
import { dictMethods, viewMethods } from '../methods/dict.ts';
import { listMethods, rangeMethods, tupleMethods } from '../methods/list.ts';
import { floatMethods, intMethods, numberAttribute } from '../methods/number.ts';
import { BoundMethod, type MethodTable } from '../methods/signature.ts';
import { markupMethods, strMethods } from '../methods/str.ts';
import type { Context } from '../running.ts';
import { Dict, DictView, dictGet, hashKey, isDict, Namespace, payForKey } from './dict.ts';
import { isInt, toIndex } from './numbers.ts';
import { repr } from './repr.ts';
import { hasAstral, textLength, textSlice, unitOffset } from './text.ts';
import {
  Bytes,
  Float,
  float,
  GroupTuple,
  Markup,
  objectTypeRepr,
  orNone,
  PyObject,
  Range,
  Slice,
  Tuple,
  typeName,
  type Value,
  WithAttributes,
} from './types.ts';
import { Undefined } from './undefined.ts';

export const isDictMethod = (name: string): boolean => dictMethods.has(name);

/** The methods of a value's type. */
export function methodsOf(value: Value): MethodTable | null {
  switch (typeof value) {
    case 'string':
      return strMethods;
    case 'number':
      return Number.isSafeInteger(value) ? intMethods : floatMethods;
    case 'bigint':
    case 'boolean':
      return intMethods;
    case 'object':
      break;
    default:
      return null;
  }
  if (value === null) return null;
  if (Array.isArray(value)) return listMethods;
  if (value instanceof WithAttributes) return null;
  if (!(value instanceof PyObject) || value instanceof Dict) return dictMethods;
  if (value instanceof Markup) return markupMethods;
  if (value instanceof Tuple) return tupleMethods;
  if (value instanceof Float) return floatMethods;
  if (value instanceof DictView) return value.part === 'values' ? null : viewMethods;
  if (value instanceof Range) return rangeMethods;
  return value instanceof Bytes ? bytesMethods : null;
}

/**
 * Names every Python object has. Jinja2's sandbox refuses them; so do we, before looking at
 * anything.
 */
const INTERNAL =
  /^__(class|dict|doc|module|mro|bases|base|subclasses|init|new|del|repr|str|bytes|format|lt|le|eq|ne|gt|ge|hash|bool|getattribute|getattr|setattr|delattr|dir|reduce|reduce_ex|sizeof|init_subclass|subclasshook|weakref|call|globals|code|closure|builtins|self|func|name|qualname|wrapped|import|len|length_hint|getitem|setitem|delitem|iter|next|reversed|contains|add|radd|sub|mul|rmul|mod|rmod|floordiv|truediv|pow|neg|pos|abs|int|float|index|round|and|or|html|html_format|getnewargs|getstate|class_getitem|match_args|slots)__$/;

/** getattr(value, name), or undefined where Python raises AttributeError. */
export function attributeOf(ctx: Context, value: Value, name: string): Value | undefined {
  if (name.charCodeAt(0) === 95 && INTERNAL.test(name) && !(value instanceof Namespace))
    return unsafe(ctx, value, name);
  if (value instanceof WithAttributes) return value.attribute(ctx, name);
  if (value instanceof Undefined) return value.kind === 'chainable' ? value : value.fail();
  const method = methodsOf(value)?.get(name);
  if (method !== undefined) return new BoundMethod(value, name, method);
  if (value instanceof Namespace) return value.attributes.get(name);
  if (value instanceof GroupTuple)
    return name === 'grouper' ? value.items[0] : name === 'list' ? value.items[1] : undefined;
  if (value instanceof Range)
    return name === 'start' || name === 'stop' || name === 'step' ? value[name] : undefined;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return numberAttribute(value, name);
  if (value instanceof Float)
    return name === 'real' ? value : name === 'imag' ? float(0) : undefined;
  return undefined;
}

function unsafe(ctx: Context, value: Value, name: string): Value {
  if (value instanceof Undefined) return value.kind === 'chainable' ? value : value.fail();
  const hint = `access to attribute '${name}' of '${typeName(value)}' object is unsafe.`;
  return new Undefined(ctx.env.undefinedKind, { hint, name, unsafe: true });
}

/** value[key] with Python's exceptions. */
export function subscript(ctx: Context, value: Value, key: Value): Value {
  const found = item(ctx, value, key);
  if (found !== undefined) return found;
  if (isDict(value)) throw keyError(repr(ctx.budget, key));
  if (isSequence(value)) {
    if (isInt(key))
      throw indexError(
        `${typeName(value)} index out of range`
          .replace('str ', 'string ')
          .replace('range index', 'range object index'),
      );
    throw typeError(
      `${typeName(value).replace('str', 'string')} indices must be integers or slices, not ${typeName(key)}`.replace(
        'string indices must be integers or slices',
        'string indices must be integers',
      ),
    );
  }
  throw typeError(`'${typeName(value)}' object is not subscriptable`);
}

const isSequence = (value: Value): boolean =>
  Array.isArray(value) ||
  typeof value === 'string' ||
  value instanceof Tuple ||
  value instanceof Markup ||
  value instanceof Range;

/** value[key], or undefined where Python raises LookupError or TypeError. */
function item(ctx: Context, value: Value, key: Value): Value | undefined {
  if (isDict(value)) {
    payForKey(ctx.budget, key);
    if (typeof key === 'object' && key !== null && !isHashable(key)) return undefined;
    return dictGet(value, key);
  }
  if (value instanceof Undefined) return value.kind === 'chainable' ? value : value.fail();
  if (key instanceof Slice) {
    const { start, stop, step } = key;
    return isSequence(value) && (step === 0 || [start, stop, step].every(isBound))
      ? slice(ctx, value, start, stop, step)
      : undefined;
  }
  if (value instanceof PyObject && 'item' in value)
    return (value as { item(key: Value): Value | undefined }).item(key);
  if (!isInt(key) || !isSequence(value)) return undefined;
  const index = toIndex(key);
  if (Array.isArray(value)) return at(value, index);
  if (value instanceof Tuple) return at(value.items, index);
  if (value instanceof Range) {
    const position = index < 0 ? index + value.length : index;
    return position >= 0 && position < value.length ? value.at(position) : undefined;
  }
  const text = typeof value === 'string' ? value : (value as Markup).text;
  const char = charAt(ctx.budget, text, index);
  return char === undefined || typeof value === 'string' ? char : new Markup(char);
}

/**
 * Finding the nth code point means scanning the text, and walking it if there are characters beyond
 * 16 bits.
 */
function payForIndex(budget: Budget, text: string): void {
  if (text.length > 64) budget.step(text.length >> (hasAstral(text) ? 2 : 9));
}

function at(items: Value[], index: number): Value | undefined {
  const position = index < 0 ? index + items.length : index;
  return position >= 0 && position < items.length ? orNone(items[position]) : undefined;
}

function charAt(budget: Budget, text: string, index: number): string | undefined {
  payForIndex(budget, text);
  if (!hasAstral(text)) return index < 0 ? text[index + text.length] : text[index];
  const position = index < 0 ? index + textLength(text) : index;
  const code = position < 0 ? undefined : text.codePointAt(unitOffset(text, position));
  return code === undefined ? undefined : String.fromCodePoint(code);
}

function isHashable(key: Value): boolean {
  try {
    hashKey(key);
    return true;
  } catch {
    return false;
  }
}

const undefinedElement = (ctx: Context, value: Value, key: Value): Undefined =>
  typeof key === 'string'
    ? new Undefined(ctx.env.undefinedKind, { owner: objectTypeRepr(value), name: key })
    : new Undefined(ctx.env.undefinedKind, {
        owner: objectTypeRepr(value),
        element: repr(ctx.budget, key),
      });

/** `value.name` in a template: the attribute, otherwise the item, otherwise undefined. */
export function getAttribute(ctx: Context, value: Value, name: string): Value {
  const attribute = attributeOf(ctx, value, name);
  if (attribute !== undefined) return attribute;
  const found = item(ctx, value, name);
  return found === undefined ? undefinedElement(ctx, value, name) : found;
}

/**
 * `value[key]` in a template: the item, otherwise the attribute of that name, otherwise undefined.
 */
export function getItem(ctx: Context, value: Value, key: Value): Value {
  const found = item(ctx, value, key);
  if (found !== undefined) return found;
  const name = typeof key === 'string' ? key : key instanceof Markup ? key.text : null;
  if (name !== null) {
    const attribute = attributeOf(ctx, value, name);
    if (attribute !== undefined) return attribute;
  }
  return undefinedElement(ctx, value, name ?? key);
}

/** The attr filter: attributes only, never items. */
export function onlyAttribute(ctx: Context, value: Value, name: Value): Value {
  const text = typeof name === 'string' ? name : name instanceof Markup ? name.text : null;
  if (text === null) throw typeError(`attribute name must be string, not '${typeName(name)}'`);
  return attributeOf(ctx, value, text) ?? undefinedElement(ctx, value, text);
}

const isBound = (value: Value): boolean => value === null || value === undefined || isInt(value);

const sliceIndex = (value: Value): number | null => {
  if (value === null || value === undefined) return null;
  if (!isInt(value))
    throw typeError('slice indices must be integers or None or have an __index__ method');
  return toIndex(value);
};

/** value[start:stop:step] */
export function slice(ctx: Context, value: Value, start: Value, stop: Value, step: Value): Value {
  if (value instanceof Undefined) return value.kind === 'chainable' ? value : value.fail();
  if (isDict(value)) throw typeError("unhashable type: 'slice'");
  if (!isSequence(value)) throw typeError(`'${typeName(value)}' object is not subscriptable`);
  const by = sliceIndex(step) ?? 1;
  if (by === 0) throw valueError('slice step cannot be zero');
  if (typeof value === 'string' || value instanceof Markup) payForIndex(ctx.budget, String(value));
  const size = sequenceLength(value);
  const [from, to] = bounds(sliceIndex(start), sliceIndex(stop), by, size);
  const count = Math.max(0, Math.ceil((to - from) / by));
  if (value instanceof Range) return new Range(value.at(from), value.at(to), value.step * by);
  if (typeof value === 'string' || value instanceof Markup) {
    const text = String(value);
    ctx.budget.text(count);
    const cut = by === 1 ? textSlice(text, from, to) : pickText(text, size, from, by, count);
    return typeof value === 'string' ? cut : new Markup(cut);
  }
  ctx.budget.list(count);
  const items = Array.isArray(value) ? value : (value as Tuple).items;
  const cut = by === 1 ? items.slice(from, Math.max(from, to)) : pick(items, from, by, count);
  return Array.isArray(value) ? cut : new Tuple(cut);
}

function sequenceLength(value: Value): number {
  if (Array.isArray(value)) return value.length;
  if (value instanceof Tuple) return value.items.length;
  return value instanceof Range ? value.length : textLength(String(value));
}

/** Clipped bounds, as slice.indices() returns them. */
function bounds(
  start: number | null,
  stop: number | null,
  step: number,
  size: number,
): [number, number] {
  const low = step < 0 ? -1 : 0;
  const high = step < 0 ? size - 1 : size;
  const clip = (index: number | null, fallback: number) =>
    index === null ? fallback : index < 0 ? Math.max(low, index + size) : Math.min(high, index);
  return [clip(start, step < 0 ? high : low), clip(stop, step < 0 ? low : high)];
}

/**
 * A list of single characters takes many times the memory of the text, so text with one unit per
 * character is read by units.
 */
function pickText(text: string, size: number, from: number, step: number, count: number): string {
  const points = size === text.length ? null : pointsOf(text, size);
  let out = '';
  let codes: number[] = [];
  for (let i = 0, at = from; i < count; i++, at += step) {
    codes.push(points === null ? text.charCodeAt(at) : points[at]!);
    if (codes.length < 4096) continue;
    out += points === null ? String.fromCharCode(...codes) : String.fromCodePoint(...codes);
    codes = [];
  }
  return out + (points === null ? String.fromCharCode(...codes) : String.fromCodePoint(...codes));
}

function pointsOf(text: string, size: number): Uint32Array {
  const points = new Uint32Array(size);
  for (let i = 0, at = 0; i < size; i++) {
    const code = text.codePointAt(at)!;
    points[i] = code;
    at += code > 0xffff ? 2 : 1;
  }
  return points;
}

function pick<T>(items: T[], from: number, step: number, count: number): T[] {
  const out: T[] = [];
  for (let i = 0, at = from; i < count; i++, at += step) out.push(items[at]!);
  return out;
}
