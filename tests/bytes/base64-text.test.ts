// Base64 of bytes in pieces: however they are cut, the text is that of the whole.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Base64Text } from '../../src/bytes/base64-text.ts';
import { freeBytes } from '../../src/bytes/free-bytes.ts';
import { longJson } from '../../src/http/json-answer.ts';

const cut = fc.array(
  fc.uint8Array({ maxLength: 40 }).map((it) => Buffer.from(it)),
  { maxLength: 8 },
);

it('is the text of the whole', () => {
  fc.assert(
    fc.property(cut, (chunks) => {
      expect(new Base64Text(chunks).toJSON()).toBe(Buffer.concat(chunks).toString('base64'));
    }),
    { numRuns: 1000 },
  );
});

it('goes into a long answer piece by piece', async () => {
  const bytes = Buffer.alloc(1_000_001, 'Sandmartin');
  const chunks = [bytes.subarray(0, 1), bytes.subarray(1, 400_000), bytes.subarray(400_000)];
  const answer = { filename: 'ä', content_base64: new Base64Text(chunks) };
  let json = '';
  for await (const piece of longJson(answer)!) json += piece;
  expect(JSON.parse(json)).toEqual({ filename: 'ä', content_base64: bytes.toString('base64') });
  expect(longJson({ content_base64: new Base64Text([Buffer.from('short')]) })).toBeUndefined();
});

it('bytes that are given back are gone, and nobody else’s go with them', () => {
  const large = Buffer.allocUnsafeSlow(2 * 1024 * 1024);
  const [small, part] = [Buffer.from('small'), Buffer.alloc(8_000_000).subarray(0, 2_000_000)];
  const shared = Buffer.from(new SharedArrayBuffer(2 * 1024 * 1024));
  for (const bytes of [large, small, part, shared]) freeBytes(bytes);
  expect([large.length, small.length, part.length, shared.length]).toEqual([
    0, 5, 2_000_000, 2_097_152,
  ]);
});
