// str() and repr() of every value, byte for byte as Python prints them. Used wherever a value
// becomes text.
import type { Budget } from '../budget.ts';
import { tooDeep, valueError } from '../errors.ts';
import { TextBuilder } from './building.ts';
import { floatRepr } from './decimal.ts';
import { type Dict, DictView, dictEntries, dictKeys, isDict, Namespace, SetValue } from './dict.ts';
import { UNPRINTABLE } from './text.ts';
import { Float, Markup, orNone, PyObject, Range, Slice, Tuple, type Value } from './types.ts';
import { Undefined } from './undefined.ts';

/** Data nested deeper than this is refused, as Python's recursion limit would. */
const MOST_NESTING = 300;

export function intText(value: bigint): string {
  const text = value.toString();
  if (text.length > 4301)
    throw valueError(
      'Exceeds the limit (4300 digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit',
    );
  return text;
}

export function numberText(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : floatRepr(value);
}

/** str(value) */
export function str(budget: Budget, value: Value): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return numberText(value);
    case 'boolean':
      return value ? 'True' : 'False';
    case 'object':
      if (value === null) return 'None';
      if (value instanceof Markup) return value.text;
      if (value instanceof Undefined) return undefinedText(value);
      if (
        value instanceof PyObject &&
        !(value instanceof Tuple) &&
        !isDict(value) &&
        !(value instanceof Float)
      )
        return specialText(budget, value, null);
  }
  return repr(budget, value);
}

function undefinedText(value: Undefined): string {
  if (value.kind === 'strict') return value.fail();
  if (value.kind !== 'debug') return '';
  if (value.hint !== null) return `{{ undefined value printed: ${value.hint} }}`;
  if (value.owner === null) return `{{ ${value.name} }}`;
  return `{{ no such element: ${value.owner}[${value.element ?? quote(value.name ?? '')}] }}`;
}

/** repr(value) */
export function repr(budget: Budget, value: Value): string {
  return reprInside(budget, value, []);
}

function reprInside(budget: Budget, value: Value, parents: object[]): string {
  switch (typeof value) {
    case 'string':
      return quoteLong(budget, value);
    case 'number':
      return numberText(value);
    case 'bigint':
      return intText(value);
    case 'boolean':
      return value ? 'True' : 'False';
    case 'undefined':
      return 'None';
    case 'function':
      return `<function ${value.name || '<lambda>'} at 0x7f0000000000>`;
    case 'object':
      break;
    default:
      return 'None';
  }
  if (value === null) return 'None';
  if (value instanceof Float) return floatRepr(value.value);
  if (value instanceof Markup) return `Markup(${quoteLong(budget, value.text)})`;
  if (value instanceof Undefined) return 'Undefined';
  if (Array.isArray(value)) return reprItems(budget, value, value, parents, '[', ']', '[...]');
  if (value instanceof Tuple)
    return reprItems(
      budget,
      value,
      value.items,
      parents,
      '(',
      value.items.length === 1 ? ',)' : ')',
      '(...)',
    );
  if (isDict(value)) return reprDict(budget, value, parents);
  return specialText(budget, value as PyObject, parents);
}

/** Objects that are neither data nor text; `parents` is null for str(). */
function specialText(budget: Budget, value: PyObject, parents: object[] | null): string {
  if (value instanceof Range)
    return `range(${value.start}, ${value.stop}${value.step === 1 ? '' : `, ${value.step}`})`;
  if (value instanceof DictView)
    return `${value.typeName}(${reprInside(budget, value.list(budget), [...(parents ?? []), value])})`;
  if (value instanceof SetValue) {
    const list = reprInside(budget, dictKeys(budget, value.members), parents ?? []);
    return value.count() === 0 ? 'set()' : `{${list.slice(1, -1)}}`;
  }
  if (value instanceof Namespace)
    return `<Namespace ${reprInside(budget, value.attributes, [...(parents ?? []), value])}>`;
  if (value instanceof Slice)
    return `slice(${[value.start, value.stop, value.step].map((v) => repr(budget, v)).join(', ')})`;
  return parents === null ? value.str(budget) : value.repr(budget);
}

function reprItems(
  budget: Budget,
  owner: object,
  items: Value[],
  parents: object[],
  open: string,
  close: string,
  cycle: string,
): string {
  if (enter(owner, parents)) return cycle;
  budget.step(1 + items.length);
  const text = new TextBuilder(budget);
  text.add(open);
  for (let i = 0; i < items.length; i++) {
    if (i > 0) text.add(', ');
    text.add(reprInside(budget, orNone(items[i]), parents));
  }
  parents.pop();
  text.add(close);
  return text.toString();
}

function reprDict(budget: Budget, dict: Dict | Record<string, Value>, parents: object[]): string {
  if (enter(dict, parents)) return '{...}';
  const entries = dictEntries(budget, dict);
  const text = new TextBuilder(budget);
  text.add('{');
  for (const [key, value] of entries) {
    if (text.length > 1) text.add(', ');
    text.add(`${reprInside(budget, key, parents)}: ${reprInside(budget, value, parents)}`);
  }
  parents.pop();
  text.add('}');
  return text.toString();
}

/** True if `value` is already being printed, further out. */
function enter(value: object, parents: object[]): boolean {
  if (parents.includes(value)) return true;
  if (parents.length >= MOST_NESTING) throw tooDeep('while getting the repr of an object');
  parents.push(value);
  return false;
}

const PLAIN = /^[\x20-\x26\x28-\x5b\x5d-\x7e]*$/;

/** repr() of a string: the quotes, the escapes. */
export function quote(text: string): string {
  if (PLAIN.test(text)) return `'${text}'`;
  const mark = markFor(text);
  return mark + quoteInside(text, mark) + mark;
}

/**
 * The same for a text of any size: in parts, each paid for, because it may become ten times as
 * long.
 */
export function quoteLong(budget: Budget, text: string): string {
  if (text.length <= LONG) {
    const quoted = quote(text);
    budget.text(quoted.length);
    return quoted;
  }
  budget.text(text.length);
  const mark = markFor(text);
  const out = new TextBuilder(budget);
  out.add(mark);
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + LONG);
    if ((text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end++;
    out.add(quoteInside(text.slice(at, end), mark));
    at = end;
  }
  out.add(mark);
  return out.toString();
}

const markFor = (text: string): string => (text.includes("'") && !text.includes('"') ? '"' : "'");

function quoteInside(text: string, mark: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(SPECIAL, (char) => {
    if (char === '\\') return '\\\\';
    if (char === "'" || char === '"') return char === mark ? `\\${char}` : char;
    return NAMED_ESCAPES[char] ?? escapeCode(char.codePointAt(0)!);
  });
}
const SPECIAL = new RegExp(`[\\\\'"]|${UNPRINTABLE.source}`, 'gu');
const NAMED_ESCAPES: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escapeCode(code: number): string {
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code <= 0xffff) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}

/** Escapes the five characters MarkupSafe escapes. */
export function escapeText(text: string): string {
  if (text.length > 64) return escapeLong(text);
  let out = '';
  let done = 0;
  for (let i = 0; i < text.length; i++) {
    let entity: string;
    switch (text.charCodeAt(i)) {
      case 38:
        entity = '&amp;';
        break;
      case 60:
        entity = '&lt;';
        break;
      case 62:
        entity = '&gt;';
        break;
      case 34:
        entity = '&#34;';
        break;
      case 39:
        entity = '&#39;';
        break;
      default:
        continue;
    }
    out += text.slice(done, i) + entity;
    done = i + 1;
  }
  return done === 0 ? text : out + text.slice(done);
}

/**
 * Five native passes: a loop would leave one small string behind for every character it replaces.
 */
function escapeLong(text: string): string {
  if (!/[&<>"']/.test(text)) return text;
  return text
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&#34;')
    .replace(/'/g, '&#39;');
}

/** escape(value) as text: markup stays, everything else is printed and escaped. */
export function escapeValue(budget: Budget, value: Value): string {
  if (typeof value === 'string') {
    return escapeLongText(budget, value);
  }
  if (value instanceof Markup) return value.text;
  if (typeof value === 'number') return numberText(value);
  if (value instanceof PyObject && 'html' in value) return (value as { html(): string }).html();
  return escapeLongText(budget, str(budget, value));
}

/** escapeText() of a text of any size, paid for. */
export function escapeLongText(budget: Budget, text: string): string {
  budget.print(text.length);
  return text.length > LONG ? escapeInParts(budget, text) : escapeText(text);
}

const LONG = 32_768;

/** Long text in parts, each paid for as it is made: escaped, it may be five times as long. */
function escapeInParts(budget: Budget, text: string): string {
  let out = '';
  for (let at = 0; at < text.length; at += LONG) {
    const part = escapeText(text.slice(at, at + LONG));
    out += part;
    budget.scan(part.length);
    if (out.length > budget.limits.outputBytes) budget.print(out.length);
  }
  return out;
}

/** True for values with __html__: text that must not be escaped again. */
export const isHtml = (value: Value): boolean =>
  value instanceof Markup ||
  (value instanceof Undefined && value.kind === 'chainable') ||
  (value instanceof PyObject && 'html' in value);
