// The filters that work on numbers: abs, float, int, round, filesizeformat.

import { filterArgumentError, TemplateError, typeError } from '../errors.ts';
import { native } from '../methods/signature.ts';
import type { Context, Native } from '../running.ts';
import { fixedDigits, roundFloat, roundInt } from '../values/decimal.ts';
import { hashKey } from '../values/dict.ts';
import { truthy } from '../values/iterate.ts';
import {
  floatOf,
  int,
  isFloat,
  isInt,
  isNumber,
  negate,
  readFloat,
  readInt,
  toBigInt,
  toFloat,
  toIndex,
  truncate,
} from '../values/numbers.ts';
import { divide, multiply, power } from '../values/operators.ts';
import { float, Markup, typeName, type Value } from '../values/types.ts';
import { Undefined } from '../values/undefined.ts';

function abs(_ctx: Context, value: Value): Value {
  if (!isNumber(value)) throw typeError(`bad operand type for abs(): '${typeName(value)}'`);
  if (typeof value === 'boolean') return Number(value);
  if (isFloat(value)) return float(Math.abs(toFloat(value)));
  return Number(value) < 0 ? negate(value) : value;
}

function toInt(ctx: Context, value: Value, fallback: Value = 0, base: Value = 10): Value {
  if (value instanceof Undefined) return value.fail();
  if (isInt(value)) return int(toBigInt(value));
  if (isFloat(value)) {
    const number = toFloat(value);
    return Number.isNaN(number) ? fallback : truncate(number);
  }
  if (typeof value !== 'string' && !(value instanceof Markup)) return fallback;
  const text = String(value);
  ctx.budget.step(text.length >> 3);
  const radix = isInt(base) ? toIndex(base) : null;
  const whole =
    radix === 0 || (radix !== null && radix >= 2 && radix <= 36) ? readInt(text, radix) : null;
  if (whole !== null) return whole;
  const number = readFloat(text);
  return number === null || !Number.isFinite(number) ? fallback : truncate(number);
}

function toFloatFilter(ctx: Context, value: Value, fallback: Value = float(0)): Value {
  if (value instanceof Undefined) return value.fail();
  if (isNumber(value)) return float(toFloat(value));
  if (typeof value !== 'string' && !(value instanceof Markup)) return fallback;
  const text = String(value);
  ctx.budget.step(text.length >> 3);
  const number = readFloat(text);
  return number === null ? fallback : float(number);
}

function round(ctx: Context, value: Value, precision: Value = 0, method: Value = 'common'): Value {
  const how = hashKey(method);
  if (how !== 'common' && how !== 'ceil' && how !== 'floor')
    throw filterArgumentError('method must be common, ceil or floor');
  if (how === 'common') return roundCommon(value, precision);
  const { budget } = ctx;
  const unit = power(budget, 10, precision);
  const scaled = multiply(budget, value, unit);
  if (!isNumber(scaled)) throw typeError(`must be real number, not ${typeName(scaled)}`);
  const whole = isInt(scaled)
    ? scaled
    : truncate(how === 'ceil' ? Math.ceil(toFloat(scaled)) : Math.floor(toFloat(scaled)));
  return divide(budget, whole, unit);
}

/** round(value, precision) */
function roundCommon(value: Value, precision: Value): Value {
  if (!isNumber(value)) throw typeError(`type ${typeName(value)} doesn't define __round__ method`);
  if (precision === null)
    return isInt(value) ? int(toBigInt(value)) : truncate(roundFloat(toFloat(value), 0));
  const places = toIndex(precision);
  if (isFloat(value)) return float(roundFloat(toFloat(value), places));
  if (places >= 0) return int(toBigInt(value as bigint | boolean));
  return places < -5000 ? 0 : int(roundInt(toBigInt(value as bigint | boolean), -places));
}

const DECIMAL = ['kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'];
const BINARY = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB', 'ZiB', 'YiB'];

function filesizeformat(_ctx: Context, value: Value, binary: Value = false): string {
  const bytes = floatOf(value);
  const base = truthy(binary) ? 1024 : 1000;
  const prefixes = truthy(binary) ? BINARY : DECIMAL;
  if (bytes === 1) return '1 Byte';
  if (bytes < base) return `${truncate(bytes)} Bytes`;
  let unit = base;
  for (const prefix of prefixes) {
    unit *= base;
    if (bytes < unit || prefix === prefixes.at(-1))
      return `${fixedText((base * bytes) / unit)} ${prefix}`;
  }
  throw new TemplateError('TypeError', 'not a size');
}
const fixedText = (value: number): string =>
  Number.isFinite(value) ? fixedDigits(value, 1) : Number.isNaN(value) ? 'nan' : 'inf';

export const numberFilters: Record<string, Native> = {
  abs: native('', abs),
  filesizeformat: native('? binary', filesizeformat),
  float: native('? default', toFloatFilter),
  int: native('? default base', toInt),
  round: native('? precision method', round),
};
