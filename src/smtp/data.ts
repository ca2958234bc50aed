// The email as it goes over the wire after DATA: dots doubled at line starts, the final dot (RFC
// 5321 4.5.2). Before: chunks from compose.ts. After: transaction.ts writes them. Piece by piece,
// as the socket takes them: an email of 25 MB, even if it is all dots, blocks nobody. Only pieces
// with a dot to double are copied.
import { type Chunk, piecesOf } from '../bytes/chunks.ts';

const CR = 13;
const LF = 10;
const DOT = 46;
const LINE_DOT = Buffer.from('\r\n.');
const END = Buffer.from('.\r\n');
const END_WITH_BREAK = Buffer.from('\r\n.\r\n');
const PIECE_BYTES = 65_536;

/**
 * The chunks with dots doubled and the end mark. `onEnd` is called right before that mark is
 * returned: once it is written, the relay may have the email.
 */
export function* dataPieces(
  chunks: readonly Chunk[],
  onEnd: () => void = () => {},
): Generator<Buffer> {
  // The two bytes before the current position; the first line has a line start before it.
  let before: Seam = { two: CR, one: LF };
  for (const chunk of piecesOf(chunks)) {
    for (let from = 0; from < chunk.length; from += PIECE_BYTES) {
      const whole = from === 0 && chunk.length <= PIECE_BYTES;
      const piece = whole ? chunk : chunk.subarray(from, from + PIECE_BYTES);
      yield hasLineDot(piece, before) ? withDotsDoubled(piece, before) : piece;
      const { length } = piece;
      before = { two: length > 1 ? piece[length - 2]! : before.one, one: piece[length - 1]! };
    }
  }
  onEnd();
  yield before.two === CR && before.one === LF ? END : END_WITH_BREAK;
}

interface Seam {
  two: number;
  one: number;
}

function hasLineDot(piece: Buffer, before: Seam): boolean {
  // A line start at the seam: "\r\n" + "." or "\r" + "\n.".
  const dotFirst = piece[0] === DOT && before.two === CR && before.one === LF;
  const dotSecond = piece[0] === LF && piece[1] === DOT && before.one === CR;
  return dotFirst || dotSecond || piece.includes(LINE_DOT);
}

function withDotsDoubled(piece: Buffer, before: Seam): Buffer {
  const out = Buffer.allocUnsafe(piece.length * 2);
  let { two, one } = before;
  let to = 0;
  for (let at = 0; at < piece.length; at++) {
    const byte = piece[at]!;
    if (byte === DOT && one === LF && two === CR) out[to++] = DOT;
    out[to++] = byte;
    two = one;
    one = byte;
  }
  return out.subarray(0, to);
}
