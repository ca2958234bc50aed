// JSON from a stranger's bytes: read in time linear in their number, never blocking the process for
// long. Before it: http/body.ts has collected them. After it: operations/read-input.ts looks at the
// fields.
//
// Small bodies go straight to JSON.parse. In larger ones a scan of the bytes bounds the depth of
// the JSON and its number of values before anything is built from it (26 MB of "[" took JSON.parse
// 7.4 s and 1.46 GB), and cuts the long texts out, which are then read piece by piece, with turns
// for everyone else in between: 26 MB of Japanese HTML blocked for 170 ms.
import { isAscii, isUtf8 } from 'node:buffer';
import { freeBytes } from '../bytes/free-bytes.ts';
import { Problem } from '../errors.ts';
import { atOnce, inLongTurns, inTurns, turn } from '../process/in-turns.ts';
import { keepNumbers } from './json-numbers.ts';

/** Deeper than any email's variables, and shallow enough for everything that walks through them. */
const MOST_DEPTH = 100;
/** In a large body, including field names. A long order list has thousands. */
const MOST_VALUES = 100_000;
/** Size of a large body without its long texts. */
const MOST_REST_BYTES = 8 * 1024 * 1024;
const LONGEST_NAME = 64 * 1024;
const SMALL_BYTES = 64 * 1024;
const LONG_TEXT_BYTES = 1024;
/** How much is processed between two turns of the event loop. */
const PIECE_BYTES = 1024 * 1024;

/** Synchronous for small bodies. Large ones are consumed: they are read in place. */
export function readJson(bytes: Buffer): unknown {
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) {
    throw new Problem('invalid', 'The body is not UTF-8. Encode the JSON as UTF-8.');
  }
  return bytes.length <= SMALL_BYTES ? readSmall(bytes, ascii) : readLarge(bytes);
}

function readSmall(bytes: Buffer, ascii: boolean): unknown {
  const text = bytes.toString(ascii ? 'latin1' : 'utf8');
  const value = parse(text);
  if (mayBeDeep(text)) atOnce(scan(bytes));
  const numbers = keepNumbers(text, value);
  if (numbers !== undefined) atOnce(numbers);
  // Only an escape can produce what is not text: raw, it would be neither JSON nor UTF-8.
  if (text.includes('\\u') && ESCAPED_RUBBISH.test(text)) requireText(value);
  return value;
}

/** NUL and surrogates, which may be halves of valid characters. */
const ESCAPED_RUBBISH = /\\u(?:0000|d[89a-f])/i;

async function readLarge(bytes: Buffer): Promise<unknown> {
  const { longTexts, surrogates } = await inTurns(scan(bytes));
  const rest = withoutLongTexts(bytes, longTexts);
  if (rest.length > MOST_REST_BYTES) {
    throw new Problem(
      'invalid',
      `The body contains more than ${MOST_REST_BYTES / 1024 / 1024} MB of JSON besides its long strings. Send less.`,
    );
  }
  const text = rest.toString('utf8');
  const value = parse(text);
  await turn();
  const numbers = keepNumbers(text, value);
  if (numbers !== undefined) await inTurns(numbers);
  await turn();
  const whole =
    longTexts.length === 0 ? value : putBack(value, await inLongTurns(readTexts(bytes, longTexts)));
  if (surrogates) requireText(whole);
  freeBytes(bytes);
  return whole;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The message quotes the body: it is for the caller and must not reach the log as a cause.
    throw notJson((error as Error).message.replaceAll('\0', '').slice(0, 200));
  }
}

const notJson = (why: string): Problem =>
  new Problem('invalid', `The body is not valid JSON: ${why}.`);

// ---- The scan -----------------------------------------------------------------------------------

/** Where a text is, including its quotes. */
interface Span {
  begin: number;
  end: number;
}

interface Scanned {
  longTexts: Span[];
  /** There are escapes of surrogates, which may or may not be in pairs. */
  surrogates: boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Every value follows an opening bracket or a comma, every level ends with a bracket: fewer than
 * the limits are harmless.
 */
function mayBeDeep(text: string): boolean {
  let closing = 0;
  for (let at = text.indexOf('}'); at >= 0 && closing <= MOST_DEPTH; at = text.indexOf('}', at + 1))
    closing++;
  for (let at = text.indexOf(']'); at >= 0 && closing <= MOST_DEPTH; at = text.indexOf(']', at + 1))
    closing++;
  return closing > MOST_DEPTH;
}

/**
 * Does not check whether it is JSON: JSON.parse also reads what it leaves out. Yields after each
 * piece.
 */
function* scan(bytes: Buffer): Generator<void, Scanned> {
  const longTexts: Span[] = [];
  let surrogates = false;
  let depth = 0;
  let values = 1;
  let pieceEnd = PIECE_BYTES;
  // The next ones, searched for again only once passed: each search may go to the end of the body.
  let backslash = -1;
  let quote = -1;
  for (let at = 0; at < bytes.length; at++) {
    if (at >= pieceEnd) {
      pieceEnd = at + PIECE_BYTES;
      yield;
    }
    switch (bytes[at]) {
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > MOST_DEPTH) throw tooDeep();
        if (++values > MOST_VALUES) throw tooMany();
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
      case 0x2c: // ,
      case 0x3a: // :, for a name costs as much as a value
        if (++values > MOST_VALUES) throw tooMany();
        break;
      case QUOTE: {
        const begin = at++;
        let plainFrom = at + 32;
        while (bytes[at] !== QUOTE) {
          if (at >= bytes.length) throw notJson('a string in it is not closed');
          if (bytes[at] === BACKSLASH) {
            if (isEscape(bytes, at, '0000')) throw noText('The body');
            surrogates ||= isEscape(bytes, at, 'd') || isEscape(bytes, at, 'D');
            at += 2;
            plainFrom = Math.max(plainFrom, at + 256);
          } else if (at < plainFrom) at++;
          else {
            // Much faster for long texts; with many escapes the steps above are faster.
            if (backslash < at) backslash = nextOf(bytes, BACKSLASH, at);
            if (quote < at) quote = nextOf(bytes, QUOTE, at);
            at = Math.min(quote, backslash);
            plainFrom = at + 256;
          }
          if (at >= pieceEnd) {
            pieceEnd = at + PIECE_BYTES;
            yield;
          }
        }
        if (at + 1 - begin > LONG_TEXT_BYTES) {
          if (!isName(bytes, at + 1)) longTexts.push({ begin, end: at + 1 });
          else if (at - begin > LONGEST_NAME) {
            throw new Problem('invalid', 'The body has a field whose name is longer than 64 KB.');
          }
        }
        break;
      }
    }
  }
  return { longTexts, surrogates };
}

function nextOf(bytes: Buffer, byte: number, at: number): number {
  const found = bytes.indexOf(byte, at);
  return found < 0 ? bytes.length : found;
}

function isEscape(bytes: Buffer, at: number, digits: string): boolean {
  if (bytes[at + 1] !== 0x75) return false; // u
  for (let n = 0; n < digits.length; n++) {
    if (bytes[at + 2 + n] !== digits.charCodeAt(n)) return false;
  }
  return true;
}

function isName(bytes: Buffer, behind: number): boolean {
  let at = behind;
  while (bytes[at] === 0x20 || (bytes[at]! >= 0x09 && bytes[at]! <= 0x0d)) at++;
  return bytes[at] === 0x3a;
}

const tooDeep = (): Problem =>
  new Problem(
    'invalid',
    `The body is nested more than ${MOST_DEPTH} levels deep. Make its JSON flatter.`,
  );

const tooMany = (): Problem =>
  new Problem(
    'invalid',
    `The body contains more than ${MOST_VALUES.toLocaleString('en')} values and names of fields. Send fewer.`,
  );

// ---- Long texts ---------------------------------------------------------------------------------

/** They are replaced by NUL and their number: no accepted text contains NUL. */
function withoutLongTexts(bytes: Buffer, longTexts: readonly Span[]): Buffer {
  if (longTexts.length === 0) return bytes;
  const parts: Buffer[] = [];
  let from = 0;
  for (const [index, { begin, end }] of longTexts.entries()) {
    parts.push(bytes.subarray(from, begin), Buffer.from(`"\\u0000${index}"`));
    from = end;
  }
  parts.push(bytes.subarray(from));
  return Buffer.concat(parts);
}

function* readTexts(bytes: Buffer, longTexts: readonly Span[]): Generator<void, string[]> {
  const texts: string[] = [];
  let sinceTurn = 0;
  for (const { begin, end } of longTexts) {
    if (end - begin > PIECE_BYTES) {
      const read = yield* withoutEscapes(bytes, begin + 1, end - 1);
      texts.push(yield* textOf(bytes.subarray(begin + 1, read)));
      yield;
      continue;
    }
    texts.push(parse(bytes.toString('utf8', begin, end)) as string);
    sinceTurn += end - begin;
    if (sinceTurn < PIECE_BYTES / 2) continue;
    sinceTurn = 0;
    yield;
  }
  return texts;
}

/**
 * Piece by piece, in place: without its escapes a text is never longer. Returns where it then ends.
 * Joining pieces afterwards took twice its size.
 */
function* withoutEscapes(bytes: Buffer, begin: number, end: number): Generator<void, number> {
  let written = begin;
  for (let from = begin, to = from; from < end; from = to) {
    const most = from + UNESCAPED_BYTES;
    // The last piece goes to the end whatever it contains: JSON.parse reports a broken escape.
    to = most < end ? wholeCharacters(bytes, from, most) : end;
    if (isPlain(bytes, from, to)) {
      if (written < from) bytes.copyWithin(written, from, to);
      written += to - from;
    } else {
      const text = parse(`"${bytes.toString('utf8', from, to)}"`) as string;
      if (!text.isWellFormed()) throw noText('The body');
      written += bytes.write(text, written, 'utf8');
    }
    yield;
  }
  return written;
}

/**
 * V8 gives a text of more than 128 KB pages of its own, and lets 16 MB of them accumulate: beside
 * the body and its text, that was the peak of a large request.
 */
const UNESCAPED_BYTES = 64 * 1024;

/**
 * Each byte is a character and none is escaped, as in a file in base64. Four bytes at a time, which
 * takes a third of the time: of each, the highest bit of the sum is set if it is above 0x7f, below
 * 0x20 or a backslash.
 */
function isPlain(bytes: Buffer, from: number, to: number): boolean {
  if (to - from < 8) return isPlainEach(bytes, from, to);
  const aligned = from + ((4 - ((bytes.byteOffset + from) % 4)) % 4);
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + aligned, (to - aligned) >> 2);
  let sum = 0;
  for (let at = 0; at < words.length; at++) {
    const four = words[at]!;
    const slashes = four ^ 0x5c5c5c5c;
    sum |= four | ((four - 0x20202020) & ~four) | ((slashes - 0x01010101) & ~slashes);
  }
  const behind = aligned + 4 * words.length;
  return (
    (sum & 0x80808080) === 0 && isPlainEach(bytes, from, aligned) && isPlainEach(bytes, behind, to)
  );
}

function isPlainEach(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    if (byte < 0x20 || byte > 0x7f || byte === BACKSLASH) return false;
  }
  return true;
}

/** In one go if each byte is a character: 20 MB of Japanese held the event loop for 130 ms. */
function* textOf(bytes: Buffer): Generator<void, string> {
  if (isAscii(bytes)) return bytes.toString('latin1');
  let text = '';
  for (let from = 0, to = from; from < bytes.length; from = to) {
    to = Math.min(from + UNESCAPED_BYTES, bytes.length);
    while (to < bytes.length && (bytes[to]! & 0xc0) === 0x80) to--;
    text += bytes.toString('utf8', from, to);
    yield;
  }
  return text;
}

/** As in `\\u0041`. */
const LONGEST_ESCAPE = 6;

/**
 * Where a piece may end: not within a character of UTF-8, not within an escape, and not within a
 * surrogate pair.
 */
function wholeCharacters(bytes: Buffer, from: number, wanted: number): number {
  const end = wholeEscapes(bytes, from, wanted);
  const half = end - LONGEST_ESCAPE;
  const isHalf = /^\\u[dD][89abAB]/.test(bytes.toString('latin1', half, end));
  return isHalf && !isEscaped(bytes, from, half) ? half : end;
}

/** Whether that backslash is itself escaped. */
function isEscaped(bytes: Buffer, from: number, at: number): boolean {
  let run = at;
  while (run > from && bytes[run - 1] === BACKSLASH) run--;
  return (at - run) % 2 === 1;
}

function wholeEscapes(bytes: Buffer, from: number, wanted: number): number {
  let end = wanted;
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  const nearest = Math.max(from, end - LONGEST_ESCAPE + 1);
  let near = end - 1;
  while (near >= nearest && bytes[near] !== BACKSLASH) near--;
  if (near < nearest) return end;
  if (isEscaped(bytes, from, near)) return end;
  const length = bytes[near + 1] === 0x75 ? LONGEST_ESCAPE : 2;
  return near + length > end ? near : end;
}

// ---- What was read ------------------------------------------------------------------------------

type Holder = Record<string, unknown>;

/** Puts the long texts back. Visits own fields only: one may be called __proto__. */
function putBack(value: unknown, texts: readonly string[]): unknown {
  if (typeof value === 'string')
    return value.charCodeAt(0) === 0 ? texts[Number(value.slice(1))] : value;
  if (typeof value !== 'object' || value === null) return value;
  const holder = value as Holder;
  for (const name in holder) {
    const within = holder[name];
    const whole = putBack(within, texts);
    if (whole !== within) holder[name] = whole;
  }
  return value;
}

/** Refuses anything else and says where it is. The depth is already bounded. */
function requireText(value: unknown, path = ''): void {
  if (typeof value === 'string' && !isText(value)) throw noText(path || 'The body', path);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, within] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${path}[${name}]` : `${path && `${path}.`}${name}`;
    if (!isText(name)) throw noText(`The name of ${at}`, at);
    requireText(within, at);
  }
}

/** A Unicode pattern took 190 ms for 25 MB, this a tenth. */
const isText = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** PostgreSQL stores no NUL, UTF-8 has no lone surrogates, and an email carries neither. */
const noText = (where: string, path = ''): Problem =>
  new Problem(
    'invalid',
    `${where.slice(0, 200)} contains a NUL (\\u0000) or half of a surrogate pair, which is not valid text. Leave it out.`,
    path === '' ? {} : { at: path.slice(0, 200) },
  );
