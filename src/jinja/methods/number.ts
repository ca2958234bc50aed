// The methods and attributes of int (and bool) and float.
import { overflowError, valueError } from '../errors.ts';
import { bitLength, int, isInt, toBigInt, toFloat } from '../values/numbers.ts';
import { float, Tuple, type Value } from '../values/types.ts';
import { type MethodTable, positional, table } from './signature.ts';

type Integer = number | bigint | boolean;

export const intMethods: MethodTable = table({
  as_integer_ratio: positional('', (_ctx, n: Integer) => new Tuple([int(toBigInt(n)), 1])),
  bit_count: positional('', (ctx, n: Integer) => {
    const big = toBigInt(n);
    if (typeof n === 'bigint') ctx.budget.step(bitLength(n) >> 3);
    return (big < 0n ? -big : big).toString(2).replaceAll('0', '').length;
  }),
  bit_length: positional('', (_ctx, n: Integer) => (Number(n) === 0 ? 0 : bitLength(toBigInt(n)))),
  conjugate: positional('', (_ctx, n: Integer) => int(toBigInt(n))),
});

export const floatMethods: MethodTable = table({
  as_integer_ratio: positional('', (_ctx, x: number) => {
    let numerator = toFloat(x);
    if (Number.isNaN(numerator)) throw valueError('cannot convert NaN to integer ratio');
    if (!Number.isFinite(numerator))
      throw overflowError('cannot convert Infinity to integer ratio');
    let denominator = 1n;
    while (!Number.isInteger(numerator)) {
      numerator *= 2;
      denominator *= 2n;
    }
    return new Tuple([int(BigInt(numerator)), int(denominator)]);
  }),
  conjugate: positional('', (_ctx, x: Value) => x),
  is_integer: positional('', (_ctx, x: number) => Number.isInteger(toFloat(x))),
});

/** real, imag, numerator and denominator are attributes, not methods. */
export function numberAttribute(value: Value, name: string): Value | undefined {
  if (name === 'real') return typeof value === 'boolean' ? Number(value) : value;
  if (name === 'imag' && !isInt(value)) return float(0);
  if (isInt(value)) {
    if (name === 'imag') return 0;
    if (name === 'numerator') return int(toBigInt(value));
    if (name === 'denominator') return 1;
  }
  return undefined;
}
