// A part in its transfer encoding, encoded as it is taken: until then only the bytes it is made
// from are in memory. Before: mime-body.ts chose the encoding. After: compose.ts puts it between
// boundaries; a small part is encoded at once, a large one by whoever writes or hashes it.
import { type LateChunk, lengthOf } from '../bytes/chunks.ts';
import { notePassed } from '../bytes/garbage.ts';
import { allocateBytes } from '../bytes/large-bytes.ts';

/** What the body of an email consists of. */
export type PartChunk = Buffer | EncodedPart;

export const isEncoded = (chunk: PartChunk): chunk is EncodedPart => chunk instanceof EncodedPart;

/** With a line end added if there is none. */
export function endedByLine(body: PartChunk[]): PartChunk[] {
  const last = body.at(-1);
  if (last === undefined) return body;
  const ended = isEncoded(last) ? last.endsLine : last.subarray(-2).equals(CRLF);
  return ended ? body : [...body, CRLF];
}

/** Line ends become CRLF in all but base64. */
export type Form = 'crlf' | 'quoted-printable' | 'base64' | 'base64 with crlf';

const CR = 13;
const LF = 10;
const TAB = 9;
const SPACE = 32;
const EQUALS = 61;
const HEX = Buffer.from('0123456789ABCDEF');
const CRLF = Buffer.from('\r\n');
const NOTHING = Buffer.alloc(0);
const QP_LINE = 76; // RFC 2045 6.7 (5)
const BASE64_LINE = 76;
const BASE64_LINE_SOURCE = 57;
/** Whole lines of base64, which then have less than 64 KB. */
const SLICE_BYTES = 840 * BASE64_LINE_SOURCE;

export class EncodedPart implements LateChunk {
  /** One after the other. */
  readonly sources: readonly Buffer[];
  readonly form: Form;
  /** How many bytes more it may have than its sources: line ends and escapes, no line breaks. */
  readonly added: number;
  private known: number | undefined;

  constructor(sources: readonly Buffer[], form: Form, added: number, length?: number) {
    this.sources = sources;
    this.form = form;
    this.added = added;
    this.known = length;
  }

  get length(): number {
    this.known ??= lengthIn(this.form, lengthOf(this.sources) + this.added);
    if (this.known === undefined) for (const _ of this.pieces());
    return this.known!;
  }

  /** Nothing follows its last line end. */
  get endsLine(): boolean {
    return !this.form.startsWith('base64') && isBreak(this.sources.at(-1)?.at(-1));
  }

  /** All of it. */
  bytes(): Buffer {
    const { sources, form, added } = this;
    const source = sources.length === 1 ? sources[0]! : Buffer.concat(sources);
    return ENCODE[form](newState(added), source, undefined);
  }

  *pieces(): Generator<Buffer> {
    const encode = ENCODE[this.form];
    const state = newState(this.added);
    let length = 0;
    for (const [slice, next] of slicesOf(this.sources)) {
      const piece = encode(state, slice, next);
      length += piece.length;
      yield piece;
      notePassed(piece.buffer.byteLength);
    }
    this.known = length;
  }
}

/** With the byte that follows each. */
function* slicesOf(sources: readonly Buffer[]): Generator<[slice: Buffer, next?: number]> {
  const filled = sources.filter(({ length }) => length > 0);
  for (const [index, source] of filled.entries()) {
    const { length } = source;
    for (let from = 0, to = from; from < length; from = to) {
      to = Math.min(from + SLICE_BYTES, length);
      yield [source.subarray(from, to), to < length ? source[to] : filled[index + 1]?.[0]];
    }
  }
}

/** Undefined: only encoding it tells. */
function lengthIn(form: Form, bytes: number): number | undefined {
  if (form === 'quoted-printable') return undefined;
  return form === 'crlf' ? bytes : base64Length(bytes);
}

const base64Length = (bytes: number): number =>
  Math.ceil(bytes / 3) * 4 + 2 * Math.max(0, Math.ceil(bytes / BASE64_LINE_SOURCE) - 1);

/** What is kept from one slice to the next. */
interface State {
  readonly added: number;
  isAfterCr: boolean;
  /** How long the last line of quoted-printable is so far. */
  column: number;
  /** What does not fill a line of base64 yet, and whether there are lines before it. */
  rest: Buffer;
  isBehindOthers: boolean;
}

const newState = (added: number): State => ({
  added,
  isAfterCr: false,
  column: 0,
  rest: NOTHING,
  isBehindOthers: false,
});

/** `next`: undefined at the end. */
const ENCODE: Record<Form, (state: State, slice: Buffer, next: number | undefined) => Buffer> = {
  crlf: withCrlf,
  'quoted-printable': quotedPrintable,
  base64: inBase64,
  'base64 with crlf': (state, slice, next) => inBase64(state, withCrlf(state, slice), next),
};

function withCrlf(state: State, slice: Buffer): Buffer {
  const { length } = slice;
  const out = roomFor(length + Math.min(state.added, length) + 1);
  let to = 0;
  for (let at = state.isAfterCr && slice[0] === LF ? 1 : 0; at < length; at++) {
    const byte = slice[at]!;
    if (byte === LF || byte === CR) {
      if (byte === CR && slice[at + 1] === LF) at++;
      out[to++] = CR;
      out[to++] = LF;
    } else out[to++] = byte;
  }
  state.isAfterCr = slice[length - 1] === CR;
  return out.subarray(0, to);
}

/** Its lines are filled across slices. */
function inBase64(state: State, slice: Buffer, next: number | undefined): Buffer {
  const bytes = state.rest.length === 0 ? slice : Buffer.concat([state.rest, slice]);
  const { length } = bytes;
  const end = next === undefined ? length : length - (length % BASE64_LINE_SOURCE);
  state.rest = bytes.subarray(end);
  const lines = base64Lines(bytes.subarray(0, end), state.isBehindOthers);
  state.isBehindOthers ||= lines.length > 0;
  return lines;
}

/**
 * In lines of 76. One copy: the text is written to the end of the result, and its lines move
 * forward from there.
 */
function base64Lines(bytes: Buffer, isBehindOthers: boolean): Buffer {
  if (bytes.length === 0) return NOTHING;
  const start = isBehindOthers ? CRLF.length : 0;
  const out = roomFor(start + base64Length(bytes.length));
  let from = out.length - Math.ceil(bytes.length / 3) * 4;
  out.write(bytes.toString('base64'), from, 'latin1');
  CRLF.copy(out, 0, 0, start);
  let to = start;
  for (; from > to; from += BASE64_LINE) {
    out.copyWithin(to, from, from + BASE64_LINE);
    to += BASE64_LINE;
    out[to++] = CR;
    out[to++] = LF;
  }
  return out;
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

function quotedPrintable(state: State, slice: Buffer, next: number | undefined): Buffer {
  const { length } = slice;
  // At most one soft break of three bytes for each 73 bytes of output.
  const most = length + Math.min(state.added, 2 * length);
  const out = roomFor(most + 3 * Math.ceil(most / (QP_LINE - 3)) + 4);
  const endsLine = next === undefined || KINDS[next] === BREAK;
  let to = 0;
  let lineStart = 0 - state.column;
  for (let at = state.isAfterCr && slice[0] === LF ? 1 : 0; at < length; at++) {
    const byte = slice[at]!;
    const kind = KINDS[byte];
    // Nearly all bytes: nothing depends on what follows.
    if (kind === PLAIN && to - lineStart < QP_LINE - 1) {
      out[to++] = byte;
      continue;
    }
    if (kind === BREAK) {
      if (byte === CR && slice[at + 1] === LF) at++;
      out[to++] = CR;
      out[to++] = LF;
      lineStart = to;
      continue;
    }
    const lineEnds = at + 1 < length ? KINDS[slice[at + 1]!] === BREAK : endsLine;
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
  state.column = to - lineStart;
  state.isAfterCr = slice[length - 1] === CR;
  return out.subarray(0, to);
}

const isBreak = (byte: number | undefined): boolean => byte === CR || byte === LF;

const LARGE_BYTES = 64 * 1024;

/** Small ones come from Node's pool. */
const roomFor = (length: number): Buffer =>
  length < LARGE_BYTES ? Buffer.allocUnsafe(length) : allocateBytes(length);
