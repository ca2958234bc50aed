// What the check of an email's lines finds, compared with a look at every byte, even if a line end
// is split between two pieces.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkLines } from '../../src/submission/lines.ts';

const PIECE_BYTES = 64 * 1024;
const bytes = fc
  .array(fc.constantFrom('\r\n', '\r\n', 'a', 'é', '\x7f', '\r', '\n', '\0', 'x'.repeat(999)), {
    maxLength: 8,
  })
  .map((pieces) => pieces.join(''));

describe('The lines of a submitted email', () => {
  it('are what its bytes say, wherever a piece ends', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, fc.integer({ min: -12, max: 2 }), async (text, shift) => {
        const filled = `${'b'.repeat(PIECE_BYTES - 2 + shift)}\r\n${text}`;
        for (const email of [text, filled]) {
          const raw = Buffer.from(email, 'latin1');
          expect(byByte(raw)).toContain(await said(raw));
        }
      }),
      { numRuns: 300 },
    );
  });
});

const said = async (raw: Buffer): Promise<string> => {
  try {
    return (await checkLines(raw)).sevenBit ? 'seven bits' : 'eight bits';
  } catch (error) {
    return (error as Error).message.replace(/\. .*/, '');
  }
};

/** What may be said: of two faults either. */
function byByte(raw: Buffer): string[] {
  const nul = raw.indexOf(0);
  const faults: { at: number; what: string }[] = [];
  for (let at = 0; at < raw.length; at++) {
    if (raw[at] === 13 && raw[at + 1] !== 10) faults.push({ at, what: 'a bare CR' });
    if (raw[at] === 10 && raw[at - 1] !== 13) faults.push({ at, what: 'a bare LF' });
  }
  if (nul >= 0) faults.push({ at: nul, what: 'a NUL' });
  if (faults.length > 0) {
    return faults.map(({ at, what }) => `The email contains ${what} at byte ${at + 1}`);
  }
  const lines = raw.toString('latin1').split('\r\n').slice(0, -1);
  const isPlain = raw.every((byte) => byte < 127) && lines.every((line) => line.length <= 998);
  return [isPlain ? 'seven bits' : 'eight bits'];
}
