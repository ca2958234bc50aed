// Bytes on their way into an answer as base64: read piece by piece, so that 25 MB never exist as a
// text of 33 MB. Before: operations/file-answer.ts. After: http/json-answer.ts.
import { type Chunk, lengthOf, piecesOf } from './chunks.ts';

/** How much is encoded at a time: whole groups of three bytes. */
const PIECE_BYTES = 3 * 32 * 1024;

export class Base64Text {
  readonly chunks: readonly Chunk[];
  /** The number of bytes. */
  readonly size: number;

  constructor(chunks: readonly Chunk[]) {
    this.chunks = chunks;
    this.size = lengthOf(chunks);
  }

  /** The base64 text, in pieces. */
  *pieces(): Generator<string> {
    let rest: Buffer = NOTHING;
    for (const chunk of piecesOf(this.chunks)) {
      let at = 0;
      if (rest.length > 0) {
        at = Math.min(3 - rest.length, chunk.length);
        rest = Buffer.concat([rest, chunk.subarray(0, at)]);
        if (rest.length < 3) continue;
        yield rest.toString('base64');
      }
      const end = chunk.length - ((chunk.length - at) % 3);
      for (; at < end; at += PIECE_BYTES) {
        yield chunk.toString('base64', at, Math.min(at + PIECE_BYTES, end));
      }
      rest = chunk.subarray(end);
    }
    if (rest.length > 0) yield rest.toString('base64');
  }

  /** Used if it is written together with everything else. */
  toJSON(): string {
    return [...this.pieces()].join('');
  }
}

const NOTHING = Buffer.alloc(0);
