// x ** y for floats, correct to the last bit nearly always, as the C library's pow is; JavaScript's
// own is off in one case of ten. Used by numbers.ts.

/** Bits after the point in the fixed-point numbers below. */
const BITS = 160n;
const ONE = 1n << BITS;
const times = (a: bigint, b: bigint): bigint => (a * b) >> BITS;

/** ln 2 = 2 atanh(1/3) */
const LN2 = 2n * atanh(ONE / 3n);

function atanh(z: bigint): bigint {
  const square = times(z, z);
  let power = z;
  let sum = z;
  for (let n = 3n; power !== 0n && power !== -1n; n += 2n) {
    power = times(power, square);
    sum += power / n;
  }
  return sum;
}

/** The float as integer × 2^exponent. */
function split(x: number): [bigint, number] {
  let exponent = 0;
  let whole = x;
  while (!Number.isInteger(whole)) {
    whole *= 2;
    exponent--;
  }
  return [BigInt(whole), exponent];
}

export function precisePower(base: number, exponent: number): number {
  const quick = base ** exponent;
  if (!Number.isFinite(quick) || quick === 0 || base === 1 || exponent === 1 || exponent === 0)
    return quick;
  if (exponent === 0.5) return Math.sqrt(base);
  // Near the edges of the range fixed point does not work, and the last bit does not matter.
  if (Math.abs(quick) < 1e-290 || Math.abs(base) < 1e-290) return quick;
  const negative = base < 0 && Math.abs(exponent % 2) === 1;
  const [mantissa, shift] = split(Math.abs(base));
  const [power, powerShift] = split(exponent);
  // ln(base) = ln(m) + k ln 2 with m between 3/4 and 3/2.
  const size = mantissa.toString(2).length;
  let k = shift + size;
  let m = (mantissa << BITS) >> BigInt(size);
  if (m < (ONE * 3n) / 4n) {
    m <<= 1n;
    k--;
  }
  const log = 2n * atanh(((m - ONE) << BITS) / (m + ONE)) + BigInt(k) * LN2;
  const scaled = (log * power) >> BigInt(-powerShift);
  const halvings = (scaled + LN2 / 2n) / LN2 - (scaled + LN2 / 2n < 0n ? 1n : 0n);
  const result = Number(exp(scaled - halvings * LN2)) * 2 ** -Number(BITS) * 2 ** Number(halvings);
  return negative ? -result : result;
}

/** e^x for |x| below 0.7. */
function exp(x: bigint): bigint {
  let term = ONE;
  let sum = ONE;
  for (let n = 1n; term !== 0n && term !== -1n; n++) {
    term = times(term, x) / n;
    sum += term;
  }
  return sum;
}
