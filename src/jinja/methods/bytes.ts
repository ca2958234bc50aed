// str.encode() and the methods of the bytes it returns.

import { TemplateRuntimeError } from '../errors.ts';
import type { Context } from '../running.ts';
import { Bytes, type Markup, type Value } from '../values/types.ts';
import { type MethodTable, native, positional, table } from './signature.ts';
import { asText, textOf } from './str-search.ts';

export function encode(
  ctx: Context,
  self: string | Markup,
  encoding: Value = 'utf-8',
  errors: Value = 'strict',
): Value {
  const whole = asText(self);
  ctx.budget.text(whole.length * 4);
  textOf(errors, "encode() argument 'errors'");
  const name = textOf(encoding, 'encode() argument').toLowerCase().replaceAll('_', '-');
  if (name === 'utf-8' || name === 'utf8') return new Bytes(new TextEncoder().encode(whole));
  const limit = ENCODINGS[name];
  if (limit === undefined)
    throw new TemplateRuntimeError(`unknown encoding: ${encoding}`, 'LookupError');
  const bytes: number[] = [];
  for (const char of whole) {
    const code = char.codePointAt(0)!;
    if (code <= limit) bytes.push(code);
    else if (errors === 'replace') bytes.push(63);
    else if (errors !== 'ignore')
      throw new TemplateRuntimeError(
        `'${name}' codec can't encode character: ordinal not in range(${limit + 1})`,
        'UnicodeEncodeError',
      );
  }
  return new Bytes(Uint8Array.from(bytes));
}

const ENCODINGS: Record<string, number> = {
  ascii: 127,
  'us-ascii': 127,
  'latin-1': 255,
  latin1: 255,
  'iso-8859-1': 255,
};

export const bytesMethods: MethodTable = table({
  decode: native('? encoding errors', (ctx, bytes: Bytes, encoding: Value = 'utf-8') => {
    ctx.budget.text(bytes.data.length);
    return new TextDecoder(
      textOf(encoding, 'decode() argument') === 'utf-8' ? 'utf-8' : 'latin1',
    ).decode(bytes.data);
  }),
  hex: positional('', (ctx, bytes: Bytes) => {
    ctx.budget.text(bytes.data.length * 2);
    return Buffer.from(bytes.data).toString('hex');
  }),
});
