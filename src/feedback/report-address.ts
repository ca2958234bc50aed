// Addresses as reports write them: typed fields of delivery status and feedback parts, and
// addresses in free text. Used by dsn.ts, arf.ts, original.ts and bounce-text.ts. What comes out is
// for comparing, not checked for sending.

/**
 * `rfc822; a@b` or `utf-8; ü@b` (RFC 3464 2.3.2, RFC 6533 3), with or without brackets and
 * comments.
 */
export function typedAddress(field: string | undefined): string | null {
  if (field === undefined) return null;
  const typed = /^\s*([\w-]{1,40})\s*;(.*)$/s.exec(field);
  const value = (typed ? typed[2]! : field).trim();
  const isUtf8 = typed?.[1]?.toLowerCase() === 'utf-8';
  return bareAddress(isUtf8 ? decodeUnitext(value) : value);
}

/** The address in `a@b`, `<a@b>`, `Name <a@b>`, `a@b (comment)`; null if there is none. */
export function bareAddress(text: string): string | null {
  const bracketed = /<([^<>\s]{1,320})>/.exec(text)?.[1];
  if (bracketed !== undefined) return bracketed.includes('@') ? bracketed : null;
  for (const word of text.slice(0, 2000).split(/[\s,;]+/)) {
    const address = trimmed(word, OPENING, CLOSING);
    if (/^[^@\s]+@[^@\s]+$/.test(address)) return address;
  }
  return null;
}

const OPENING = `"'([{`;
const CLOSING = `"')]}:.`;

/** By hand: an expression that ends with `+$` starts over at every character of a long run. */
function trimmed(word: string, opening: string, closing: string): string {
  let start = 0;
  let end = word.length;
  while (start < end && opening.includes(word[start]!)) start++;
  while (end > start && closing.includes(word[end - 1]!)) end--;
  return word.slice(start, end);
}

/** RFC 6533 3: `\x{FC}` stands for a character that could not be sent as such. */
function decodeUnitext(value: string): string {
  return value.replace(/\\x\{([\da-f]{1,6})\}/gi, (written, hex) => {
    const code = Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : written;
  });
}

/** RFC 3461 4: `+2B` stands for `+`. Some servers do not decode it. */
export function decodeXtext(value: string): string {
  return value.replace(/\+([\dA-F]{2})/g, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** Every address in a list header (`To`, `X-Failed-Recipients`), each once. */
export function listedAddresses(value: string): string[] {
  return findAddresses(value.slice(0, 20_000)).map((found) => found.address);
}

export interface FoundAddress {
  address: string;
  at: number;
}

// Letters of any script: SMTPUTF8 addresses come back as they were sent. The length limits keep it
// linear.
const LOOSE =
  /(?<![\w.+=@%-])[\p{L}\p{N}_.+=&'*/!#$%^{}~?-]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}_-]{0,61}[\p{L}\p{N}])?\.){1,10}[\p{L}\p{N}-]{2,63}(?![\w@])/gu;

/** Addresses in free text, in order; `mailto:` and quotes around them are not part of them. */
export function findAddresses(text: string): FoundAddress[] {
  const found: FoundAddress[] = [];
  const seen = new Set<string>();
  for (const match of text.matchAll(LOOSE)) {
    const address = match[0].replace(/^'+/, '');
    const key = address.toLowerCase();
    if (seen.has(key)) continue;
    seen.add(key);
    found.push({ address, at: match.index + match[0].length - address.length });
    if (found.length === MOST_FOUND) break;
  }
  return found;
}
const MOST_FOUND = 500;

/**
 * Which of the wanted addresses (lower case) a text names. Word by word: one pass, however many are
 * wanted.
 */
export function namedIn(text: string, wanted: ReadonlySet<string>): Set<string> {
  const named = new Set<string>();
  if (!text.includes('@')) return named;
  for (const word of text.toLowerCase().split(/[\s<>()[\]",;:|]+/)) {
    if (!word.includes('@') || word.length > LONGEST_WORD) continue;
    const bare = trimmed(word, AROUND, AROUND);
    for (const form of [word, bare, bare.slice(bare.lastIndexOf('=') + 1)]) {
      if (wanted.has(form)) named.add(form);
    }
  }
  return named;
}
const AROUND = `'\`.*!?={}-`;
const LONGEST_WORD = 1000;
