// String literals: Python's unicode-escape decoding, as the lexer applies it to quoted text.
import { TemplateSyntaxError } from '../errors.ts';
import { isAscii } from '../values/text.ts';

const SIMPLE: Record<string, string> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
const HEX_SIZE: Record<string, number> = { x: 2, u: 4, U: 8 };
const TRUNCATED: Record<string, string> = {
  x: 'truncated \\xXX escape',
  u: 'truncated \\uXXXX escape',
  U: 'truncated \\UXXXXXXXX escape',
};

export function decodeString(text: string): string {
  if (!text.includes('\\')) return text;
  // Jinja2 turns other characters into escapes first; this is visible only if one follows a
  // backslash.
  const source = isAscii(text)
    ? text
    : text.replace(/\\([^\x00-\x7f])/gu, (_, char: string) => `\\\\${asEscape(char)}`);
  let out = '';
  for (let i = 0; i < source.length; i++) {
    if (source[i] !== '\\') {
      out += source[i];
      continue;
    }
    const char = source[++i];
    if (char === undefined) throw new TemplateSyntaxError('\\ at end of string');
    const simple = SIMPLE[char];
    if (simple !== undefined) out += simple;
    else if (HEX_SIZE[char] !== undefined) {
      const digits = /^[0-9a-fA-F]*/.exec(source.slice(i + 1, i + 1 + HEX_SIZE[char]))![0];
      if (digits.length < HEX_SIZE[char]) throw new TemplateSyntaxError(TRUNCATED[char]!);
      const code = Number.parseInt(digits, 16);
      if (code > 0x10ffff) throw new TemplateSyntaxError('illegal Unicode character');
      out += String.fromCodePoint(code);
      i += digits.length;
    } else if (char >= '0' && char <= '7') {
      const digits = /^[0-7]{1,3}/.exec(source.slice(i, i + 3))![0];
      out += String.fromCharCode(Number.parseInt(digits, 8));
      i += digits.length - 1;
    } else if (char === 'N')
      throw new TemplateSyntaxError(
        source[i + 1] === '{'
          ? 'characters by name (\\N{…}) are not supported'
          : 'malformed \\N character escape',
      );
    else out += `\\${char}`;
  }
  return out;
}

function asEscape(char: string): string {
  const code = char.codePointAt(0)!;
  const hex = code.toString(16);
  if (code <= 0xff) return `x${hex.padStart(2, '0')}`;
  return code <= 0xffff ? `u${hex.padStart(4, '0')}` : `U${hex.padStart(8, '0')}`;
}
