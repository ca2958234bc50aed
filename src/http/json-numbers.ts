// Numbers in `variables` as they were written: JSON.parse makes 1234567890123456789 another number
// and 10.0 the integer 10, and templates print what they are given. Before it: json-bytes.ts has
// parsed the text. After it: templates/mail-maker.ts.
//
// An integer that is too large becomes a bigint. A whole number that was written as a float becomes
// a Number object, which threads hand on to each other and JSON.stringify writes like any number.
import { randomBytes } from 'node:crypto';
import { Problem } from '../errors.ts';

/**
 * What may lose something stands in few bodies; a match inside of a text costs a second look and
 * nothing else.
 */
const MAY_LOSE = /\d{16}|\d\.0+[\s,\]}]|\d[eE][-+\d]|-0[\s,\]}]/;
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

/** As many digits as Python reads; beyond that the time to read them grows with their square. */
const MOST_DIGITS = 4300;

/**
 * Puts exact numbers into the `variables` of `parsed`, which is what JSON.parse made of the text.
 */
export function keepNumbers(text: string, parsed: unknown): void {
  if (typeof parsed !== 'object' || parsed === null || !Object.hasOwn(parsed, 'variables')) return;
  if (!MAY_LOSE.test(text)) return;
  // Nobody can write it into a text of their own.
  const mark = randomBytes(12).toString('base64');
  const marked = text.replace(TOKENS, (token) =>
    losesNothing(token) ? token : `"${mark}${token}"`,
  );
  if (marked === text) return;
  const { variables } = JSON.parse(marked) as { variables: unknown };
  (parsed as { variables: unknown }).variables = withNumbers(variables, mark);
}

function losesNothing(token: string): boolean {
  if (token.startsWith('"')) return true;
  const value = Number(token);
  return isFloat(token) ? !Number.isInteger(value) : Number.isSafeInteger(value) && token !== '-0';
}

const isFloat = (token: string): boolean => /[.eE]/.test(token);

function withNumbers(value: unknown, mark: string): unknown {
  if (typeof value === 'string') {
    return value.startsWith(mark) ? numberOf(value.slice(mark.length)) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const holder = value as Record<string, unknown>;
  for (const name in holder) holder[name] = withNumbers(holder[name], mark);
  return value;
}

function numberOf(token: string): unknown {
  if (isFloat(token)) return new Number(token);
  if (token.length <= MOST_DIGITS) return token === '-0' ? 0 : BigInt(token);
  throw new Problem(
    'invalid',
    `variables: an integer has more than ${MOST_DIGITS} digits. Give it as a text.`,
  );
}
