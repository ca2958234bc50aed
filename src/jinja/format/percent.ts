// printf-style formatting: `text % values`, for str and (escaping) for Markup. Called by
// values/operators.ts and the format filter.
import type { Budget } from '../budget.ts';
import { keyError, overflowError, typeError, valueError } from '../errors.ts';
import { TextBuilder } from '../values/building.ts';
import { fixedDigits, formatExponent, formatGeneral } from '../values/decimal.ts';
import { dictGet, isDict } from '../values/dict.ts';
import {
  floatOf,
  isFloat,
  isInt,
  readInt,
  toBigInt,
  toFloat,
  toIndex,
  truncate,
} from '../values/numbers.ts';
import { escapeLongText, escapeValue, intText, quote, repr, str } from '../values/repr.ts';
import { textLength, textSlice } from '../values/text.ts';
import { Markup, Range, Tuple, typeName, type Value } from '../values/types.ts';
import { Undefined } from '../values/undefined.ts';
import { ascii } from './fields.ts';

interface Directive {
  key: string | null;
  left: boolean;
  sign: string;
  alternate: boolean;
  zero: boolean;
  width: number;
  precision: number;
  type: string;
  at: number;
}

/** `template % values`; with `escapes` every value is escaped first, as Markup does. */
export function formatPercent(
  budget: Budget,
  template: string,
  values: Value,
  escapes: boolean,
): string {
  const tuple = values instanceof Tuple ? values.items : null;
  const mapping = tuple === null && isSubscriptable(values);
  const scalar = escapes && tuple === null && !mapping;
  const args = scalar ? [values] : tuple;
  let used = 0;
  const next = (): Value => {
    if (args === null) {
      if (used++ > 0) throw typeError('not enough arguments for format string');
      return values;
    }
    if (used >= args.length) throw typeError('not enough arguments for format string');
    return args[used++];
  };
  budget.scan(template.length);
  const out = new TextBuilder(budget);
  let i = 0;
  for (let at = template.indexOf('%'); at !== -1; at = template.indexOf('%', i)) {
    out.add(template.slice(i, at));
    if (template[at + 1] === '%') {
      out.add('%');
      i = at + 2;
      continue;
    }
    const directive = parse(template, at, next, mapping);
    i = directive.at + 1;
    const value = directive.key === null ? next() : lookup(values, directive.key, mapping);
    budget.text(Math.max(0, directive.width, directive.precision));
    out.add(convert(budget, directive, value, escapes));
    budget.step(1);
  }
  out.add(template.slice(i));
  if (!mapping && used < (args === null ? 1 : args.length))
    throw typeError('not all arguments converted during string formatting');
  return out.toString();
}

/** What CPython's PyMapping_Check accepts besides str: everything with [ ]. */
const isSubscriptable = (value: Value): boolean =>
  Array.isArray(value) || isDict(value) || value instanceof Range || value instanceof Undefined;

function lookup(values: Value, key: string, mapping: boolean): Value {
  if (!mapping) throw typeError('format requires a mapping');
  if (values instanceof Undefined) return values.fail();
  if (!isDict(values))
    throw typeError(`${typeName(values)} indices must be integers or slices, not str`);
  const found = dictGet(values, key);
  if (found === undefined) throw keyError(quote(key));
  return found;
}

function parse(template: string, start: number, next: () => Value, mapping: boolean): Directive {
  const out: Directive = {
    key: null,
    left: false,
    sign: '',
    alternate: false,
    zero: false,
    width: -1,
    precision: -1,
    type: '',
    at: start + 1,
  };
  if (template[out.at] === '(') {
    if (!mapping) throw typeError('format requires a mapping');
    let nested = 1;
    let i = out.at + 1;
    for (; i < template.length && nested > 0; i++)
      nested += template[i] === '(' ? 1 : template[i] === ')' ? -1 : 0;
    if (nested > 0) throw valueError('incomplete format key');
    out.key = template.slice(out.at + 1, i - 1);
    out.at = i;
  }
  for (; ; out.at++) {
    const char = template[out.at];
    if (char === '-') out.left = true;
    else if (char === '+') out.sign = '+';
    else if (char === ' ') out.sign ||= ' ';
    else if (char === '#') out.alternate = true;
    else if (char === '0') out.zero = true;
    else break;
  }
  const number = (): number => {
    if (template[out.at] === '*') {
      out.at++;
      const value = next();
      if (!isInt(value)) throw typeError('* wants int');
      return toIndex(value);
    }
    const start = out.at;
    while (template[out.at]! >= '0' && template[out.at]! <= '9') out.at++;
    const digits = template.slice(start, out.at);
    if (digits.length > 9) throw valueError('width too big');
    return digits === '' ? -1 : Number(digits);
  };
  out.width = number();
  if (out.width < -1) {
    out.left = true;
    out.width = -out.width;
  }
  if (template[out.at] === '.') {
    out.at++;
    out.precision = Math.max(0, number());
  }
  if ('hlL'.includes(template[out.at] ?? ' ')) out.at++;
  if (out.at >= template.length) throw valueError('incomplete format');
  out.type = template[out.at]!;
  return out;
}

function convert(budget: Budget, d: Directive, value: Value, escapes: boolean): string {
  switch (d.type) {
    case 's':
    case 'r':
    case 'a': {
      let text =
        d.type === 's'
          ? escapes
            ? escapeValue(budget, value)
            : str(budget, value)
          : repr(budget, value);
      if (escapes && d.type !== 's') text = escapeLongText(budget, text);
      if (d.type === 'a') text = ascii(budget, text);
      return pad(d.precision >= 0 ? textSlice(text, 0, d.precision) : text, '', d, false);
    }
    case 'c':
      return pad(character(value, escapes), '', d, false);
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      return integer(budget, d, value, escapes);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      return floating(d, value, escapes);
  }
  const char = String.fromCodePoint(d.type.codePointAt(0)!);
  throw valueError(
    `unsupported format character '${char}' (0x${char.codePointAt(0)!.toString(16)}) at index ${d.at}`,
  );
}

function character(value: Value, escapes: boolean): string {
  if (escapes) throw typeError('%c requires int or char');
  if (isInt(value)) {
    if (Number(value) < 0 || Number(value) > 0x10ffff)
      throw overflowError('%c arg not in range(0x110000)');
    return String.fromCodePoint(Number(value));
  }
  const text = typeof value === 'string' ? value : value instanceof Markup ? value.text : '';
  if (textLength(text) !== 1) throw typeError('%c requires int or char');
  return text;
}

function integer(budget: Budget, d: Directive, value: Value, escapes: boolean): string {
  let whole: bigint;
  const decimal = 'diu'.includes(d.type);
  // Markup wraps its values, and the wrapper can only be converted to an int or float.
  const type = escapes ? '_MarkupEscapeHelper' : typeName(value);
  if (isInt(value) && (decimal || !escapes)) whole = toBigInt(value);
  else if (value instanceof Undefined && decimal) return value.fail();
  else if (isFloat(value) && decimal) whole = BigInt(truncate(toFloat(value)));
  else if (escapes && decimal && (typeof value === 'string' || value instanceof Markup)) {
    const parsed = readInt(String(value));
    if (parsed === null)
      throw valueError(`invalid literal for int() with base 10: ${repr(budget, value)}`);
    whole = BigInt(parsed);
  } else
    throw typeError(
      decimal
        ? `%${d.type} format: a real number is required, not ${type}`
        : `%${d.type} format: an integer is required, not ${type}`,
    );
  const size = whole < 0n ? -whole : whole;
  const base = d.type === 'o' ? 8 : d.type === 'x' || d.type === 'X' ? 16 : 10;
  let digits = base === 10 ? intText(size) : size.toString(base);
  if (d.type === 'X') digits = digits.toUpperCase();
  digits = digits.padStart(Math.max(0, d.precision), '0');
  const prefix = d.alternate && base !== 10 ? `0${d.type}` : '';
  return pad(digits, (whole < 0n ? '-' : d.sign) + prefix, d, true);
}

function floating(d: Directive, value: Value, escapes: boolean): string {
  if (value instanceof Undefined) return value.fail();
  if (!isInt(value) && !isFloat(value) && !escapes)
    throw typeError(`must be real number, not ${typeName(value)}`);
  const number = floatOf(value);
  const sign = number < 0 || Object.is(number, -0) ? '-' : d.sign;
  if (!Number.isFinite(number)) {
    const word = Number.isNaN(number) ? 'nan' : 'inf';
    return pad('EFG'.includes(d.type) ? word.toUpperCase() : word, sign, d, true);
  }
  const places = d.precision < 0 ? 6 : d.precision;
  const lower = d.type.toLowerCase();
  let body =
    lower === 'f'
      ? fixedDigits(number, places)
      : lower === 'e'
        ? formatExponent(number, places)
        : formatGeneral(number, places, d.alternate);
  if (d.alternate && !body.includes('.')) body = body.replace(/(?=e|$)/, '.');
  return pad('EG'.includes(d.type) ? body.toUpperCase() : body, sign, d, true);
}

function pad(body: string, sign: string, d: Directive, numeric: boolean): string {
  const missing = d.width - sign.length - textLength(body);
  if (missing <= 0) return sign + body;
  if (d.left) return sign + body + ' '.repeat(missing);
  if (d.zero && numeric) return sign + '0'.repeat(missing) + body;
  return ' '.repeat(missing) + sign + body;
}
