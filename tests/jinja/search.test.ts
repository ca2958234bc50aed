// Linear search: the same answers as V8's own, and no text makes it slow.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countIn, indexIn, lastIndexIn, Needle, partsOf } from '../../src/jinja/values/search.ts';
import { expectLinear } from '../support/growth.ts';
import { LONGER } from '../support/longer.ts';

/** Texts of two letters that repeat, long enough to leave V8's search behind. */
const texts = fc
  .tuple(
    fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 6 }),
    fc.array(fc.constantFrom('a', 'b', 'ab', 'ba'), { maxLength: 12 }),
    fc.integer({ min: 1, max: 12 }),
  )
  .map(([seed, rest, times]) => seed.join('').repeat(times) + rest.join(''));
const long = fc.tuple(texts, texts).map(([one, two]) => (one + two).repeat(60));

describe('search', () => {
  it('finds what V8 finds', () => {
    fc.assert(
      fc.property(long, texts, fc.nat(200), (whole, text, from) => {
        // Padded past the size up to which V8 is asked.
        const padded = whole + 'c'.repeat(2_200_000 / Math.max(2, text.length));
        expect(indexIn(padded, text)).toBe(padded.indexOf(text));
        expect(new Needle(text).find(padded, from)).toBe(padded.indexOf(text, from));
        const front = 'c'.repeat(2_200_000 / Math.max(2, text.length)) + whole;
        expect(lastIndexIn(front, text)).toBe(front.lastIndexOf(text));
        const back = front.length - from;
        expect(new Needle(text, true).find(front, back)).toBe(front.lastIndexOf(text, back));
        expect(countIn(padded, text)).toBe(padded.split(text).length - 1);
        expect(partsOf(padded, text, -1)).toEqual(padded.split(text));
      }),
      { numRuns: 20 * LONGER },
    );
  });

  it('cuts from the right as Python does', () => {
    expect(partsOf('aaa', 'aa', -1, true)).toEqual(['a', '']);
    expect(partsOf('a,b,c', ',', 1, true)).toEqual(['a,b', 'c']);
    expect(partsOf('a,b,c', ',', 1)).toEqual(['a', 'b,c']);
    expect(partsOf('', ',', -1, true)).toEqual(['']);
  });

  it.each([
    ['the one of the issue', (n: number) => ['a'.repeat(n), `aab${'a'.repeat(n / 100)}`]],
    ['a needle that fails at its end', (n: number) => ['a'.repeat(n), `${'a'.repeat(n / 4)}b`]],
    ['a needle that fails at its start', (n: number) => ['a'.repeat(n), `b${'a'.repeat(n / 4)}`]],
    [
      'a needle that fails in its middle',
      (n: number) => ['ab'.repeat(n / 2), `${'ab'.repeat(n / 16)}b${'ab'.repeat(n / 16)}`],
    ],
    [
      'blocks that nearly match',
      (n: number) => [`${'a'.repeat(999)}b`.repeat(n / 1000), `${'a'.repeat(1999)}b`],
    ],
  ] as const)('is linear: %s', (_name, make) => {
    const options = { from: 64_000, to: 4_096_000 };
    for (const search of [
      indexIn,
      lastIndexIn,
      countIn,
      (w: string, t: string) => partsOf(w, t, -1),
    ])
      expectLinear(make, ([whole, text]) => search(whole!, text!), options);
  });
});
