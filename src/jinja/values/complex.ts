// Complex numbers: the result of raising a negative number to a fraction. They can only be printed.
// Used by numbers.ts.
import { floatRepr } from './decimal.ts';
import { precisePower } from './power.ts';
import { PyObject } from './types.ts';

export class Complex extends PyObject {
  readonly real: number;
  readonly imaginary: number;
  constructor(real: number, imaginary: number) {
    super();
    this.real = real;
    this.imaginary = imaginary;
  }
  get typeName() {
    return 'complex';
  }
  override repr(): string {
    const part = (value: number) => floatRepr(value).replace(/\.0$/, '');
    if (Object.is(this.real, 0)) return `${part(this.imaginary)}j`;
    const sign = this.imaginary < 0 || Object.is(this.imaginary, -0) ? '' : '+';
    return `(${part(this.real)}${sign}${part(this.imaginary)}j)`;
  }
}

/**
 * base ** exponent for a negative base: its length to the power, turned by half a circle times the
 * exponent.
 */
export function complexPower(base: number, exponent: number): Complex {
  const length = precisePower(-base, exponent);
  const angle = Math.PI * exponent;
  return new Complex(length * Math.cos(angle), length * Math.sin(angle));
}
