// Floats as decimal text, rounded exactly as CPython does (to the nearest, ties to even on the
// exact binary value). Used by values/repr.ts, format/ and the round filter.

/**
 * repr(float): the shortest text that reads back the same, exponents from 1e16 up and below 1e-4.
 */
export function floatRepr(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e16) {
    const text = String(value);
    if (!text.includes('e')) return text.includes('.') ? text : `${text}.0`;
    // Unreachable: JavaScript uses exponents only below 1e-6 and from 1e21.
    return text;
  }
  const [digits, exponent] = value.toExponential().split('e') as [string, string];
  return `${digits}e${padExponent(Number(exponent))}`;
}

const padExponent = (exponent: number): string =>
  `${exponent < 0 ? '-' : '+'}${Math.abs(exponent) < 10 ? '0' : ''}${Math.abs(exponent)}`;

/** value = mantissa × 2^exponent, exactly. */
function exactParts(value: number): [mantissa: bigint, exponent: number] {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(value));
  const bits = view.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  return biased === 0 ? [fraction, -1074] : [fraction | 0x10000000000000n, biased - 1075];
}

/** numerator / denominator to the nearest integer, ties to even; both positive. */
function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  const twice = (numerator - quotient * denominator) * 2n;
  if (twice > denominator || (twice === denominator && (quotient & 1n) === 1n))
    return quotient + 1n;
  return quotient;
}

/** |value| × 10^places to the nearest integer. */
function scaled(value: number, places: number): bigint {
  const [mantissa, exponent] = exactParts(value);
  let numerator = mantissa;
  let denominator = 1n;
  if (exponent >= 0) numerator <<= BigInt(exponent);
  else denominator <<= BigInt(-exponent);
  if (places >= 0) numerator *= 10n ** BigInt(places);
  else denominator *= 10n ** BigInt(-places);
  return divideHalfEven(numerator, denominator);
}

/** No double has more digits after the point, or more in total: the rest is zeros. */
const EXACT_PLACES = 1100;

/** |value| with `places` digits after the point. */
export function fixedDigits(value: number, places: number): string {
  const size = Math.abs(value);
  if (places <= 20 && size < 1e15) {
    // toFixed works on the exact value and differs from Python only on ties, which it rounds away
    // from zero.
    const longer = size.toFixed(places + 25);
    const tail = longer.slice(longer.indexOf('.') + 1 + places);
    if (tail !== '5000000000000000000000000') return size.toFixed(places);
  }
  if (places > EXACT_PLACES)
    return fixedDigits(value, EXACT_PLACES) + '0'.repeat(places - EXACT_PLACES);
  const digits = scaled(value, places)
    .toString()
    .padStart(places + 1, '0');
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** |value| as d.ddd and exponent, with `places` digits after the point. */
export function exponentDigits(value: number, places: number): [digits: string, exponent: number] {
  if (value === 0) return ['0'.repeat(places + 1), 0];
  if (places > EXACT_PLACES) {
    const [exact, at] = exponentDigits(value, EXACT_PLACES);
    return [exact + '0'.repeat(places - EXACT_PLACES), at];
  }
  // Twenty digits show on which side of a power of ten the exact value lies: 1e-7 is really
  // 9.9999…e-8.
  let exponent = Number(Math.abs(value).toExponential(20).split('e')[1]);
  let digits = scaled(value, places - exponent).toString();
  if (digits.length > places + 1) {
    exponent++;
    digits = scaled(value, places - exponent).toString();
  }
  return [digits, exponent];
}

export function formatFixed(value: number, places: number): string {
  return fixedDigits(value, places);
}

export function formatExponent(value: number, places: number): string {
  const [digits, exponent] = exponentDigits(value, places);
  return `${digits[0]}${places > 0 ? `.${digits.slice(1)}` : ''}e${padExponent(exponent)}`;
}

/**
 * %g: `precision` significant digits, trailing zeros dropped unless `keepZeros`. `exponentFrom` is
 * where exponents begin.
 */
export function formatGeneral(
  value: number,
  precision: number,
  keepZeros: boolean,
  exponentFrom = precision,
): string {
  const significant = Math.max(1, precision);
  const [digits, exponent] = exponentDigits(value, significant - 1);
  if (exponent < -4 || exponent >= Math.max(1, exponentFrom)) {
    let fraction = digits.slice(1);
    if (!keepZeros) fraction = withoutZeros(fraction);
    return `${digits[0]}${fraction === '' ? '' : `.${fraction}`}e${padExponent(exponent)}`;
  }
  let whole: string;
  let fraction: string;
  if (exponent < 0) {
    whole = '0';
    fraction = '0'.repeat(-exponent - 1) + digits;
  } else {
    whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
    fraction = digits.slice(exponent + 1);
  }
  if (!keepZeros) fraction = withoutZeros(fraction);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

function withoutZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === 48) end--;
  return digits.slice(0, end);
}

/** round(value, places) of a float: correctly rounded, ties to even. */
export function roundFloat(value: number, places: number): number {
  if (!Number.isFinite(value) || value === 0 || places > 323) return value;
  if (places < -308) return value < 0 ? -0 : 0;
  const rounded = Number(
    places > 0
      ? `${scaled(value, places)}e${-places}`
      : scaled(value, places) * 10n ** BigInt(-places),
  );
  return value < 0 ? -rounded : rounded;
}

/** round(value, -places) of an int, places > 0. */
export function roundInt(value: bigint, places: number): bigint {
  const unit = 10n ** BigInt(places);
  const size = value < 0n ? -value : value;
  const rounded = divideHalfEven(size, unit) * unit;
  return value < 0n ? -rounded : rounded;
}
