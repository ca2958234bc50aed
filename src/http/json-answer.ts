// A long answer as JSON, written piece by piece: 30 MB of text or base64 in one go hold the event
// loop for 300 ms and take three copies. Before: rest/serve-operations.ts has the answer. After:
// the socket, as fast as its reader reads.
import { Readable } from 'node:stream';
import { Base64Text } from '../bytes/base64-text.ts';
import { freeChunks } from '../bytes/chunks.ts';
import { notePassed } from '../bytes/garbage.ts';
import { turn } from '../process/in-turns.ts';

/** A text of at least this length is written in pieces. */
const LONG_CHARS = 128 * 1024;

/** Undefined: nothing in it is long, so it is written in one piece like any other. */
export function longJson(answer: Record<string, unknown>): Readable | undefined {
  if (!holdsLong(answer)) return undefined;
  return Readable.from(piecesOf(answer), { objectMode: false });
}

function holdsLong(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || value instanceof Base64Text) {
    return isLong(value);
  }
  return Object.values(value).some(holdsLong);
}

const isLong = (value: unknown): value is string | Base64Text =>
  typeof value === 'string'
    ? value.length > LONG_CHARS
    : value instanceof Base64Text && value.size > LONG_CHARS;

async function* piecesOf(value: unknown): AsyncGenerator<string> {
  if (isLong(value)) yield* typeof value === 'string' ? textPieces(value) : base64Pieces(value);
  else if (!holdsLong(value)) yield JSON.stringify(value);
  else if (Array.isArray(value)) yield* listPieces(value);
  else yield* fieldPieces(value as Record<string, unknown>);
}

async function* fieldPieces(fields: Record<string, unknown>): AsyncGenerator<string> {
  let before = '{';
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    before = ',';
    yield* piecesOf(value);
  }
  yield '}';
}

async function* listPieces(items: readonly unknown[]): AsyncGenerator<string> {
  let before = '[';
  for (const item of items) {
    yield before;
    before = ',';
    yield* piecesOf(item);
  }
  yield ']';
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
  freeChunks(text.chunks);
  yield '"';
}

const isFirstHalf = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
