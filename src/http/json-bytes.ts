// JSON from a stranger's bytes: read in time that grows with their number, never holding the
// process up for long. Before it: http/body.ts has collected them. After it:
// operations/read-input.ts looks at the fields.
//
// Small bodies go straight to JSON.parse. In larger ones a scan of the bytes bounds how deep and
// how manifold the JSON is, before anything is made of it (26 MB of "[" took JSON.parse 7.4 s and
// 1.46 GB), and cuts the long texts out, which are then read piece by piece, with turns for
// everybody else in between: 26 MB of Japanese HTML blocked for 170 ms.
import { isUtf8 } from 'node:buffer';
import { Problem } from '../errors.ts';
import { keepNumbers } from './json-numbers.ts';

/** Deeper than any mail's variables, and shallow enough for everything that walks through them. */
const MOST_DEPTH = 100;
/** Of a large body. A long order list has thousands of values. */
const MOST_VALUES = 100_000;
/** Of a large body, without its long texts. */
const MOST_REST_BYTES = 8 * 1024 * 1024;
const LONGEST_NAME = 64 * 1024;
const SMALL_BYTES = 64 * 1024;
const LONG_TEXT_BYTES = 1024;
/** What is worked on between two turns of the event loop. */
const PIECE_BYTES = 1024 * 1024;

/** At once for small bodies. */
export function readJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) {
    throw new Problem('invalid', 'The body is not UTF-8. Encode the JSON as UTF-8.');
  }
  return bytes.length <= SMALL_BYTES ? readSmall(bytes) : readLarge(bytes);
}

function readSmall(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  const value = parse(text);
  if (mayBeDeep(text)) runThrough(scan(bytes));
  keepNumbers(text, value);
  // Only an escape can bring in what is no text: raw, it is neither JSON nor UTF-8.
  if (text.includes('\\u') && ESCAPED_RUBBISH.test(text)) requireText(value);
  return value;
}

/** NUL and surrogates, which may be the halves of good characters. */
const ESCAPED_RUBBISH = /\\u(?:0000|d[89a-f])/i;

async function readLarge(bytes: Buffer): Promise<unknown> {
  const { longTexts, surrogates } = await inTurns(scan(bytes));
  const rest = withoutLongTexts(bytes, longTexts);
  if (rest.length > MOST_REST_BYTES) {
    throw new Problem(
      'invalid',
      `The body holds more than ${MOST_REST_BYTES / 1024 / 1024} MB of JSON beside its long texts. Send less.`,
    );
  }
  const text = rest.toString('utf8');
  const value = parse(text);
  await turn();
  keepNumbers(text, value);
  const whole =
    longTexts.length === 0 ? value : putBack(value, await inTurns(readTexts(bytes, longTexts)));
  if (surrogates) requireText(whole);
  return whole;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The message quotes the body: it is for the caller and not, as a cause, for the log.
    throw notJson((error as Error).message.replaceAll('\0', '').slice(0, 200));
  }
}

const notJson = (why: string): Problem =>
  new Problem('invalid', `The body is not valid JSON: ${why}.`);

// ---- The scan -----------------------------------------------------------------------------------

/** Of a text, with its quotes. */
interface Span {
  begin: number;
  end: number;
}

interface Scanned {
  longTexts: Span[];
  /** There are escapes of surrogates, which may or may not stand in pairs. */
  surrogates: boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Every value comes behind an opening bracket or a comma, every level ends with a bracket: fewer
 * than these are harmless.
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
 * Does not judge whether it is JSON: what it leaves out is read by JSON.parse too. Stops after each
 * piece.
 */
function* scan(bytes: Buffer): Generator<void, Scanned> {
  const longTexts: Span[] = [];
  let surrogates = false;
  let depth = 0;
  let values = 1;
  let pieceEnd = PIECE_BYTES;
  let backslash = -1;
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
        if (++values > MOST_VALUES) throw tooMany();
        break;
      case QUOTE: {
        const begin = at++;
        let plainFrom = at + 32;
        while (bytes[at] !== QUOTE) {
          if (at >= bytes.length) throw notJson('a text in it has no end');
          if (bytes[at] === BACKSLASH) {
            if (isEscape(bytes, at, '0000')) throw noText('The body');
            surrogates ||= isEscape(bytes, at, 'd') || isEscape(bytes, at, 'D');
            at += 2;
            plainFrom = Math.max(plainFrom, at + 256);
          } else if (at < plainFrom) at++;
          else {
            // Much faster over long texts; where escapes are many the steps above are.
            if (backslash < at) {
              const next = bytes.indexOf(BACKSLASH, at);
              backslash = next < 0 ? bytes.length : next;
            }
            const quote = bytes.indexOf(QUOTE, at);
            at = Math.min(quote < 0 ? bytes.length : quote, backslash);
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
    `The body holds more than ${MOST_VALUES.toLocaleString('en')} values. Send fewer.`,
  );

// ---- Long texts ---------------------------------------------------------------------------------

/** In their place stands NUL with their number: NUL itself is in no text that is let in. */
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

/** Piece by piece, each as a text of its own. */
function* readTexts(bytes: Buffer, longTexts: readonly Span[]): Generator<void, string[]> {
  const texts: string[] = [];
  let sinceTurn = 0;
  for (const { begin, end } of longTexts) {
    const pieces: string[] = [];
    for (let from = begin + 1, to = from; from < end - 1; from = to) {
      to = wholeCharacters(bytes, from, Math.min(from + PIECE_BYTES, end - 1));
      pieces.push(parse(`"${bytes.toString('utf8', from, to)}"`) as string);
      sinceTurn += to - from;
      if (sinceTurn < PIECE_BYTES / 2) continue;
      sinceTurn = 0;
      yield;
    }
    texts.push(pieces.length === 1 ? pieces[0]! : pieces.join(''));
  }
  return texts;
}

/** Where a piece may end: not within a character of UTF-8, and not within an escape. */
function wholeCharacters(bytes: Buffer, from: number, wanted: number): number {
  let end = wanted;
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  const near = bytes.lastIndexOf(BACKSLASH, end - 1);
  if (near < Math.max(from, end - 5)) return end;
  let run = near;
  while (run > from && bytes[run - 1] === BACKSLASH) run--;
  // An even run is backslashes only, each escaping the next.
  if ((near - run) % 2 === 1) return end;
  const length = bytes[near + 1] === 0x75 ? 6 : 2;
  return near + length > end ? near : end;
}

// ---- What was read ------------------------------------------------------------------------------

type Holder = Record<string, unknown>;

/**
 * The long texts in their places. Goes over fields that are there only: one may be called
 * __proto__.
 */
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

/** Names where there is something else. The depth is bounded by now. */
function requireText(value: unknown, path = ''): void {
  if (typeof value === 'string' && !isText(value)) throw noText(path || 'The body');
  if (typeof value !== 'object' || value === null) return;
  for (const [name, within] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${path}[${name}]` : `${path && `${path}.`}${name}`;
    if (!isText(name)) throw noText(`The name of ${at}`);
    requireText(within, at);
  }
}

const isText = (text: string): boolean => !/[\0\p{Cs}]/u.test(text);

/** PostgreSQL stores no NUL, UTF-8 has no lone surrogates, and a mail carries neither. */
const noText = (where: string): Problem =>
  new Problem(
    'invalid',
    `${where.slice(0, 200)} holds a NUL (\\u0000) or half of a surrogate pair, which are no text. Leave them out.`,
  );

// ---- Turns --------------------------------------------------------------------------------------

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** To its end, letting everybody else have a turn after each piece. */
async function inTurns<Result>(work: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    await turn();
  }
}

function runThrough<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
