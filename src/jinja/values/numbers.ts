// Python's int and float: arithmetic, conversion and parsing. Called by operators.ts, the number
// filters and methods.
import type { Budget } from '../budget.ts';
import { LimitExceeded, overflowError, typeError, valueError, zeroDivision } from '../errors.ts';
import { complexPower } from './complex.ts';
import { precisePower } from './power.ts';
import { asciiDigits, strip } from './text.ts';
import { Float, float, typeName, type Value } from './types.ts';
import { Undefined } from './undefined.ts';

/**
 * Bits beyond which integers are refused: far above any price, far below what would stall
 * multiplication.
 */
const MOST_BITS = 1 << 16;

/** True for int and bool. */
export const isInt = (value: Value): value is number | bigint | boolean =>
  typeof value === 'number'
    ? Number.isSafeInteger(value)
    : typeof value === 'bigint' || typeof value === 'boolean';

export const isFloat = (value: Value): value is number | Float =>
  typeof value === 'number' ? !Number.isSafeInteger(value) : value instanceof Float;

export const isNumber = (value: Value): value is number | bigint | boolean | Float =>
  typeof value === 'number' ||
  typeof value === 'bigint' ||
  typeof value === 'boolean' ||
  value instanceof Float;

/** The int for a bigint: a number if it is safe. */
export function int(value: bigint): number | bigint {
  if (value >= -9007199254740991n && value <= 9007199254740991n) return Number(value);
  if (bitLength(value) > MOST_BITS)
    throw new LimitExceeded('steps', `integer too large: more than ${MOST_BITS} bits`);
  return value;
}
export function bitLength(value: bigint): number {
  const hex = (value < 0n ? -value : value).toString(16);
  return (hex.length - 1) * 4 + (32 - Math.clz32(Number.parseInt(hex[0]!, 16)));
}
export const toBigInt = (value: number | bigint | boolean): bigint => BigInt(value);

/**
 * The number as a JavaScript float; ints beyond the float range are an OverflowError as in Python.
 */
export function toFloat(value: number | bigint | boolean | Float): number {
  if (typeof value === 'number') return value;
  if (value instanceof Float) return value.value;
  const converted = Number(value);
  if (!Number.isFinite(converted)) throw overflowError('int too large to convert to float');
  return converted;
}

const small = (value: Value): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value);

type Arithmetic = (
  budget: Budget,
  a: number | bigint | boolean | Float,
  b: number | bigint | boolean | Float,
) => Value;

/** Large integers pay by their size: dividing two of 65,536 bits takes half a millisecond. */
function payForBig(budget: Budget, a: Value, b: Value): void {
  if (typeof a === 'bigint') budget.step(1 + (bitLength(a) >> 4));
  if (typeof b === 'bigint') budget.step(1 + (bitLength(b) >> 4));
}

export const addNumbers: Arithmetic = (budget, a, b) => {
  payForBig(budget, a, b);
  if (isInt(a) && isInt(b)) return int(toBigInt(a) + toBigInt(b));
  return float(toFloat(a) + toFloat(b));
};

export const subtractNumbers: Arithmetic = (budget, a, b) => {
  payForBig(budget, a, b);
  if (isInt(a) && isInt(b)) return int(toBigInt(a) - toBigInt(b));
  return float(toFloat(a) - toFloat(b));
};

export const multiplyNumbers: Arithmetic = (budget, a, b) => {
  if (!isInt(a) || !isInt(b)) return float(toFloat(a) * toFloat(b));
  const product = Number(a) * Number(b);
  if (Number.isSafeInteger(product)) return product === 0 ? 0 : product;
  budget.step(8);
  payForBig(budget, a, b);
  return int(toBigInt(a) * toBigInt(b));
};

export const divideNumbers: Arithmetic = (budget, a, b) => {
  payForBig(budget, a, b);
  if (isInt(a) && isInt(b)) {
    if (Number(b) === 0) throw zeroDivision('division by zero');
    if (typeof a !== 'bigint' && typeof b !== 'bigint') return float(Number(a) / Number(b));
    return float(divideBig(toBigInt(a), toBigInt(b)));
  }
  const divisor = toFloat(b);
  if (divisor === 0) throw zeroDivision('float division by zero');
  return float(toFloat(a) / divisor);
};

/** Correctly rounded quotient of integers of any size. */
function divideBig(a: bigint, b: bigint): number {
  const negative = a < 0n !== b < 0n;
  const top = a < 0n ? -a : a;
  const bottom = b < 0n ? -b : b;
  // Scale to 66 or more quotient bits with a sticky last bit; Number() then rounds once, correctly.
  const shift = Math.max(0, bitLength(bottom) - bitLength(top) + 66);
  const scaledTop = top << BigInt(shift);
  let quotient = scaledTop / bottom;
  if (quotient * bottom !== scaledTop) quotient |= 1n;
  const size = Number(quotient) * 2 ** -shift;
  if (!Number.isFinite(size)) throw overflowError('integer division result too large for a float');
  return negative ? -size : size;
}

export const floorDivide: Arithmetic = (budget, a, b) => {
  payForBig(budget, a, b);
  if (isInt(a) && isInt(b)) {
    if (Number(b) === 0) throw zeroDivision('integer division or modulo by zero');
    if (typeof a !== 'bigint' && typeof b !== 'bigint') {
      const x = Number(a);
      const y = Number(b);
      const multiple = x - floorMod(x, y);
      if (Number.isSafeInteger(multiple)) return multiple === 0 ? 0 : multiple / y;
    }
    const x = toBigInt(a);
    const y = toBigInt(b);
    const quotient = x / y;
    return int(quotient * y !== x && x < 0n !== y < 0n ? quotient - 1n : quotient);
  }
  return float(floatDivmod(toFloat(a), toFloat(b), 'float floor division by zero')[0]);
};

export const modulo: Arithmetic = (budget, a, b) => {
  payForBig(budget, a, b);
  if (isInt(a) && isInt(b)) {
    if (Number(b) === 0) throw zeroDivision('integer modulo by zero');
    if (typeof a !== 'bigint' && typeof b !== 'bigint') return floorMod(Number(a), Number(b));
    const x = toBigInt(a);
    const y = toBigInt(b);
    const rest = x % y;
    return int(rest !== 0n && rest < 0n !== y < 0n ? rest + y : rest);
  }
  return float(floatDivmod(toFloat(a), toFloat(b), 'float modulo')[1]);
};

function floorMod(x: number, y: number): number {
  const rest = x % y;
  if (rest === 0) return 0;
  return rest < 0 !== y < 0 ? rest + y : rest;
}

/** CPython's float_divmod. */
function floatDivmod(x: number, y: number, message: string): [number, number] {
  if (y === 0) throw zeroDivision(message);
  let rest = x % y;
  let quotient = (x - rest) / y;
  if (rest !== 0) {
    if (y < 0 !== rest < 0) {
      rest += y;
      quotient -= 1;
    }
  } else rest = y < 0 ? -0 : 0;
  if (quotient === 0) return [x / y < 0 || Object.is(x / y, -0) ? -0 : 0, rest];
  let floor = Math.floor(quotient);
  if (quotient - floor > 0.5) floor += 1;
  return [floor, rest];
}

export const power: Arithmetic = (budget, a, b) => {
  if (isInt(a) && isInt(b)) {
    if (Number(b) >= 0) return intPower(budget, a, b);
    if (Number(a) === 0) throw zeroDivision('0.0 cannot be raised to a negative power');
  }
  const base = toFloat(a);
  const exponent = toFloat(b);
  if (base === 0 && exponent < 0) throw zeroDivision('0.0 cannot be raised to a negative power');
  if (base < 0 && Number.isFinite(base) && Number.isFinite(exponent) && !Number.isInteger(exponent))
    return complexPower(base, exponent);
  // 1 ** nan and (-1) ** inf are 1 in C and NaN in JavaScript.
  if (base === 1 || (base === -1 && !Number.isFinite(exponent) && !Number.isNaN(exponent)))
    return float(1);
  const result = precisePower(base, exponent);
  if (!Number.isFinite(result) && Number.isFinite(base) && Number.isFinite(exponent))
    throw overflowError("(34, 'Numerical result out of range')");
  return float(result);
};

function intPower(
  budget: Budget,
  a: number | bigint | boolean,
  b: number | bigint | boolean,
): Value {
  const quick = Number(a) ** Number(b);
  if (Number.isSafeInteger(quick)) return quick === 0 ? 0 : quick;
  const bits = bitLength(toBigInt(a)) * Number(b);
  if (bits > MOST_BITS + 64)
    throw new LimitExceeded('steps', `integer too large: more than ${MOST_BITS} bits`);
  budget.step(8 + (bits >> 3));
  return int(toBigInt(a) ** toBigInt(b));
}

export function negate(value: number | bigint | boolean | Float): Value {
  if (value instanceof Float) return float(-value.value);
  if (typeof value === 'bigint') return int(-value);
  const negative = -Number(value);
  return negative === 0 ? 0 : negative;
}

/** Truncates a float to an int, as int() does. */
export function truncate(value: number): number | bigint {
  if (Number.isNaN(value)) throw valueError('cannot convert float NaN to integer');
  if (!Number.isFinite(value)) throw overflowError('cannot convert float infinity to integer');
  const whole = Math.trunc(value);
  return Number.isSafeInteger(whole) ? whole + 0 : int(BigInt(whole));
}

/** int(text, base), or null where Python raises ValueError. */
export function readInt(text: string, base = 10): number | bigint | null {
  let digits = asciiDigits(strip(text)).toLowerCase();
  let negative = false;
  if (digits[0] === '+' || digits[0] === '-') {
    negative = digits[0] === '-';
    digits = digits.slice(1);
  }
  let radix = base;
  const prefix = { '0b': 2, '0o': 8, '0x': 16 }[digits.slice(0, 2)];
  if (prefix !== undefined && (base === 0 || base === prefix)) {
    radix = prefix;
    digits = digits.slice(2);
    if (digits[0] === '_') digits = digits.slice(1);
  } else if (base === 0) {
    radix = 10;
    if (/^0[0_]*[1-9]/.test(digits)) return null;
  }
  if (!/^[0-9a-z]+(?:_[0-9a-z]+)*$/.test(digits)) return null;
  digits = digits.replaceAll('_', '');
  for (let i = 0; i < digits.length; i++) if (Number.parseInt(digits[i]!, 36) >= radix) return null;
  if (digits.length > 4300 && (radix & (radix - 1)) !== 0) return null;
  if (digits.length > MOST_BITS / 4)
    throw new LimitExceeded('steps', `integer too large: more than ${MOST_BITS} bits`);
  const quick = Number.parseInt(digits, radix);
  if (Number.isSafeInteger(quick)) return negative && quick !== 0 ? -quick : quick;
  let big = 0n;
  if (radix === 10) big = BigInt(digits);
  else for (const digit of digits) big = big * BigInt(radix) + BigInt(Number.parseInt(digit, 36));
  return int(negative ? -big : big);
}

/** float(text), or null where Python raises ValueError. */
export function readFloat(text: string): number | null {
  const trimmed = asciiDigits(strip(text)).toLowerCase();
  const special = /^([+-]?)(inf|infinity|nan)$/.exec(trimmed);
  if (special) return special[2] === 'nan' ? Number.NaN : special[1] === '-' ? -Infinity : Infinity;
  if (
    !/^[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+(?:_\d+)*)?$/.test(
      trimmed,
    )
  )
    return null;
  return Number(trimmed.replaceAll('_', ''));
}

/** An index argument: what Python accepts where it needs an integer. */
export function toIndex(value: Value): number {
  if (small(value)) return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'bigint')
    return value < 0n ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
  throw typeError(`'${typeName(value)}' object cannot be interpreted as an integer`);
}

/** float(value), failing as Python's constructor does. */
export function floatOf(value: Value): number {
  if (isNumber(value)) return toFloat(value);
  if (typeof value === 'string' || isMarkupText(value)) {
    const text = String(value);
    const parsed = readFloat(text);
    if (parsed === null)
      throw valueError(
        `could not convert string to float: ${typeof value === 'string' ? quoted(text) : `Markup(${quoted(text)})`}`,
      );
    return parsed;
  }
  if (value instanceof Undefined) return value.fail();
  throw typeError(`float() argument must be a string or a real number, not '${typeName(value)}'`);
}
/** repr() of a text; repr.ts cannot be used, because it imports this module. */
const quoted = (text: string): string => {
  const body = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  return text.includes("'") ? `"${body}"` : `'${body}'`;
};
const isMarkupText = (value: Value): boolean => typeName(value) === 'Markup';
