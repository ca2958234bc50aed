// A range of an email, decoded piece by piece: 24 MB of quoted-printable in one go held the event
// loop for 300 ms. Before: contents.ts found the range. After: a size, a file or a text, for
// callers that take turns (process/in-turns.ts) or run in a thread (`atOnce`).
import { isAscii, isUtf8 } from 'node:buffer';
import { freeBytes } from '../bytes/free-bytes.ts';
import { notePassed } from '../bytes/garbage.ts';
import { allocateBytes } from '../bytes/large-bytes.ts';
import { decoderOf, fromWindows1252 } from '../feedback/mime.ts';

/** Where something is in the bytes of an email, and how it is encoded there. */
export interface Place {
  at: number;
  length: number;
  /** The transfer encoding; left out if there is none. */
  encoding?: 'base64' | 'quoted-printable';
  /** For a text; left out if none was named. */
  charset?: string;
}

/** How much is decoded between two turns: a few milliseconds. */
const PIECE_BYTES = 512 * 1024;

/** `from`: the offset of `bytes` in the whole email. */
export function* sizeIn(bytes: Buffer, place: Place, from = 0): Generator<void, number> {
  if (place.encoding === undefined) return place.length;
  let size = 0;
  for (const piece of piecesIn(bytes, place, from)) {
    size += piece.length;
    yield;
  }
  return size;
}

/** If it is not encoded, a view of the same bytes. */
export function* bytesIn(bytes: Buffer, place: Place, from = 0): Generator<void, Buffer> {
  if (place.encoding === undefined) return writtenIn(bytes, place, from);
  // Decoded, it is never longer; memory that is not written to is not used.
  const whole = allocateBytes(place.length);
  let size = 0;
  for (const piece of piecesIn(bytes, place, from)) {
    size += piece.copy(whole, size);
    notePassed(piece.length);
    yield;
  }
  return whole.subarray(0, size);
}

/** Always returns a text, whatever charset it claims. */
export function* textIn(bytes: Buffer, place: Place, from = 0): Generator<void, string> {
  const decoded = yield* bytesIn(bytes, place, from);
  const text = yield* textOfBytes(decoded, place.charset);
  if (place.encoding !== undefined) freeBytes(decoded);
  return text;
}

export function* textOfBytes(bytes: Buffer, charset?: string): Generator<void, string> {
  const encoding = encodingOf(bytes, charset);
  // In one go: a text joined from pieces is copied again when it is first read.
  if (isAscii(bytes) && (encoding === 'utf-8' || encoding === WESTERN)) {
    return bytes.toString('latin1');
  }
  let text = '';
  for (const piece of textPieces(asWritten(bytes), encoding)) {
    text += piece;
    yield;
  }
  return text;
}

/** In UTF-8, an email of 25 MB may have three times as many. */
const MOST_IN_UTF8 = 32 * 1024 * 1024;

/**
 * The same text in UTF-8; if that is how it is written, a view of the same bytes. Undefined: it
 * would be too long.
 */
export function* utf8In(bytes: Buffer, place: Place): Generator<void, Buffer | undefined> {
  const declared = declaredEncoding(place.charset);
  if (declared !== undefined) return yield* inUtf8(piecesIn(bytes, place), declared, place.length);
  const decoded = yield* bytesIn(bytes, place);
  if (isUtf8(decoded)) return decoded;
  const written = yield* inUtf8(asWritten(decoded), WESTERN, decoded.length);
  if (place.encoding !== undefined) freeBytes(decoded);
  return written;
}

function* inUtf8(
  pieces: Iterable<Buffer>,
  encoding: string,
  length: number,
): Generator<void, Buffer | undefined> {
  // Each byte becomes at most three; memory that is not written to is not used.
  const whole = allocateBytes(Math.min(3 * length, MOST_IN_UTF8));
  let size = 0;
  for (const text of textPieces(pieces, encoding)) {
    if (size + Buffer.byteLength(text) > whole.length) return undefined;
    size += whole.write(text, size);
    notePassed(2 * text.length);
    yield;
  }
  return whole.subarray(0, size);
}

const WESTERN = 'windows-1252';

/** The declared charset, otherwise UTF-8, otherwise Windows-1252: one of them always works. */
const encodingOf = (bytes: Buffer, charset?: string): string =>
  declaredEncoding(charset) ?? (isUtf8(bytes) ? 'utf-8' : WESTERN);

/** Undefined: UTF-8, or what is usual. An unknown one is read as UTF-8, whatever is in it. */
function declaredEncoding(charset = ''): string | undefined {
  const declared = charset.toLowerCase();
  if (declared === '' || declared === 'us-ascii' || declared === 'utf-8') return undefined;
  return decoderOf(declared)?.encoding ?? 'utf-8';
}

function* textPieces(pieces: Iterable<Buffer>, encoding: string): Generator<string> {
  // A new one: it keeps half a character between two pieces.
  const decoder = new TextDecoder(encoding);
  for (const piece of pieces) {
    yield encoding === WESTERN ? fromWindows1252(piece) : decoder.decode(piece, { stream: true });
  }
  yield decoder.decode();
}

const writtenIn = (bytes: Buffer, { at, length }: Place, from: number): Buffer =>
  bytes.subarray(at - from, at - from + length);

/** Half a megabyte each, for callers that only need to look at each once. */
export function piecesIn(bytes: Buffer, place: Place, from = 0): Iterable<Buffer> {
  const written = writtenIn(bytes, place, from);
  if (place.encoding === 'base64') return fromBase64(written);
  return place.encoding === 'quoted-printable' ? fromQuotedPrintable(written) : asWritten(written);
}

function* asWritten(written: Buffer): Generator<Buffer> {
  for (let at = 0; at < written.length; at += PIECE_BYTES) {
    yield written.subarray(at, at + PIECE_BYTES);
  }
}

/**
 * Characters outside the alphabet are ignored (RFC 2045 6.8); it ends with the first equals sign.
 */
function* fromBase64(written: Buffer): Generator<Buffer> {
  let left = '';
  for (let at = 0; at < written.length; at += PIECE_BYTES) {
    const letters = written.toString('latin1', at, at + PIECE_BYTES).replace(NO_LETTERS, '');
    const end = letters.indexOf('=');
    if (end >= 0) {
      yield Buffer.from(left + letters.slice(0, end), 'base64');
      return;
    }
    const text = left + letters;
    const whole = text.length - (text.length % 4);
    yield Buffer.from(text.slice(0, whole), 'base64');
    left = text.slice(whole);
  }
  if (left !== '') yield Buffer.from(left, 'base64');
}

const NO_LETTERS = /[^A-Za-z\d+/=_-]+/g;

/** A piece ends after a line if possible, and never within an escape. */
function* fromQuotedPrintable(written: Buffer): Generator<Buffer> {
  for (let from = 0, to = from; from < written.length; from = to) {
    to = from + PIECE_BYTES;
    if (to < written.length) {
      const line = written.lastIndexOf(LF, to - 1) + 1;
      if (line > from) to = line;
      else if (written[to - 1] === EQUALS) to--;
      else if (written[to - 2] === EQUALS) to -= 2;
    }
    yield unquoted(written.subarray(from, to));
  }
}

const LF = 10;
const CR = 13;
const EQUALS = 61;

/** RFC 2045 6.7, lenient: what is not an escape stays as it is. One pass, one copy. */
function unquoted(written: Buffer): Buffer {
  const out = Buffer.allocUnsafe(written.length);
  let to = 0;
  for (let at = 0; at < written.length; at++) {
    const byte = written[at]!;
    if (byte !== EQUALS) {
      out[to++] = byte;
      continue;
    }
    const code = hex(written[at + 1]) * 16 + hex(written[at + 2]);
    if (code >= 0) {
      out[to++] = code;
      at += 2;
      continue;
    }
    const next = softBreak(written, at + 1);
    if (next === undefined) out[to++] = byte;
    else at = next - 1;
  }
  return out.subarray(0, to);
}

/** Where the next line begins after a soft break; undefined: there is none. */
function softBreak(written: Buffer, after: number): number | undefined {
  let at = after;
  while (written[at] === 32 || written[at] === 9) at++;
  if (at >= written.length) return at;
  if (written[at] === CR && written[at + 1] === LF) return at + 2;
  return written[at] === LF ? at + 1 : undefined;
}

/** Far below zero if it is not a digit, so that no sum with it is a byte. */
function hex(byte: number | undefined): number {
  if (byte === undefined) return -1000;
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte & 0xdf;
  return letter >= 65 && letter <= 70 ? letter - 55 : -1000;
}
