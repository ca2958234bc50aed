// str() and repr() of every value, byte for byte as Python prints them. Used wherever a value becomes text.
import type { Budget } from '../budget.ts';
import { tooDeep, valueError } from '../errors.ts';
import { floatRepr } from './decimal.ts';
import { type Dict, DictView, dictEntries, isDict, Namespace, SetValue } from './dict.ts';
import { isPrintable } from './text.ts';
import { Float, Markup, orNone, PyObject, Range, Slice, Tuple, type Value } from './types.ts';
import { Undefined } from './undefined.ts';

/** Data nested deeper than this is refused, as Python's recursion limit would. */
const MAX_NESTING = 300;

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
      budget.text(value.length);
      return quote(value);
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
  if (value instanceof Markup) return `Markup(${quote(value.text)})`;
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
    return `${value.typeName}(${reprInside(budget, value.list(), [...(parents ?? []), value])})`;
  if (value instanceof SetValue) {
    const list = reprInside(budget, value.members.keys(), parents ?? []);
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
  let text = open;
  for (let i = 0; i < items.length; i++) {
    if (i > 0) text += ', ';
    text += reprInside(budget, orNone(items[i]), parents);
    budget.text(text.length >> 4);
  }
  parents.pop();
  budget.text(text.length);
  return text + close;
}

function reprDict(budget: Budget, dict: Dict | Record<string, Value>, parents: object[]): string {
  if (enter(dict, parents)) return '{...}';
  const entries = dictEntries(dict);
  budget.step(1 + entries.length * 2);
  let text = '{';
  for (const [key, value] of entries) {
    if (text.length > 1) text += ', ';
    text += `${reprInside(budget, key, parents)}: ${reprInside(budget, value, parents)}`;
    budget.text(text.length >> 4);
  }
  parents.pop();
  budget.text(text.length);
  return `${text}}`;
}

/** True when `value` is being printed already, further out. */
function enter(value: object, parents: object[]): boolean {
  if (parents.includes(value)) return true;
  if (parents.length >= MAX_NESTING) throw tooDeep('while getting the repr of an object');
  parents.push(value);
  return false;
}

const PLAIN = /^[\x20-\x26\x28-\x5b\x5d-\x7e]*$/;

/** repr() of a string: the quotes, the escapes. */
export function quote(text: string): string {
  if (PLAIN.test(text)) return `'${text}'`;
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  let out = mark;
  for (const char of text) {
    if (char === mark || char === '\\') out += `\\${char}`;
    else if (char === '\n') out += '\\n';
    else if (char === '\r') out += '\\r';
    else if (char === '\t') out += '\\t';
    else if (char >= ' ' && char <= '~') out += char;
    else out += isPrintable(char) ? char : escapeCode(char.codePointAt(0)!);
  }
  return out + mark;
}

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

/** Five native passes: a loop would leave one small string behind for every character it replaces. */
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
    budget.print(value.length);
    return value.length > LONG ? escapeInParts(budget, value) : escapeText(value);
  }
  if (value instanceof Markup) return value.text;
  if (typeof value === 'number') return numberText(value);
  if (value instanceof PyObject && 'html' in value) return (value as { html(): string }).html();
  return escapeText(str(budget, value));
}

const LONG = 32_768;

/** Long text in parts, each paid for as it is made: escaped it may be five times as long. */
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

/** True for what has __html__: text that must not be escaped again. */
export const isHtml = (value: Value): boolean =>
  value instanceof Markup ||
  (value instanceof Undefined && value.kind === 'chainable') ||
  (value instanceof PyObject && 'html' in value);
