// Bodies in transfer encoding: one scan decides between 7bit, quoted-printable and base64, one pass
// writes the bytes. Before: text, html and attachments as stored. After: compose.ts puts the
// encoded parts between boundaries.
import { isAscii } from 'node:buffer';
import { freeBytes } from '../bytes/free-bytes.ts';
import { notePassed } from '../bytes/garbage.ts';
import { allocateBytes } from '../bytes/large-bytes.ts';

export type TransferEncoding = '7bit' | 'quoted-printable' | 'base64';

export interface EncodedBody {
  encoding: TransferEncoding;
  bytes: Buffer;
}

const CR = 13;
const LF = 10;
const TAB = 9;
const SPACE = 32;
const EQUALS = 61;
const HEX = Buffer.from('0123456789ABCDEF');
const LONGEST_LINE = 998; // RFC 5322 2.1.1
const QP_LINE = 76; // RFC 2045 6.7 (5)
const BASE64_LINE = 76;
const BASE64_LINE_SOURCE = 57;
/** Whole groups of three bytes. */
const BASE64_PIECE = 3 * 64 * 1024;

/** Encodes text of any length and line ending; line ends become CRLF (RFC 2046 4.1.1). */
export function encodeText(content: Buffer | string): EncodedBody {
  if (typeof content !== 'string') return encodeBytes(content);
  const bytes = Buffer.from(content);
  const encoded = encodeBytes(bytes);
  if (encoded.bytes !== bytes) freeBytes(bytes);
  return encoded;
}

function encodeBytes(bytes: Buffer): EncodedBody {
  const found = scan(bytes);
  if (found.clean && found.longestLine <= LONGEST_LINE) {
    return { encoding: '7bit', bytes: withCrlf(bytes, found.bareBreaks) };
  }
  // Quoted-printable costs two bytes more for each escape, base64 costs 37 % of everything.
  if (found.escapes * 2 <= bytes.length * 0.37) {
    return { encoding: 'quoted-printable', bytes: quotedPrintable(bytes, found) };
  }
  const length = bytes.length + found.bareBreaks;
  return { encoding: 'base64', bytes: inBase64Lines(length, piecesWithCrlf(bytes)) };
}

/** The bytes of a text in pieces, which are never joined into one text. */
export function joinedBytes(pieces: readonly string[]): Buffer {
  const length = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
  const bytes = allocateBytes(length);
  let at = 0;
  for (const piece of pieces) at += bytes.write(piece, at);
  return bytes;
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
export function asSevenBit(bytes: Buffer): Buffer | undefined {
  const found = scan(bytes);
  if (!found.clean || found.longestLine > LONGEST_LINE) return undefined;
  return withCrlf(bytes, found.bareBreaks);
}

export const base64Lines = (content: Buffer): Buffer =>
  inBase64Lines(content.length, piecesOf(content));

/** Each of whole groups of three bytes, except the last. */
function* piecesOf(content: Buffer): Generator<Buffer> {
  for (let at = 0; at < content.length; at += BASE64_PIECE) {
    yield content.subarray(at, at + BASE64_PIECE);
  }
}

/** The same with CRLF line ends; each piece overwrites the one before, so 20 MB need no copy. */
function* piecesWithCrlf(bytes: Buffer): Generator<Buffer> {
  const piece = Buffer.allocUnsafe(Math.min(2 * bytes.length, BASE64_PIECE) + 1);
  let copied: Copied = { at: 0, to: 0 };
  while (copied.at < bytes.length) {
    const { at, to } = copyWithCrlf(bytes, copied.at, piece, copied.to);
    const whole = at < bytes.length ? to - (to % 3) : to;
    yield piece.subarray(0, whole);
    piece.copyWithin(0, whole, to);
    copied = { at, to: to - whole };
  }
}

/**
 * Base64 in lines of 76. One copy: the text is written to the end of the result, piece by piece,
 * and its lines move forward from there. As one string, a file of 18 MB took 24 MB more.
 */
function inBase64Lines(bytes: number, pieces: Iterable<Buffer>): Buffer {
  const length = Math.ceil(bytes / 3) * 4;
  const lines = Math.ceil(bytes / BASE64_LINE_SOURCE);
  const out = roomFor(length + Math.max(0, lines - 1) * 2);
  let from = out.length - length;
  let place = from;
  for (const piece of pieces) {
    place += out.write(piece.toString('base64'), place, 'latin1');
    if (piece.length >= BASE64_PIECE) notePassed(piece.length);
  }
  let to = 0;
  for (let line = 1; line < lines; line++) {
    out.copyWithin(to, from, from + BASE64_LINE);
    from += BASE64_LINE;
    to += BASE64_LINE;
    out[to++] = CR;
    out[to++] = LF;
  }
  return out;
}

const LARGE_BYTES = 64 * 1024;

/** Small ones come from Node's pool. */
const roomFor = (length: number): Buffer =>
  length < LARGE_BYTES ? Buffer.allocUnsafe(length) : allocateBytes(length);

interface Scan {
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

function scan(bytes: Buffer): Scan {
  let odd = 0;
  let equals = 0;
  let bareBreaks = 0;
  let blanksAtLineEnd = 0;
  let longestLine = 0;
  let lineStart = 0;
  const length = bytes.length;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at]!;
    if (byte >= SPACE && byte < 127) {
      if (byte === EQUALS) equals++;
    } else if (byte === LF || byte === CR) {
      if (at - lineStart > longestLine) longestLine = at - lineStart;
      if (at > 0 && isBlank(bytes[at - 1])) blanksAtLineEnd++;
      if (byte === CR && bytes[at + 1] === LF) at++;
      else bareBreaks++;
      lineStart = at + 1;
    } else if (byte !== TAB) odd++;
  }
  if (length - lineStart > longestLine) longestLine = length - lineStart;
  if (isBlank(bytes[length - 1])) blanksAtLineEnd++;
  return { clean: odd === 0, longestLine, escapes: odd + equals, bareBreaks, blanksAtLineEnd };
}

function withCrlf(bytes: Buffer, bareBreaks: number): Buffer {
  if (bareBreaks === 0) return bytes;
  const out = roomFor(bytes.length + bareBreaks + 1);
  return out.subarray(0, copyWithCrlf(bytes, 0, out, 0).to);
}

/** How far copying got in the source and in the target. */
interface Copied {
  at: number;
  to: number;
}

/** As long as there is room for one more line end. */
function copyWithCrlf(bytes: Buffer, from: number, out: Buffer, start: number): Copied {
  const length = bytes.length;
  const last = out.length - 1;
  let at = from;
  let to = start;
  for (; at < length && to < last; at++) {
    const byte = bytes[at]!;
    if (byte === LF || byte === CR) {
      if (byte === CR && bytes[at + 1] === LF) at++;
      out[to++] = CR;
      out[to++] = LF;
    } else out[to++] = byte;
  }
  return { at, to };
}

/** What quoted-printable does with a byte. */
const PLAIN = 0;
const ESCAPED = 1;
const BLANK = 2;
const BREAK = 3;
const KINDS = new Uint8Array(256).fill(ESCAPED);
KINDS.fill(PLAIN, SPACE + 1, 127);
KINDS[EQUALS] = ESCAPED;
KINDS[SPACE] = BLANK;
KINDS[TAB] = BLANK;
KINDS[CR] = BREAK;
KINDS[LF] = BREAK;

function quotedPrintable(bytes: Buffer, { escapes, bareBreaks, blanksAtLineEnd }: Scan): Buffer {
  const length = bytes.length;
  // At most one soft break of three bytes for each 73 bytes of output.
  const most = bytes.length + bareBreaks + 2 * (escapes + blanksAtLineEnd);
  const out = roomFor(most + 3 * Math.ceil(most / (QP_LINE - 3)) + 3);
  let to = 0;
  let lineStart = 0;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at]!;
    const kind = KINDS[byte];
    // Nearly all bytes: nothing depends on what follows.
    if (kind === PLAIN && to - lineStart < QP_LINE - 1) {
      out[to++] = byte;
      continue;
    }
    if (kind === BREAK) {
      if (byte === CR && at + 1 < length && bytes[at + 1] === LF) at++;
      out[to++] = CR;
      out[to++] = LF;
      lineStart = to;
      continue;
    }
    const lineEnds = at + 1 === length || KINDS[bytes[at + 1]!] === BREAK;
    const asItIs = kind === PLAIN || (kind === BLANK && !lineEnds);
    // The last column of a line is for the "=" of a soft break, unless the line ends here anyway.
    if (to - lineStart + (asItIs ? 1 : 3) > (lineEnds ? QP_LINE : QP_LINE - 1)) {
      out[to++] = EQUALS;
      out[to++] = CR;
      out[to++] = LF;
      lineStart = to;
    }
    if (asItIs) out[to++] = byte;
    else {
      out[to++] = EQUALS;
      out[to++] = HEX[byte >> 4]!;
      out[to++] = HEX[byte & 15]!;
    }
  }
  return out.subarray(0, to);
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}
