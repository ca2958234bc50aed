// Header lines: folding, RFC 2047 encoded words, address lists, RFC 2231 parameters. Before: vetted
// names and values. After: compose.ts joins them. Every function returns whole lines that end with
// CRLF, or a parameter's text.
import { type Mailbox, quoteName } from '../addresses.ts';

// RFC 5322 2.1.1: 78 is preferred, 998 is the limit. RFC 2047 2: 75 for an encoded word, 76 for a
// line that holds one, so 76 serves both.
const PREFERRED_LINE = 76;
const LONGEST_LINE = 998;
const LONGEST_WORD = 75;
// A name that is encoded shares its line with "From: " or "Reply-To: ".
const LONGEST_NAME_WORD = 60;
const WORD_FRAME = '=?UTF-8?Q??='.length;

// What may be in a header unencoded: words of printable ASCII with one space between them and
// nothing that a reader would take for an encoded word.
const PLAIN = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;
// A URL may contain "=?" and must stay as it is.
const ENCODED_WORD = /=\?[^ ?]+\?[BQ]\?/i;
const MOST_PLAIN_WORD = 900;
// RFC 2047 5 (3): the only characters that may stay in a Q word inside a display name. We keep to
// them everywhere.
const Q_SAFE = table('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!*+-/');
// RFC 2231 7: attribute-char.
const PARAMETER_SAFE = table(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$&+-.^_`{|}~',
);
const HEX = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).toUpperCase().padStart(2, '0'),
);

/**
 * A header whose value is free text: unencoded if it reads back the same, otherwise as encoded
 * words.
 */
export function textHeader(name: string, value: string): string {
  const text = /[\r\n\0]/.test(value) ? value.replace(/[\r\n\0]+/g, ' ') : value;
  if (isPlain(text)) {
    if (name.length + 2 + text.length <= PREFERRED_LINE) return `${name}: ${text}\r\n`;
    const words = text.split(' ');
    if (words.every((word) => word.length < MOST_PLAIN_WORD)) return foldedHeader(name, words);
  }
  if (text === '') return `${name}:\r\n`;
  return foldedHeader(name, encodedWords(text, LONGEST_WORD - name.length - 1, LONGEST_WORD));
}

/** From, To, Cc, Reply-To: one or more mailboxes, folded between words. */
export function addressHeader(name: string, mailboxes: readonly Mailbox[]): string {
  const words: string[] = [];
  mailboxes.forEach((mailbox, index) => {
    const comma = index < mailboxes.length - 1 ? ',' : '';
    if (mailbox.name === '') words.push(mailbox.address + comma);
    else words.push(...nameWords(mailbox.name), `<${mailbox.address}>${comma}`);
  });
  return foldedHeader(name, words);
}

/**
 * `name="value"`, or RFC 2231's percent form in as many numbered pieces as its length needs, each
 * on its own line.
 */
export function parameter(name: string, value: string): string {
  if (isPlainParameter(value)) return `;\r\n ${name}="${value}"`;
  const room = PREFERRED_LINE - name.length - ' *00*=;'.length;
  const pieces: string[] = [];
  let piece = "UTF-8''";
  for (const character of characters(Buffer.from(value))) {
    let encoded = '';
    for (const byte of character) {
      encoded += PARAMETER_SAFE[byte] ? String.fromCharCode(byte) : `%${HEX[byte]}`;
    }
    if (piece.length + encoded.length > room) {
      pieces.push(piece);
      piece = '';
    }
    piece += encoded;
  }
  if (pieces.length === 0) return `;\r\n ${name}*=${piece}`;
  pieces.push(piece);
  return pieces.map((text, index) => `;\r\n ${name}*${index}*=${text}`).join('');
}

/**
 * `name="…"` with encoded words inside the quotes: RFC 2047 5 forbids it, yet it is the form that
 * readers without RFC 2231 understand. Only in addition to the proper form, never instead of it.
 */
export function legacyParameter(name: string, value: string): string {
  if (isPlainParameter(value)) return `;\r\n ${name}="${value}"`;
  return `;\r\n ${name}="${encodedWords(value, LONGEST_NAME_WORD, LONGEST_NAME_WORD).join('\r\n ')}"`;
}

/**
 * Splits text into encoded words (RFC 2047), never inside a character; Q or B, whichever is
 * shorter.
 */
export function encodedWords(text: string, firstLength: number, length: number): string[] {
  const bytes = Buffer.from(text);
  let unsafe = 0;
  for (const byte of bytes) if (!Q_SAFE[byte] && byte !== 0x20) unsafe++;
  const base64 = unsafe * 6 > bytes.length;
  const words: string[] = [];
  let room = Math.max(firstLength, 2 * WORD_FRAME) - WORD_FRAME;
  let start = 0;
  let used = 0;
  let end = 0;
  const finish = () => {
    words.push(
      base64
        ? `=?UTF-8?B?${bytes.toString('base64', start, end)}?=`
        : `=?UTF-8?Q?${quoted(bytes.subarray(start, end))}?=`,
    );
    room = length - WORD_FRAME;
    start = end;
    used = 0;
  };
  for (const character of characters(bytes)) {
    const cost = base64 ? character.length : quotedLength(character);
    if ((base64 ? Math.ceil((used + cost) / 3) * 4 : used + cost) > room) finish();
    used += cost;
    end += character.length;
  }
  finish();
  return words;
}

function foldedHeader(name: string, words: readonly string[]): string {
  let lines = '';
  let line = `${name}:`;
  let empty = true;
  for (const word of words) {
    // The first word stays beside the name even when it is long: a first line without a value
    // confuses some readers.
    const limit = empty ? LONGEST_LINE : PREFERRED_LINE;
    if (line.length + 1 + word.length > limit) {
      lines += `${line}\r\n`;
      line = '';
    }
    line += ` ${word}`;
    empty = false;
  }
  return `${lines}${line}\r\n`;
}

function nameWords(name: string): string[] {
  if (isPlain(name) && name.length <= LONGEST_NAME_WORD) return [quoteName(name)];
  return encodedWords(name, LONGEST_NAME_WORD, LONGEST_NAME_WORD);
}

function isPlain(text: string): boolean {
  return PLAIN.test(text) && !ENCODED_WORD.test(text);
}

function isPlainParameter(value: string): boolean {
  return value.length <= LONGEST_NAME_WORD && isPlain(value) && !/["\\]/.test(value);
}

function quoted(bytes: Buffer): string {
  let text = '';
  for (const byte of bytes) {
    text += Q_SAFE[byte] ? String.fromCharCode(byte) : byte === 0x20 ? '_' : `=${HEX[byte]}`;
  }
  return text;
}

function quotedLength(bytes: Buffer): number {
  let length = 0;
  for (const byte of bytes) length += Q_SAFE[byte] || byte === 0x20 ? 1 : 3;
  return length;
}

/** The UTF-8 characters of `bytes`, each as its own view. */
function* characters(bytes: Buffer): Generator<Buffer> {
  let start = 0;
  for (let end = 1; end <= bytes.length; end++) {
    if (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) continue;
    yield bytes.subarray(start, end);
    start = end;
  }
}

function table(allowed: string): Uint8Array {
  const flags = new Uint8Array(256);
  for (const character of allowed) flags[character.charCodeAt(0)] = 1;
  return flags;
}
