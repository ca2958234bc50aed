// The lines of a submitted email: every one ends with CRLF, and there is no NUL. Before: server.ts
// has read the bytes. After: email.ts reads its header. A bare CR or LF is where two servers may
// disagree about the end of an email, and so how one email is smuggled into another: such an email is
// refused, not fixed (RFC 5321 2.3.8, 4.1.1.4).
import { Problem } from '../errors.ts';
import { turn } from '../process/in-turns.ts';

const CR = 13;
const LF = 10;
const LONGEST_LINE = 998;
/** What is looked at between two turns of the event loop: about a millisecond. */
const PIECE_BYTES = 1024 * 1024;

/** Whether any relay passes the bytes on unharmed: only ASCII, no line too long. */
export function checkLines(raw: Buffer): Seen | Promise<Seen> {
  const seen: Seen = { sevenBit: true, lineStart: 0 };
  if (raw.length > PIECE_BYTES) return checkPieces(raw, seen);
  checkPiece(raw, 0, raw.length, seen);
  return seen;
}

async function checkPieces(raw: Buffer, seen: Seen): Promise<Seen> {
  for (let from = 0; from < raw.length; from += PIECE_BYTES) {
    const end = Math.min(from + PIECE_BYTES, raw.length);
    checkPiece(raw, from, end, seen);
    if (end < raw.length) await turn();
  }
  return seen;
}

interface Seen {
  sevenBit: boolean;
  lineStart: number;
}

/** Apart from the one that waits, where this loop took a twentieth of an email's time. */
function checkPiece(raw: Buffer, from: number, end: number, seen: Seen): void {
  let { sevenBit, lineStart } = seen;
  for (let at = from; at < end; at++) {
    const byte = raw[at]!;
    if (byte > CR) {
      if (byte > 126) sevenBit = false;
    } else if (byte === LF) {
      if (raw[at - 1] !== CR) throw bare('LF', at);
      if (at - 1 - lineStart > LONGEST_LINE) sevenBit = false;
      lineStart = at + 1;
    } else if (byte === CR) {
      if (raw[at + 1] !== LF) throw bare('CR', at);
    } else if (byte === 0) {
      throw new Problem(
        'invalid',
        `The email contains a NUL at byte ${at + 1}. Encode what is not text as base64.`,
      );
    }
  }
  seen.sevenBit = sevenBit;
  seen.lineStart = lineStart;
}

const bare = (what: 'CR' | 'LF', at: number): Problem =>
  new Problem(
    'invalid',
    `The email contains a bare ${what} at byte ${at + 1}. End every line with CRLF.`,
  );
