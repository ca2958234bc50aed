// Numbers in `variables` as they were written: JSON.parse turns 1234567890123456789 into another
// number and 10.0 into the integer 10, and templates print what they get. Before it: json-bytes.ts
// has parsed the text. After it: templates/email-maker.ts.
//
// An integer that is too large becomes a bigint. A whole number that was written as a float becomes
// a Number object, which threads can pass to each other and JSON.stringify writes like any number.
import { randomBytes } from 'node:crypto';
import { Problem } from '../errors.ts';

/**
 * Few bodies contain numbers that may lose something; a match inside a text only costs a second
 * pass.
 */
const MAY_LOSE = /\d{16}|\d\.0+[\s,\]}]|\d[eE][-+\d]|-0[\s,\]}]/;
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

/** How many values are checked before others get a turn. */
const STEP = 10_000;

/** As many digits as Python reads; beyond that the time to read them grows with their square. */
const MOST_DIGITS = 4300;

/**
 * Puts exact numbers into the `variables` of `parsed`, which is what JSON.parse made of the text.
 * Yields after each step: 100,000 numbers in one go took 190 ms. Undefined: there is nothing to do.
 */
export function keepNumbers(text: string, parsed: unknown): Generator<void, void> | undefined {
  const holders = holdersIn(parsed);
  if (!holders.some(hasVariables) || !MAY_LOSE.test(text)) return undefined;
  return putExact(text, holders);
}

function* putExact(text: string, holders: readonly unknown[]): Generator<void, void> {
  // Random, so that no sender can write it into a text.
  const mark = randomBytes(12).toString('base64');
  const marked = yield* withMarks(text, mark);
  if (marked === undefined) return;
  yield;
  const exact = holdersIn(JSON.parse(marked));
  yield;
  for (const [place, holder] of holders.entries()) {
    if (!hasVariables(holder)) continue;
    const { variables } = exact[place] as Holder;
    const root = { variables };
    yield* putNumbers(root, mark);
    holder.variables = root.variables;
  }
}

/** Every number that would lose something as a text that begins with the mark; undefined: none. */
function* withMarks(text: string, mark: string): Generator<void, string | undefined> {
  const pieces: string[] = [];
  let from = 0;
  let seen = 0;
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (++seen % STEP === 0) yield;
    if (losesNothing(token)) continue;
    pieces.push(text.slice(from, index), `"${mark}${token}"`);
    from = index + token.length;
  }
  return from === 0 ? undefined : pieces.join('') + text.slice(from);
}

type Holder = { variables: unknown };

/**
 * Where `variables` may be: in the request, in each email of a batch, and in the arguments of an
 * agent's call.
 */
function holdersIn(body: unknown): unknown[] {
  if (typeof body !== 'object' || body === null) return [];
  if (Array.isArray(body)) return body;
  const { emails, recipients, params } = body as Record<string, unknown>;
  if (Array.isArray(emails)) return emails;
  if (Array.isArray(recipients)) return [body, ...recipients];
  const call = params as { arguments?: unknown } | null | undefined;
  return typeof call === 'object' && call !== null ? holdersIn(call.arguments) : [body];
}

const hasVariables = (holder: unknown): holder is Holder =>
  typeof holder === 'object' && holder !== null && Object.hasOwn(holder, 'variables');

function losesNothing(token: string): boolean {
  if (token.startsWith('"')) return true;
  const value = Number(token);
  return isFloat(token) ? !Number.isInteger(value) : Number.isSafeInteger(value) && token !== '-0';
}

const isFloat = (token: string): boolean => /[.eE]/.test(token);

function* putNumbers(root: Record<string, unknown>, mark: string): Generator<void, void> {
  const open = [root];
  let seen = 0;
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    for (const name in holder) {
      if (++seen % STEP === 0) yield;
      const value = holder[name];
      if (typeof value === 'object' && value !== null) open.push(value as typeof root);
      else if (typeof value === 'string' && value.startsWith(mark)) {
        holder[name] = numberOf(value.slice(mark.length));
      }
    }
  }
}

function numberOf(token: string): unknown {
  if (isFloat(token)) return new Number(token);
  if (token.length <= MOST_DIGITS) return token === '-0' ? 0 : BigInt(token);
  throw new Problem(
    'invalid',
    `variables: an integer has more than ${MOST_DIGITS} digits. Give it as a string.`,
    { at: 'variables' },
  );
}
