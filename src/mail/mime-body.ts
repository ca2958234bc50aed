// Bodies and their transfer encoding: one scan decides between 7bit, quoted-printable and base64.
// Before: text, html and attachments as stored. After: encoded-part.ts encodes them, compose.ts
// puts them between boundaries.
import { isAscii } from 'node:buffer';
import { EncodedPart, type PartChunk } from './encoded-part.ts';

export type TransferEncoding = '7bit' | 'quoted-printable' | 'base64';

export interface EncodedBody {
  encoding: TransferEncoding;
  /** The very bytes if nothing in them has to be changed. */
  chunks: PartChunk[];
}

const CR = 13;
const LF = 10;
const TAB = 9;
const SPACE = 32;
const EQUALS = 61;
const LONGEST_LINE = 998; // RFC 5322 2.1.1

/**
 * Encodes text of any length and line ending, in one or several pieces; line ends become CRLF (RFC
 * 2046 4.1.1).
 */
export function encodeText(pieces: readonly Buffer[]): EncodedBody {
  const found = scan(pieces);
  if (isPlain(found)) return { encoding: '7bit', chunks: withCrlf(pieces, found) };
  const { length, escapes, bareBreaks, blanksAtLineEnd } = found;
  // Quoted-printable costs two bytes more for each escape, base64 costs 37 % of everything.
  if (escapes * 2 <= length * 0.37) {
    const encoding = 'quoted-printable';
    const added = bareBreaks + 2 * (escapes + blanksAtLineEnd);
    return { encoding, chunks: [new EncodedPart(pieces, encoding, added)] };
  }
  const form = bareBreaks === 0 ? 'base64' : 'base64 with crlf';
  return { encoding: 'base64', chunks: [new EncodedPart(pieces, form, bareBreaks)] };
}

/** Any relay passes it on unharmed: only ASCII, no line too long. */
export function isSevenBit(bytes: Buffer): boolean {
  return isAscii(bytes) && !hasLongLine(bytes);
}

function hasLongLine(bytes: Buffer): boolean {
  let start = 0;
  // A short line is skipped together with all lines that end before the limit.
  while (start + LONGEST_LINE < bytes.length) {
    const end = bytes.lastIndexOf(LF, start + LONGEST_LINE + 1);
    if (end < start) return true;
    start = end + 1;
  }
  return false;
}

/** The bytes as 7bit text if they are nothing else, otherwise undefined. */
export function asSevenBit(bytes: Buffer): PartChunk[] | undefined {
  const found = scan([bytes]);
  return isPlain(found) ? withCrlf([bytes], found) : undefined;
}

export const asBase64 = (content: Buffer): EncodedPart => new EncodedPart([content], 'base64', 0);

const isPlain = ({ clean, longestLine }: Scan): boolean => clean && longestLine <= LONGEST_LINE;

const withCrlf = (pieces: readonly Buffer[], { bareBreaks }: Scan): PartChunk[] =>
  bareBreaks === 0 ? [...pieces] : [new EncodedPart(pieces, 'crlf', bareBreaks)];

interface Scan {
  length: number;
  /** Printable ASCII, tabs and line ends only. */
  clean: boolean;
  longestLine: number;
  /** Bytes that quoted-printable writes as =XX (line ends apart). */
  escapes: number;
  /** CR without LF and LF without CR. */
  bareBreaks: number;
  /**
   * Lines whose last byte is a space or a tab, which quoted-printable must escape (RFC 2045 6.7
   * (3)).
   */
  blanksAtLineEnd: number;
}

function scan(pieces: readonly Buffer[]): Scan {
  let odd = 0;
  let equals = 0;
  let bareBreaks = 0;
  let blanksAtLineEnd = 0;
  let longestLine = 0;
  let length = 0;
  /** Counted from the start of the piece. */
  let lineStart = 0;
  /** The last byte of the piece before. */
  let last: number | undefined;
  for (const bytes of pieces) {
    const end = bytes.length;
    for (let at = 0; at < end; at++) {
      const byte = bytes[at]!;
      if (byte >= SPACE && byte < 127) {
        if (byte === EQUALS) equals++;
      } else if (byte === LF || byte === CR) {
        const before = at > 0 ? bytes[at - 1] : last;
        if (byte === LF && before === CR) bareBreaks--;
        else {
          bareBreaks++;
          if (at - lineStart > longestLine) longestLine = at - lineStart;
          if (isBlank(before)) blanksAtLineEnd++;
        }
        lineStart = at + 1;
      } else if (byte !== TAB) odd++;
    }
    length += end;
    lineStart -= end;
    last = bytes.at(-1) ?? last;
  }
  if (-lineStart > longestLine) longestLine = -lineStart;
  if (isBlank(last)) blanksAtLineEnd++;
  const escapes = odd + equals;
  return { length, clean: odd === 0, longestLine, escapes, bareBreaks, blanksAtLineEnd };
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}
