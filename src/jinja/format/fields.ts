// str.format: replacement fields, their paths, conversions and nested specs. Called by
// methods/str.ts; values go to spec.ts.
import type { Budget } from '../budget.ts';
import { attributeError, indexError, keyError, typeError, valueError } from '../errors.ts';
import type { Context } from '../running.ts';
import { TextBuilder } from '../values/building.ts';
import { dictGet, isDict } from '../values/dict.ts';
import { escapeLongText, escapeValue, isHtml, quote, repr, str } from '../values/repr.ts';
import { isAscii } from '../values/text.ts';
import { Markup, typeName, type Value } from '../values/types.ts';
import { formatValue } from './spec.ts';

interface Fields {
  ctx: Context;
  args: Value[];
  named: Map<string, Value> | Value;
  /** Markup.format: every value is escaped. */
  escapes: boolean;
  /** Next automatic field number; null once fields were numbered by hand. */
  auto: number | null;
  manual: boolean;
  /** The Markup that the last field left unchanged, if it did. */
  untouched: Markup | null;
}

export function formatFields(
  ctx: Context,
  template: string,
  args: Value[],
  named: Map<string, Value> | null | Value,
  escapes: boolean,
): string | Markup {
  const fields: Fields = { ctx, args, named, escapes, auto: 0, manual: false, untouched: null };
  const text = expand(fields, template, 2);
  // CPython returns the same object if its text is the whole result, so Markup stays Markup.
  const last = fields.untouched;
  return last !== null && last.text === text && template.endsWith('}') && !template.endsWith('}}')
    ? last
    : text;
}

function expand(fields: Fields, template: string, depth: number): string {
  if (depth === 0) throw valueError('Max string recursion exceeded');
  const { budget } = fields.ctx;
  budget.step(template.length >> 3);
  const out = new TextBuilder(budget);
  let i = 0;
  while (i < template.length) {
    const char = template[i]!;
    if (char !== '{' && char !== '}') {
      const next = template.slice(i).search(/[{}]/);
      out.add(next === -1 ? template.slice(i) : template.slice(i, i + next));
      i = next === -1 ? template.length : i + next;
      continue;
    }
    if (template[i + 1] === char) {
      out.add(char);
      i += 2;
      continue;
    }
    if (char === '}') throw valueError("Single '}' encountered in format string");
    const end = fieldEnd(template, i + 1);
    out.add(replaceField(fields, template.slice(i + 1, end), depth));
    i = end + 1;
  }
  return out.toString();
}

/** Offset of the brace that closes the field opened just before `start`. */
function fieldEnd(template: string, start: number): number {
  if (start >= template.length) throw valueError("Single '{' encountered in format string");
  let nested = 1;
  let inIndex = false;
  for (let i = start; i < template.length; i++) {
    const char = template[i];
    if (char === '[' && nested === 1) inIndex = true;
    else if (char === ']') inIndex = false;
    else if (inIndex) continue;
    else if (char === '{') nested++;
    else if (char === '}' && --nested === 0) return i;
  }
  throw valueError("expected '}' before end of string");
}

function replaceField(fields: Fields, field: string, depth: number): string {
  const { budget } = fields.ctx;
  let nameEnd = 0;
  let inIndex = false;
  for (; nameEnd < field.length; nameEnd++) {
    const char = field[nameEnd];
    if (char === '[') inIndex = true;
    else if (char === ']') inIndex = false;
    else if (!inIndex && (char === '!' || char === ':')) break;
    else if (char === '{') throw valueError("unexpected '{' in field name");
  }
  let conversion = '';
  let rest = field.slice(nameEnd);
  if (rest[0] === '!') {
    conversion = rest[1] ?? '';
    if (conversion === '') throw valueError('end of string while looking for conversion specifier');
    rest = rest.slice(2);
    if (rest !== '' && rest[0] !== ':') throw valueError("expected ':' after conversion specifier");
  }
  let value = lookup(fields, field.slice(0, nameEnd));
  const spec = rest === '' ? '' : expand(fields, rest.slice(1), depth - 1);
  if (conversion === 'r') value = repr(budget, value);
  else if (conversion === 's') value = str(budget, value);
  else if (conversion === 'a') value = ascii(budget, repr(budget, value));
  else if (conversion !== '')
    throw valueError(
      `Unknown conversion specifier ${fields.escapes ? quote(conversion) : conversion}`,
    );
  const formatted = fields.escapes ? '' : formatValue(budget, value, spec);
  fields.untouched =
    value instanceof Markup && spec !== '' && formatted === value.text && depth === 2
      ? value
      : null;
  if (!fields.escapes) return formatted;
  if (isHtml(value)) {
    if (spec !== '') throw valueError('Unsupported format specification for Markup.');
    return value instanceof Markup ? value.text : escapeValue(budget, value);
  }
  return escapeLongText(budget, formatValue(budget, value, spec));
}

export function ascii(budget: Budget, text: string): string {
  if (isAscii(text)) return text;
  budget.text(text.length * 6);
  return text.replace(/[^\x00-\x7f]/gu, (char) => {
    const code = char.codePointAt(0)!;
    const hex = code.toString(16);
    if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`;
    return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
  });
}

/** Resolves `0.name[key]`. */
function lookup(fields: Fields, path: string): Value {
  const first = /^[^.[]*/.exec(path)![0];
  let value = firstValue(fields, first);
  let i = first.length;
  while (i < path.length) {
    if (path[i] === '.') {
      const name = /^[^.[]*/.exec(path.slice(i + 1))![0];
      fields.ctx.budget.step(2);
      if (name === '') throw valueError('Empty attribute in format string');
      const found = fields.ctx.attributeOf(value, name);
      if (found === undefined)
        throw attributeError(`'${typeName(value)}' object has no attribute '${name}'`);
      value = found;
      i += name.length + 1;
    } else {
      const close = path.indexOf(']', i);
      if (close === -1) throw valueError("Missing ']' in format string");
      const key = path.slice(i + 1, close);
      fields.ctx.budget.step(2);
      if (key === '') throw valueError('Empty attribute in format string');
      value = fields.ctx.subscript(value, /^\d+$/.test(key) ? Number(key) : key);
      i = close + 1;
      if (i < path.length && path[i] !== '.' && path[i] !== '[')
        throw valueError("Only '.' or '[' may follow ']' in format field specifier");
    }
  }
  return value;
}

function firstValue(fields: Fields, name: string): Value {
  if (name === '' || /^\d+$/.test(name)) {
    let index: number;
    if (name === '') {
      if (fields.manual)
        throw valueError(
          'cannot switch from manual field specification to automatic field numbering',
        );
      index = fields.auto!;
      fields.auto = index + 1;
    } else {
      if (fields.auto! > 0)
        throw valueError(
          'cannot switch from automatic field numbering to manual field specification',
        );
      fields.manual = true;
      index = Number(name);
    }
    if (index >= fields.args.length)
      throw indexError(
        fields.escapes
          ? 'tuple index out of range'
          : `Replacement index ${index} out of range for positional args tuple`,
      );
    return fields.args[index];
  }
  const { named } = fields;
  const found =
    named === null
      ? undefined
      : named instanceof Map
        ? named.get(name)
        : isDict(named)
          ? dictGet(named, name)
          : notMapping(named);
  if (found === undefined) throw keyError(quote(name));
  return found;
}

function notMapping(value: Value): never {
  throw typeError(`'${typeName(value)}' object is not subscriptable`);
}
