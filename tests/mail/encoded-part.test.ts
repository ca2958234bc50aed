// A part that is encoded piece by piece, as it is taken, has the bytes of one encoded at once.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { lengthOf } from '../../src/bytes/chunks.ts';
import { EncodedPart, isEncoded, type PartChunk } from '../../src/mail/encoded-part.ts';
import { asBase64, encodeText } from '../../src/mail/mime-body.ts';

/** A range ends there. */
const RANGE = 840 * 57;

const wild = fc
  .array(
    fc.constantFrom('a', ' ', '\t', '=', '.', '\r\n', '\n', '\r', 'ü', '😀', 'word '.repeat(16)),
    { maxLength: 40 },
  )
  .map((units) => units.join(''));

/** Something wild across the ends of the first ranges, between much of one kind. */
const long = fc
  .tuple(fc.constantFrom('x', 'x\n', 'ü', 'ü\r\n'), wild, wild, fc.integer({ min: 0, max: 200 }))
  .map(([filling, one, other, before]) => {
    const filled = (bytes: number) => filling.repeat(bytes / Buffer.byteLength(filling));
    return Buffer.from(`${filled(RANGE - before)}${one}${filled(RANGE)}${other}`);
  });

function expectTheSame(chunk: PartChunk, cut: (bytes: Buffer) => Buffer[] = (it) => [it]): void {
  if (!isEncoded(chunk)) return;
  const { form, added } = chunk;
  const whole = chunk.bytes();
  const again = () => new EncodedPart(chunk.sources.flatMap(cut), form, added);
  expect(Buffer.concat([...again().pieces()]).equals(whole)).toBe(true);
  expect(again().bytes().equals(whole)).toBe(true);
  expect(lengthOf([again()])).toBe(whole.length);
  expect(chunk.endsLine).toBe(whole.subarray(-2).toString() === '\r\n');
}

it('text, whatever is where one range ends and the next begins', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(long, (bytes) => {
      const [chunk] = encodeText([bytes]).chunks;
      if (isEncoded(chunk!)) seen.add(chunk.form);
      expectTheSame(chunk!);
    }),
    { numRuns: 100 },
  );
  expect([...seen].sort()).toEqual(['base64', 'base64 with crlf', 'crlf', 'quoted-printable']);
});

it('text that comes in pieces, wherever it is cut', () => {
  const places = fc.array(fc.nat(400), { maxLength: 8 });
  fc.assert(
    fc.property(wild, fc.constantFrom('', 'ü'.repeat(50)), places, (text, filling, cuts) => {
      const bytes = Buffer.from(`${text}${filling}${text}`);
      const cut = (whole: Buffer): Buffer[] => {
        const at = [0, ...cuts.sort((one, other) => one - other), whole.length];
        return at.slice(1).map((to, index) => whole.subarray(at[index], Math.max(at[index]!, to)));
      };
      const { encoding, chunks } = encodeText([bytes]);
      const inPieces = encodeText(cut(bytes));
      expect(inPieces.encoding).toBe(encoding);
      expect(written(inPieces.chunks).equals(written(chunks))).toBe(true);
      expectTheSame(chunks[0]!, cut);
    }),
    { numRuns: 1000 },
  );
});

const written = (chunks: readonly PartChunk[]): Buffer =>
  Buffer.concat(chunks.map((chunk) => (isEncoded(chunk) ? chunk.bytes() : chunk)));

it('files of every length around a line and a range', () => {
  const bytes = Buffer.alloc(2 * RANGE + 60, 'Sandmartin');
  for (const around of [0, 57, RANGE, 2 * RANGE]) {
    for (let length = Math.max(0, around - 3); length < around + 4; length++) {
      expectTheSame(asBase64(bytes.subarray(0, length)));
    }
  }
});

it('needs little memory beside what it is made from', () => {
  const part = asBase64(Buffer.alloc(18 * 1024 * 1024, 'Sandmartin'));
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  for (const _ of part.pieces()) {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }
  expect(most).toBeLessThan(8 * 1024 * 1024);
});
