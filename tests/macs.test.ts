// Our HMAC is the one of RFC 2104, for keys and messages of every length.
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { macOf } from '../src/macs.ts';

it('RFC 4231, test case 2', () => {
  expect(
    macOf(Buffer.from('Jefe'), Buffer.from('what do ya want for nothing?')).toString('hex'),
  ).toBe('5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843');
});

it('is what OpenSSL makes', () => {
  const bytes = fc.uint8Array({ maxLength: 200 });
  fc.assert(
    fc.property(bytes, bytes, (key, message) => {
      const expected = createHmac('sha256', key).update(message).digest('hex');
      expect(macOf(Buffer.from(key), Buffer.from(message)).toString('hex')).toBe(expected);
    }),
  );
});
