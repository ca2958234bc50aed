// Tracking tokens: what goes in comes out, and nothing else opens.
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeToken, readToken, type TrackingToken } from '../../src/tracking/token.ts';

const key = randomBytes(32);
const HOUR = 3_600_000;
const now = 500_000 * HOUR;
const click: TrackingToken = {
  kind: 'click',
  accountId: 4711,
  messageId: randomBytes(16),
  index: 3,
  place: 1,
  expiresMs: now + 90 * 24 * HOUR,
  url: 'https://shop.example/order?id=1&x=ü',
};

describe('tokens', () => {
  it('carry everything', () => {
    const token = fc.record({
      kind: fc.constantFrom('open' as const, 'click' as const, 'unsubscribe' as const),
      accountId: fc.maxSafeNat(),
      messageId: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes)),
      index: fc.nat(),
      place: fc.option(fc.nat()),
      expiresMs: fc.integer({ min: 500_000, max: 900_000 }).map((hours) => hours * HOUR),
      url: fc.oneof(
        fc.constantFrom('', 'https://', 'http://x.example/', 'https://x.example/ü?q=😀#a'),
        fc.string(),
      ),
    });
    fc.assert(
      fc.property(token, (wanted) => {
        const text = makeToken(key, wanted);
        expect(text).toMatch(/^[\w-]+$/);
        expect(readToken(key, text, now)).toEqual(wanted);
      }),
    );
  });

  it('of the first version are still read: they name nobody', () => {
    const old = 'gQehIAGajF0-AHGyobLD1OX2BxjnJANzaG9wLmV4YW1wbGUvYT9iPcO8p6RN1Mzwkefo5njiMdeHtQ';
    expect(readToken(Buffer.alloc(32, 7), old, now)).toMatchObject({
      kind: 'click',
      accountId: 4711,
      index: 3,
      place: null,
      url: 'https://shop.example/a?b=ü',
    });
  });

  it('are short', () => {
    const open = makeToken(key, { ...click, kind: 'open', index: 0, url: '' });
    expect(open.length).toBeLessThanOrEqual(54);
  });

  it('expire, rounded up to the hour', () => {
    const text = makeToken(key, { ...click, expiresMs: now + 1 });
    expect(readToken(key, text, now + HOUR)).toBeDefined();
    expect(readToken(key, text, now + HOUR + 1)).toBeUndefined();
  });

  it('cannot be changed, cut or made with another key', () => {
    const text = makeToken(key, click);
    const bytes = Buffer.from(text, 'base64url');
    for (let at = 0; at < bytes.length; at++) {
      const forged = Buffer.from(bytes);
      forged[at]! ^= 1 + (at % 255);
      expect(readToken(key, forged.toString('base64url'), now)).toBeUndefined();
    }
    for (let length = 0; length < text.length; length++) {
      expect(readToken(key, text.slice(0, length), now)).toBeUndefined();
    }
    expect(readToken(randomBytes(32), text, now)).toBeUndefined();
    expect(readToken(key, `${text}AAAA`, now)).toBeUndefined();
  });

  it('answer any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(readToken(key, text, now)).toBeUndefined();
      }),
    );
    expect(readToken(key, 'A'.repeat(1_000_000), now)).toBeUndefined();
  });
});
