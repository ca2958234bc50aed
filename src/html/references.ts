// Reads and writes character references of HTML as browsers do, in text and in attributes, where
// fewer are valid (HTML, 13.2.5.72). tokens.ts finds what is read here; the table of names belongs
// to the Jinja2 engine.
import { htmlEntity, unescapeHtml } from '../jinja/index.ts';

/** Text for people: references to control characters are dropped. */
export function decodeText(text: string): string {
  return text.includes('&') ? inPieces(text, decodePieceOfText) : text;
}

const decodePieceOfText = (piece: string): string =>
  piece.replace(
    /&(?:#(?:[xX][\da-fA-F]+|\d+);?|[a-zA-Z][a-zA-Z\d]*;?)/g,
    (written) =>
      common[written] ??
      (written[1] === '#' ? numbered(written).replace(CONTROL, '') : named(written)),
  );

/** In attributes `&copy=2` and `&copy2` are parameters of an address, not a ©. */
export function decodeAttribute(written: string): string {
  const text = written.includes('\0') ? written.replaceAll('\0', '\ufffd') : written;
  return text.includes('&') ? inPieces(text, decodePieceOfAttribute) : text;
}

const decodePieceOfAttribute = (piece: string): string =>
  piece.replace(
    /&(?:#(?:[xX][\da-fA-F]+|\d+);?|[a-zA-Z][a-zA-Z\d]*(;|=?))/g,
    (reference, end: string | undefined) => {
      if (end === '=') return reference;
      return (
        common[reference] ??
        (end === undefined ? numbered(reference) : (htmlEntity(reference.slice(1)) ?? reference))
      );
    },
  );

const PIECE_LENGTH = 64 * 1024;

/**
 * Cut where a reference begins: `replace` keeps all matches until it reaches the end of the text,
 * and 5 MB of references took 40 MB of memory.
 */
function inPieces(text: string, decode: (piece: string) => string): string {
  if (text.length <= PIECE_LENGTH) return decode(text);
  let decoded = '';
  for (let at = 0; at < text.length; ) {
    const next = text.indexOf('&', at + PIECE_LENGTH);
    const end = next < 0 ? text.length : next;
    decoded += decode(text.slice(at, end));
    at = end;
  }
  return decoded;
}

/** Nearly all references are these, and need no table. */
const common: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#34;': '"',
  '&#39;': "'",
  '&nbsp;': '\u00a0',
};

const CONTROL = /[\0-\x08\v\x0e-\x1f\x7f]/;
/**
 * Names that are valid without a semicolon, even at the start of a longer word, are at most this
 * long: `Aacute`.
 */
const LONGEST_BARE = 6;

/** The longest name that the reference begins with counts. */
function named(reference: string): string {
  const whole = htmlEntity(reference.slice(1));
  if (whole !== undefined) return whole;
  for (let end = Math.min(reference.length, 1 + LONGEST_BARE); end > 2; end--) {
    const character = htmlEntity(reference.slice(1, end));
    if (character !== undefined) return character + reference.slice(end);
  }
  return reference;
}

function numbered(reference: string): string {
  const hex = reference[2] === 'x' || reference[2] === 'X';
  const digits = reference.slice(hex ? 3 : 2).replace(/^0+(?=[^;])/, '');
  // Ten digits and a semicolon are enough for every character.
  const code = digits.length > 11 ? Infinity : Number.parseInt(digits, hex ? 16 : 10);
  if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return '\ufffd';
  // Python and browsers alike read these codes as Windows-1252.
  if (code >= 0x80 && code <= 0x9f) return unescapeHtml(`&#${code};`);
  return String.fromCodePoint(code);
}

export function escapeAttribute(value: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
