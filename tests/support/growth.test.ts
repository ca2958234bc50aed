// The meter itself: it lets linear work pass and finds quadratic work, also when that is quick.
import { expect, it } from 'vitest';
import { expectLinear, expectLinearFor } from './growth.ts';

it('lets linear work pass', () => {
  expectLinear(
    (size) => 'a '.repeat(size),
    (text) => text.split(' ').length,
  );
});

it('finds quadratic work', () => {
  const shifting = (size: number) => Array.from({ length: size }, (_, i) => `${i}`);
  const quadratic = (lines: string[]) => {
    let found = 0;
    for (const line of lines) if (lines.indexOf(line) >= 0) found++;
    return found;
  };
  // The ratio asked for is far from that of quadratic work: on a busy machine it would be missed
  // else.
  expect(() => expectLinear(shifting, quadratic, { ratio: 6 })).toThrow(
    /grows faster than its input/,
  );
});

it('finds the seed that makes an expression backtrack', () => {
  const trimmed = (text: string) => text.replace(/\s+$/, '');
  expect(() => expectLinearFor(['a', ' ', '\n'], trimmed)).toThrow(/grows faster/);
});
