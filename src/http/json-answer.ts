// A long answer as JSON, written piece by piece: 30 MB of text or base64 in one go hold the event
// loop for 300 ms and take three copies. Before: rest/serve-operations.ts has the answer. After: the
// socket, as fast as its reader reads.
import { Readable } from 'node:stream';
import { Base64Text } from '../bytes/base64-text.ts';
import { freeBytes } from '../bytes/free-bytes.ts';
import { notePassed } from '../bytes/garbage.ts';
import { turn } from '../process/in-turns.ts';

/** A text of at least this length is written in pieces. */
const LONG_CHARS = 128 * 1024;

/** Undefined: nothing in it is long, so it is written in one piece like any other. */
export function longJson(answer: Record<string, unknown>): Readable | undefined {
  if (!Object.values(answer).some(isLong)) return undefined;
  return Readable.from(piecesOf(answer), { objectMode: false });
}

const isLong = (value: unknown): value is string | Base64Text =>
  typeof value === 'string'
    ? value.length > LONG_CHARS
    : value instanceof Base64Text && value.size > LONG_CHARS;

/** Long texts are in the fields of the answer itself; nested ones are short. */
async function* piecesOf(answer: Record<string, unknown>): AsyncGenerator<string> {
  let before = '{';
  for (const [name, value] of Object.entries(answer)) {
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    before = ',';
    if (!isLong(value)) yield JSON.stringify(value);
    else yield* typeof value === 'string' ? textPieces(value) : base64Pieces(value);
  }
  yield '}';
}

async function* textPieces(text: string): AsyncGenerator<string> {
  yield '"';
  for (let from = 0, to = from; from < text.length; from = to) {
    to = from + LONG_CHARS;
    // A surrogate pair is not split.
    if (isFirstHalf(text.charCodeAt(to - 1))) to++;
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
    notePassed(to - from);
    await turn();
  }
  yield '"';
}

/** Its bytes were read for this answer, and are freed after it. */
async function* base64Pieces(text: Base64Text): AsyncGenerator<string> {
  yield '"';
  for (const piece of text.pieces()) {
    yield piece;
    notePassed(piece.length);
    await turn();
  }
  for (const chunk of text.chunks) freeBytes(chunk);
  yield '"';
}

const isFirstHalf = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
