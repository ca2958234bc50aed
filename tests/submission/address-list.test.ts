// The short path for lists of one plain mailbox, compared with the long path, which an empty entry
// before it forces (RFC 5322 4.4).
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readAddressList } from '../../src/submission/address-list.ts';

const words = fc
  .array(
    fc.constantFrom(
      'Ada',
      "O'Neil",
      'J.',
      ' ',
      '  ',
      '<',
      '>',
      'ada@example.net',
      '@',
      '"',
      '=?',
      'é',
    ),
    { maxLength: 6 },
  )
  .map((pieces) => pieces.join(''));

it('one mailbox is read as it would be in a list of several', () => {
  fc.assert(
    fc.property(words, (value) => {
      expect(readAddressList(value)).toEqual(readAddressList(`,${value}`));
    }),
    { numRuns: 500 },
  );
  for (const value of ['Ada Lovelace <Ada@Example.NET>', 'ada@example.net', 'ada', 'Ada <ada@>']) {
    expect(readAddressList(value)).toEqual(readAddressList(`,${value}`));
  }
});
