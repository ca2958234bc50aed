// Python's format mini-language: format(value, spec) as f-strings and str.format use it. Called by
// fields.ts.
import type { Budget } from '../budget.ts';
import { overflowError, typeError, valueError } from '../errors.ts';
import { fixedDigits, floatRepr, formatExponent, formatGeneral } from '../values/decimal.ts';
import { isFloat, isInt, toBigInt, toFloat } from '../values/numbers.ts';
import { intText, str } from '../values/repr.ts';
import { textLength, textSlice } from '../values/text.ts';
import { Markup, typeName, type Value } from '../values/types.ts';

interface Spec {
  fill: string;
  align: string;
  sign: string;
  alternate: boolean;
  /** No minus sign on a value that rounds to zero. */
  positiveZero: boolean;
  width: number;
  grouping: string;
  precision: number;
  type: string;
}

function parseSpec(spec: string, value: Value): Spec {
  const chars = Array.from(spec);
  let i = 0;
  const out: Spec = {
    fill: ' ',
    align: '',
    sign: '-',
    alternate: false,
    positiveZero: false,
    width: -1,
    grouping: '',
    precision: -1,
    type: '',
  };
  if (chars.length > 1 && '<>=^'.includes(chars[1]!)) {
    out.fill = chars[0]!;
    out.align = chars[1]!;
    i = 2;
  } else if (chars.length > 0 && '<>=^'.includes(chars[0]!)) out.align = chars[i++]!;
  if (i < chars.length && '+- '.includes(chars[i]!)) out.sign = chars[i++]!;
  if (chars[i] === 'z') {
    out.positiveZero = true;
    i++;
  }
  if (chars[i] === '#') {
    out.alternate = true;
    i++;
  }
  if (chars[i] === '0' && i + 1 <= chars.length) {
    if (out.align === '') {
      out.fill = '0';
      out.align = isNumeric(value) ? '=' : '';
    } else if (out.fill === ' ' && spec[0] !== ' ') out.fill = '0';
    i++;
  }
  const digits = () => {
    const start = i;
    while (i < chars.length && chars[i]! >= '0' && chars[i]! <= '9') i++;
    const number = start === i ? -1 : Number(chars.slice(start, i).join(''));
    if (number > Number.MAX_SAFE_INTEGER)
      throw valueError('Too many decimal digits in format string');
    return number;
  };
  out.width = digits();
  if (chars[i] === ',' || chars[i] === '_') out.grouping = chars[i++]!;
  if (chars[i] === ',' || chars[i] === '_')
    throw valueError(
      out.grouping === chars[i]
        ? `Cannot specify both '${chars[i]}' and '${chars[i]}'.`
        : "Cannot specify both ',' and '_'.",
    );
  if (chars[i] === '.') {
    i++;
    out.precision = digits();
    if (out.precision === -1) throw valueError('Format specifier missing precision');
  }
  if (chars.length - i > 1)
    throw valueError(`Invalid format specifier '${spec}' for object of type '${typeName(value)}'`);
  out.type = chars[i] ?? '';
  return out;
}

const isNumeric = (value: Value): boolean => isInt(value) || isFloat(value);

/** format(value, spec) */
export function formatValue(budget: Budget, value: Value, spec: string): string {
  if (spec === '') return str(budget, value);
  const text = typeof value === 'string' ? value : value instanceof Markup ? value.text : null;
  if (text === null && !isNumeric(value))
    throw typeError(`unsupported format string passed to ${typeName(value)}.__format__`);
  budget.text(spec.length);
  const parsed = parseSpec(spec, value);
  budget.text(Math.max(parsed.width, parsed.precision, 0));
  if (text !== null) return formatText(text, typeName(value), parsed);
  if (isInt(value) && !'eEfFgG%'.includes(parsed.type || 'd')) return formatInt(value, parsed);
  return formatFloat(value as number, parsed);
}

const unknown = (type: string, name: string) =>
  valueError(`Unknown format code '${type}' for object of type '${name}'`);

function formatText(text: string, type: string, spec: Spec): string {
  if (spec.type !== '' && spec.type !== 's') throw unknown(spec.type, type);
  if (spec.sign !== '-')
    throw valueError(
      spec.sign === ' '
        ? 'Space not allowed in string format specifier'
        : 'Sign not allowed in string format specifier',
    );
  if (spec.alternate) throw valueError('Alternate form (#) not allowed in string format specifier');
  if (spec.align === '=') throw valueError("'=' alignment not allowed in string format specifier");
  if (spec.grouping !== '') throw valueError(`Cannot specify '${spec.grouping}' with 's'.`);
  const shown = spec.precision >= 0 ? textSlice(text, 0, spec.precision) : text;
  return align(shown, '', spec, '<');
}

function formatInt(value: number | bigint | boolean, spec: Spec): string {
  const big = toBigInt(value);
  const size = big < 0n ? -big : big;
  const type = spec.type || 'd';
  if (!'bcdnoxX'.includes(type)) throw unknown(type, typeName(value));
  if (spec.precision >= 0) throw valueError('Precision not allowed in integer format specifier');
  let digits: string;
  let prefix = '';
  let group = 3;
  switch (type) {
    case 'd':
    case 'n':
      digits = intText(size);
      break;
    case 'b':
    case 'o':
    case 'x':
    case 'X':
      digits = size.toString(type === 'b' ? 2 : type === 'o' ? 8 : 16);
      if (type === 'X') digits = digits.toUpperCase();
      if (spec.alternate) prefix = `0${type}`;
      if (spec.grouping === ',') throw valueError(`Cannot specify ',' with '${type}'.`);
      group = 4;
      break;
    case 'c':
      if (spec.sign !== '-') throw valueError("Sign not allowed with integer format specifier 'c'");
      if (size > 0x10ffffn || big < 0n) throw overflowError('%c arg not in range(0x110000)');
      return align(String.fromCodePoint(Number(size)), '', spec, '>');
    default:
      throw unknown(type, typeName(value));
  }
  if (type === 'n' && spec.grouping !== '')
    throw valueError(`Cannot specify '${spec.grouping}' with 'n'.`);
  const sign = (big < 0n ? '-' : spec.sign === '-' ? '' : spec.sign) + prefix;
  return align(grouped(digits, spec, sign, '', group), sign, spec, '>');
}

function formatFloat(value: Value, spec: Spec): string {
  const number = toFloat(value as number);
  const { type } = spec;
  let scaled = number;
  if (type === '%') scaled = number * 100;
  const negative = number < 0 || Object.is(number, -0);
  let sign = negative ? '-' : spec.sign === '-' ? '' : spec.sign;
  if (!Number.isFinite(scaled)) {
    const word = Number.isNaN(scaled) ? 'nan' : 'inf';
    const shown = 'EFG'.includes(type || ' ') ? word.toUpperCase() : word;
    return align(shown + (type === '%' ? '%' : ''), sign, spec, '>');
  }
  if (spec.grouping !== '' && 'boxXn'.includes(type || ' '))
    throw valueError(`Cannot specify '${spec.grouping}' with '${type}'.`);
  const precision = spec.precision;
  let body: string;
  switch (type) {
    case 'e':
    case 'E':
      body = formatExponent(scaled, precision < 0 ? 6 : precision);
      break;
    case 'f':
    case 'F':
    case '%':
      body = fixedDigits(scaled, precision < 0 ? 6 : precision);
      break;
    case 'g':
    case 'G':
    case 'n':
      body = formatGeneral(scaled, precision < 0 ? 6 : precision, spec.alternate);
      break;
    case '':
      if (precision < 0) body = floatRepr(Math.abs(scaled));
      else {
        // Like 'g', but with at least one digit after the point and exponents one place earlier.
        body = formatGeneral(
          scaled,
          precision,
          spec.alternate,
          precision - 1 < 1 ? precision : precision - 1,
        );
        if (!body.includes('e') && !body.includes('.')) body += '.0';
      }
      break;
    default:
      throw unknown(type, typeName(value));
  }
  if (spec.positiveZero && negative && !/[1-9]/.test(body.split('e')[0]!))
    sign = spec.sign === '-' ? '' : spec.sign;
  if (type === 'E' || type === 'G') body = body.toUpperCase();
  const [, whole, rest] = /^(\d+)(.*)$/.exec(body)! as unknown as [string, string, string];
  const tail =
    (spec.alternate && !rest.includes('.') ? `.${rest}` : rest) + (type === '%' ? '%' : '');
  return align(grouped(whole, spec, sign, tail, 3) + tail, sign, spec, '>');
}

/** Thousands separators, filled with zeros up to the width if the padding is zeros. */
function grouped(digits: string, spec: Spec, sign: string, tail: string, size: number): string {
  if (spec.grouping === '') return digits;
  const padded =
    spec.fill === '0' && spec.align === '=' ? spec.width - sign.length - tail.length : 0;
  // How many digits fill the width, with a separator after every `size` of them.
  const filling = padded - Math.floor((padded - 1) / (size + 1));
  const all = digits.padStart(filling, '0');
  const groups: string[] = [];
  for (let end = all.length; end > 0; end -= size)
    groups.push(all.slice(Math.max(0, end - size), end));
  return groups.reverse().join(spec.grouping);
}

function align(body: string, sign: string, spec: Spec, fallback: string): string {
  const missing = spec.width - textLength(body) - sign.length;
  if (missing <= 0) return sign + body;
  switch (spec.align || fallback) {
    case '<':
      return sign + body + spec.fill.repeat(missing);
    case '^':
      return (
        spec.fill.repeat(missing >> 1) + sign + body + spec.fill.repeat(missing - (missing >> 1))
      );
    case '=':
      return sign + spec.fill.repeat(missing) + body;
    default:
      return spec.fill.repeat(missing) + sign + body;
  }
}
