// The lines of a submitted email: each ends with CRLF, and there is no NUL. Before: server.ts has
// read the bytes. After: email.ts reads its header. At a bare CR or LF two servers may disagree
// about the end of an email, which lets one email be smuggled into another: it is refused, not
// fixed (RFC 5321 2.3.8, 4.1.1.4).
import { isAscii } from 'node:buffer';
import { Problem } from '../errors.ts';
import { turn } from '../process/in-turns.ts';

const CR = 13;
const LONGEST_LINE = 998;
/**
 * How much is checked between two turns of the event loop: two milliseconds if all lines are empty.
 */
const PIECE_BYTES = 64 * 1024;

export interface Seen {
  /** Whether any relay passes the bytes on unharmed: only ASCII, no line too long. */
  sevenBit: boolean;
}

export function checkLines(raw: Buffer): Seen | Promise<Seen> {
  const seen: Looking = { sevenBit: isAscii(raw), lineStart: 0, at: 0 };
  checkPiece(raw, seen);
  return seen.at === raw.length ? seen : checkRest(raw, seen);
}

async function checkRest(raw: Buffer, seen: Looking): Promise<Seen> {
  while (seen.at < raw.length) {
    await turn();
    checkPiece(raw, seen);
  }
  return seen;
}

interface Looking extends Seen {
  lineStart: number;
  /** Checked up to here. */
  at: number;
}

/** As text, which native code searches: a loop over its bytes took four times as long. */
function checkPiece(raw: Buffer, seen: Looking): void {
  const from = seen.at;
  let end = Math.min(from + PIECE_BYTES, raw.length);
  // A line end must not be split.
  if (end < raw.length && raw[end - 1] === CR) end--;
  const text = raw.toString('latin1', from, end);
  const nul = text.indexOf('\0');
  if (nul >= 0) throw holdsNul(from + nul);
  if (seen.sevenBit && text.includes('\x7f')) seen.sevenBit = false;
  for (let at = 0; ; ) {
    const cr = text.indexOf('\r', at);
    const lf = text.indexOf('\n', at);
    if (cr < 0 && lf < 0) break;
    if (lf < 0 || (cr >= 0 && cr < lf - 1)) throw bare('CR', from + cr);
    if (cr < 0 || cr !== lf - 1) throw bare('LF', from + lf);
    if (from + cr - seen.lineStart > LONGEST_LINE) seen.sevenBit = false;
    at = lf + 1;
    seen.lineStart = from + at;
  }
  seen.at = end;
}

const holdsNul = (at: number): Problem =>
  new Problem(
    'invalid',
    `The email contains a NUL at byte ${at + 1}. Encode what is not text as base64.`,
  );

const bare = (what: 'CR' | 'LF', at: number): Problem =>
  new Problem(
    'invalid',
    `The email contains a bare ${what} at byte ${at + 1}. End every line with CRLF.`,
  );
