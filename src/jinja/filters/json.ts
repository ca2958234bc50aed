// The tojson filter: json.dumps with sorted keys, made safe for HTML.

import { tooDeep, typeError, valueError } from '../errors.ts';
import type { Context } from '../running.ts';
import { sortBy } from '../values/compare.ts';
import { floatRepr } from '../values/decimal.ts';
import { type Dict, dictEntries, isDict } from '../values/dict.ts';
import { isFloat, toFloat } from '../values/numbers.ts';
import { multiply } from '../values/operators.ts';
import { intText } from '../values/repr.ts';
import { Float, Markup, orNone, Tuple, typeName, type Value } from '../values/types.ts';

const MOST_NESTING = 300;

export function tojson(ctx: Context, value: Value, indent?: Value): Markup {
  let unit: string | null = null;
  const isText = (given: Value) => typeof given === 'string' || given instanceof Markup;
  // Python writes a string before it checks the indentation.
  if (indent !== undefined && indent !== null && !isText(value))
    unit = isText(indent) ? String(indent) : (multiply(ctx.budget, ' ', indent) as string);
  const text = new JsonWriter(ctx, unit).write(value, 0);
  ctx.budget.text(text.length);
  // Four native passes, as when escaping: a function called for every character would take fifty
  // times as long.
  const safe = text
    .replace(/</g, '\\u003c')
    .replace(/>/g, '\\u003e')
    .replace(/&/g, '\\u0026')
    .replace(/'/g, '\\u0027');
  ctx.budget.scan(safe.length);
  return new Markup(safe);
}

class JsonWriter {
  private readonly ctx: Context;
  /** One level of indentation; null for everything on one line. */
  private readonly unit: string | null;
  private readonly open: object[] = [];

  constructor(ctx: Context, unit: string | null) {
    this.ctx = ctx;
    this.unit = unit;
  }

  write(value: Value, depth: number): string {
    if (typeof value === 'string') {
      return this.string(value);
    }
    if (value === null || value === undefined) return 'null';
    if (typeof value === 'boolean') return value ? 'true' : 'false';
    if (typeof value === 'bigint') return intText(value);
    if (typeof value === 'number' || value instanceof Float) return numberText(value);
    if (value instanceof Markup) return this.string(value.text);
    const list = Array.isArray(value) ? value : value instanceof Tuple ? value.items : null;
    if (list === null && !isDict(value))
      throw typeError(`Object of type ${typeName(value)} is not JSON serializable`);
    if (this.open.includes(value)) throw valueError('Circular reference detected');
    if (depth >= MOST_NESTING) throw tooDeep('while encoding a JSON object');
    this.open.push(value);
    const text = list !== null ? this.list(list, depth) : this.dict(value as Dict, depth);
    this.open.pop();
    return text;
  }

  private string(text: string): string {
    // Characters beyond ASCII become six; counting them first stops a long text from growing before
    // it is refused.
    let size = text.length;
    for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 126) size += 5;
    this.ctx.budget.text(size);
    return jsonString(text);
  }

  private list(items: Value[], depth: number): string {
    this.ctx.budget.list(items.length);
    if (items.length === 0) return '[]';
    return this.enclose(
      '[',
      items.map((item) => this.write(orNone(item), depth + 1)),
      ']',
      depth,
    );
  }

  private dict(dict: Dict | Record<string, Value>, depth: number): string {
    const entries = dictEntries(this.ctx.budget, dict);
    if (entries.length === 0) return '{}';
    const sorted = sortBy(
      this.ctx.budget,
      entries,
      entries.map(([key]) => key),
      false,
    ) as [Value, Value][];
    const parts = sorted.map(
      ([key, value]) => `${this.string(keyText(key))}: ${this.write(value, depth + 1)}`,
    );
    return this.enclose('{', parts, '}', depth);
  }

  private enclose(open: string, parts: string[], close: string, depth: number): string {
    let size = 0;
    for (const part of parts) size += part.length;
    if (this.unit === null) {
      this.ctx.budget.text(size);
      return `${open}${parts.join(', ')}${close}`;
    }
    this.ctx.budget.text(size + parts.length * this.unit.length * (depth + 1));
    const inner = `\n${this.unit.repeat(depth + 1)}`;
    return `${open}${inner}${parts.join(`,${inner}`)}\n${this.unit.repeat(depth)}${close}`;
  }
}

function numberText(value: number | Float): string {
  if (!isFloat(value)) return String(value);
  const number = toFloat(value);
  if (Number.isFinite(number)) return floatRepr(number);
  return Number.isNaN(number) ? 'NaN' : number > 0 ? 'Infinity' : '-Infinity';
}

function keyText(key: Value): string {
  if (typeof key === 'string') return key;
  if (key instanceof Markup) return key.text;
  if (key === null) return 'null';
  if (typeof key === 'boolean') return key ? 'true' : 'false';
  if (typeof key === 'number' || key instanceof Float) return numberText(key);
  if (typeof key === 'bigint') return intText(key);
  throw typeError(`keys must be str, int, float, bool or None, not ${typeName(key)}`);
}

const NAMED: Record<string, string> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\f': '\\f',
  '\b': '\\b',
};

/** ASCII only, as json.dumps writes by default. */
function jsonString(text: string): string {
  if (/^[\x20\x21\x23-\x5b\x5d-\x7e]*$/.test(text)) return `"${text}"`;
  const escaped = text.replace(
    /[^\x20\x21\x23-\x5b\x5d-\x7e]/g,
    (char) => NAMED[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `"${escaped}"`;
}
