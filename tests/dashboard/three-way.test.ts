// Two changes to one text: what only one person changed is taken, what both changed is
// distinguished, and nothing is lost.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareThree, mergedText } from '../../web/src/pages/templates/three-way.ts';

const regionsOf = (base: string, mine: string, theirs: string) =>
  compareThree(base, mine, theirs).map(({ changedBy }) => changedBy);

describe('Three versions of one text', () => {
  it('changes in different places stand together', () => {
    const regions = compareThree('a\nb\nc\nd\ne', 'A\nb\nc\nd\ne', 'a\nb\nc\nd\nE');
    expect(regions.map(({ changedBy }) => changedBy)).toEqual(['me', 'nobody', 'them']);
    expect(mergedText(regions)).toBe('A\nb\nc\nd\nE');
  });

  it('changes of the same lines are told, and decided', () => {
    const regions = compareThree('a\nb\nc', 'a\nmine\nc', 'a\ntheirs\nc');
    expect(regions.map(({ changedBy }) => changedBy)).toEqual(['nobody', 'both', 'nobody']);
    expect(mergedText(regions)).toBe('a\nmine\nc');
    expect(mergedText(regions, ['mine', 'theirs'])).toBe('a\ntheirs\nc');
  });

  it('the same change of both is no conflict', () => {
    expect(regionsOf('a\nb', 'a\nx', 'a\nx')).not.toContain('both');
  });

  it('added at the end by one, removed at the start by the other', () => {
    const regions = compareThree('a\nb\nc', 'b\nc', 'a\nb\nc\nd');
    expect(mergedText(regions)).toBe('b\nc\nd');
  });

  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', '{% if x %}', ''), { maxLength: 12 })
    .map((lines) => lines.join('\n'));

  it('loses nothing, whatever the three are', () => {
    fc.assert(
      fc.property(text, text, text, (base, mine, theirs) => {
        const regions = compareThree(base, mine, theirs);
        for (const side of ['base', 'mine', 'theirs'] as const) {
          const whole = regions.flatMap((region) => region[side]).join('\n');
          expect(whole).toBe({ base, mine, theirs }[side]);
        }
      }),
    );
  });

  it('who changed nothing gets the other’s text', () => {
    fc.assert(
      fc.property(text, text, (base, other) => {
        expect(mergedText(compareThree(base, base, other))).toBe(other);
        expect(mergedText(compareThree(base, other, base))).toBe(other);
      }),
    );
  });
});
