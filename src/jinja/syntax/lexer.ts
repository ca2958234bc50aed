// Source text to tokens, with white-space control. First stage of compiling; parser.ts pulls tokens
// one at a time.
import { locate, TemplateSyntaxError } from '../errors.ts';
import { readInt } from '../values/numbers.ts';
import { quote } from '../values/repr.ts';
import { isIdentifier, isSpaceCode, stripEnd, stripStart, textLength } from '../values/text.ts';
import { float, type Value } from '../values/types.ts';
import { decodeString } from './literals.ts';

export interface Syntax {
  blockStart: string;
  blockEnd: string;
  variableStart: string;
  variableEnd: string;
  commentStart: string;
  commentEnd: string;
  lineStatementPrefix: string | null;
  lineCommentPrefix: string | null;
  trimBlocks: boolean;
  lstripBlocks: boolean;
  keepTrailingNewline: boolean;
  newlineSequence: string;
}

export interface Token {
  type: string;
  /** Text of names and data, value of literals. */
  value: Value;
  at: number;
}

const OPERATORS: Record<string, string> = {
  '+': 'add',
  '-': 'sub',
  '/': 'div',
  '//': 'floordiv',
  '*': 'mul',
  '%': 'mod',
  '**': 'pow',
  '~': 'tilde',
  '[': 'lbracket',
  ']': 'rbracket',
  '(': 'lparen',
  ')': 'rparen',
  '{': 'lbrace',
  '}': 'rbrace',
  '==': 'eq',
  '!=': 'ne',
  '>': 'gt',
  '>=': 'gteq',
  '<': 'lt',
  '<=': 'lteq',
  '=': 'assign',
  '.': 'dot',
  ':': 'colon',
  '|': 'pipe',
  ',': 'comma',
  ';': 'semicolon',
};
const OPERATOR_TEXT = Object.fromEntries(
  Object.entries(OPERATORS).map(([text, type]) => [type, text]),
);
const DESCRIPTIONS: Record<string, string> = {
  block_begin: 'begin of statement block',
  block_end: 'end of statement block',
  variable_begin: 'begin of print statement',
  variable_end: 'end of print statement',
  data: 'template data / text',
  eof: 'end of template',
};

const describeType = (type: string): string => OPERATOR_TEXT[type] ?? DESCRIPTIONS[type] ?? type;
/** A token in words, for messages. */
export const describeToken = (token: Token): string =>
  token.type === 'name' ? String(token.value) : describeType(token.type);
/** An expectation such as `name:endfor` in words. */
export const describeExpectation = (expr: string): string => {
  const colon = expr.indexOf(':');
  if (colon === -1) return describeType(expr);
  return expr.slice(0, colon) === 'name'
    ? expr.slice(colon + 1)
    : describeType(expr.slice(0, colon));
};

const FLOAT = /(?<!\.)(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?e[+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/iy;
const INTEGER = /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy;
const NAME =
  /[\p{L}\p{N}\p{Mn}\p{Mc}\p{Pc}\u00b7\u0387\u1369-\u1371\u19da\u2118\u212e\u309b\u309c]+/uy;
const STRING = /'[^'\\]*(?:\\[\s\S][^'\\]*)*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"/y;
const OPERATOR = /\*\*|\/\/|==|!=|>=|<=|[-+/*%~[\](){}><=.:|,;]/y;

/** ASCII letters and the underscore; beyond ASCII the pattern decides. */
const isNameStart = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code >= 128;

const matchAt = (pattern: RegExp, source: string, at: number): string | null => {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0] ?? null;
};

/** Newlines become \n, and one at the very end is dropped unless kept. */
export function normalizeSource(source: string, syntax: Syntax): string {
  const text = source.includes('\r') ? source.replace(/\r\n?/g, '\n') : source;
  return !syntax.keepTrailingNewline && text.endsWith('\n') ? text.slice(0, -1) : text;
}

type Opening =
  | 'variable_begin'
  | 'block_begin'
  | 'comment_begin'
  | 'linestatement_begin'
  | 'linecomment_begin';

/** Yields the tokens of an already normalized source. */
export function* tokenize(source: string, syntax: Syntax, name: string | null): Generator<Token> {
  let at = 0;
  let lineStarting = true;
  const openings = new Openings(source, syntax);
  const newline = (text: string) =>
    syntax.newlineSequence === '\n' ? text : text.replaceAll('\n', syntax.newlineSequence);
  const fail = (message: string, where: number): never => {
    throw locate(new TemplateSyntaxError(message), { templateName: name, source, offset: where });
  };
  const data = (text: string, start: number): Token => ({
    type: 'data',
    value: newline(text),
    at: start,
  });

  /** Text before a tag, trimmed as its sign and lstrip_blocks require. */
  const before = (start: number, end: number, sign: string, lstrip: boolean): string => {
    const text = source.slice(start, end);
    if (sign === '-') return text.slice(0, stripEnd(text));
    if (sign === '+' || !lstrip || !syntax.lstripBlocks) return text;
    const line = text.lastIndexOf('\n') + 1;
    const blank = line < text.length && stripStart(text, line) === text.length;
    return (line > 0 || lineStarting) && blank ? text.slice(0, line) : text;
  };
  const signAt = (i: number): string => (source[i] === '-' || source[i] === '+' ? source[i]! : '');

  /** Length of a closing delimiter at `i` with what it consumes, or 0. */
  const closing = (i: number, end: string, plus: boolean, trim: boolean): number => {
    if (source.startsWith(end, i))
      return end.length + (trim && source[i + end.length] === '\n' ? 1 : 0);
    if (source[i] === '-' && source.startsWith(end, i + 1))
      return stripStart(source, i + 1 + end.length) - i;
    return plus && source[i] === '+' && source.startsWith(end, i + 1) ? 1 + end.length : 0;
  };

  /** Skips a comment and what its end mark consumes. */
  const comment = (): void => {
    const end = source.indexOf(syntax.commentEnd, at);
    if (end === -1) {
      // Jinja2 notices only if something follows.
      if (at < source.length) fail('Missing end of comment tag', at);
      return;
    }
    // A sign belongs to the end mark, unless the comment is too short to hold one.
    const start = end > at && (source[end - 1] === '-' || source[end - 1] === '+') ? end - 1 : end;
    at = start + closing(start, syntax.commentEnd, true, syntax.trimBlocks);
  };

  /** After {% raw %}: everything up to {% endraw %} is data. */
  function* raw(): Generator<Token> {
    for (
      let i = source.indexOf(syntax.blockStart, at);
      i !== -1;
      i = source.indexOf(syntax.blockStart, i + 1)
    ) {
      const sign = signAt(i + syntax.blockStart.length);
      let j = stripStart(source, i + syntax.blockStart.length + sign.length);
      if (!source.startsWith('endraw', j)) continue;
      j = stripStart(source, j + 6);
      const size = closing(j, syntax.blockEnd, true, syntax.trimBlocks);
      if (size === 0) continue;
      const text = before(at, i, sign, true);
      if (text !== '') yield data(text, at);
      at = j + size;
      return;
    }
    if (at < source.length) fail('Missing end of raw directive', at);
  }

  /** Inside a tag, up to its closing delimiter. */
  function* inside(kind: Opening): Generator<Token> {
    const open: { char: string; at: number }[] = [];
    for (;;) {
      if (open.length === 0) {
        const size = tagEnd(kind);
        if (size >= 0) {
          yield {
            type: kind === 'variable_begin' ? 'variable_end' : 'block_end',
            value: source.slice(at, at + size),
            at,
          };
          at += size;
          return;
        }
      }
      if (at >= source.length) return;
      const code = source.charCodeAt(at);
      if (isSpaceCode(code)) {
        at = stripStart(source, at);
        continue;
      }
      const token =
        literal() ??
        fail(
          `unexpected char ${quote(String.fromCodePoint(source.codePointAt(at)!))} at ${textLength(source.slice(0, at))}`,
          at,
        );
      if (token.type === 'operator') {
        balance(open, String(token.value), token.at);
        token.type = OPERATORS[String(token.value)]!;
      }
      yield token;
    }
  }

  function tagEnd(kind: Opening): number {
    if (kind === 'linestatement_begin') {
      const end = stripStart(source, at);
      // \s*(\n|$): white space, giving back all after its last newline.
      if (end >= source.length) return source.length - at;
      const line = source.lastIndexOf('\n', end - 1);
      return line >= at ? line + 1 - at : -1;
    }
    const size =
      kind === 'variable_begin'
        ? closing(at, syntax.variableEnd, false, false)
        : closing(at, syntax.blockEnd, true, syntax.trimBlocks);
    return size === 0 ? -1 : size;
  }

  /** A number, name, string or operator, recognized by its first character. */
  function literal(): Token | null {
    const start = at;
    const code = source.charCodeAt(at);
    if (code >= 48 && code <= 57) return number(start);
    if (isNameStart(code)) {
      const word = matchAt(NAME, source, at);
      if (word === null) return null;
      if (code >= 128 && !isIdentifier(word)) fail('Invalid character in identifier', at);
      at += word.length;
      return { type: 'name', value: word, at: start };
    }
    if (code === 34 || code === 39) {
      const text = matchAt(STRING, source, at);
      if (text === null) return null;
      at += text.length;
      try {
        return { type: 'string', value: decodeString(newline(text.slice(1, -1))), at: start };
      } catch (error) {
        throw locate(error, { templateName: name, source, offset: start });
      }
    }
    const operator = matchAt(OPERATOR, source, at);
    if (operator === null) return null;
    at += operator.length;
    return { type: 'operator', value: operator, at: start };
  }

  function number(start: number): Token {
    const fraction = matchAt(FLOAT, source, at);
    if (fraction !== null) {
      at += fraction.length;
      return { type: 'float', value: float(Number(fraction.replaceAll('_', ''))), at: start };
    }
    const integer = matchAt(INTEGER, source, at)!;
    at += integer.length;
    const value = readInt(integer.replaceAll('_', ''), 0);
    const tooLong = 'Exceeds the limit (4300 digits) for integer string conversion';
    return { type: 'integer', value: value ?? fail(tooLong, start), at: start };
  }

  function balance(open: { char: string; at: number }[], operator: string, where: number): void {
    const close = { '{': '}', '(': ')', '[': ']' }[operator];
    if (close !== undefined) open.push({ char: close, at: where });
    else if (operator === '}' || operator === ')' || operator === ']') {
      const expected = open.pop()?.char;
      if (expected === undefined) fail(`unexpected '${operator}'`, where);
      if (expected !== operator) fail(`unexpected '${operator}', expected '${expected}'`, where);
    }
  }

  while (at < source.length) {
    const found = openings.next(at);
    if (found === null) {
      yield data(source.slice(at), at);
      return;
    }
    const { kind, start, end } = found;
    const rawEnd = kind === 'block_begin' ? rawTagEnd(source, start, syntax) : -1;
    const sign =
      kind === 'linestatement_begin' || kind === 'linecomment_begin'
        ? signAt(end)
        : signAt(start + delimiter(kind, syntax).length);
    const text = before(at, start, sign, kind !== 'variable_begin' || rawEnd !== -1);
    if (text !== '') yield data(text, at);
    if (rawEnd !== -1) {
      at = rawEnd;
      lineStarting = source[at - 1] === '\n';
      yield* raw();
    } else {
      at = end + sign.length;
      lineStarting = source[at - 1] === '\n';
      if (kind === 'comment_begin') comment();
      else if (kind === 'linecomment_begin') {
        const line = source.indexOf('\n', at);
        at = line === -1 ? source.length : line;
      } else {
        yield {
          type: kind === 'variable_begin' ? 'variable_begin' : 'block_begin',
          value: source.slice(start, at),
          at: start,
        };
        yield* inside(kind);
      }
    }
    lineStarting = source[at - 1] === '\n';
  }
}

const delimiter = (kind: Opening, syntax: Syntax): string =>
  kind === 'variable_begin'
    ? syntax.variableStart
    : kind === 'block_begin'
      ? syntax.blockStart
      : syntax.commentStart;

/** End of `{% raw %}` starting at `start`, or -1. */
function rawTagEnd(source: string, start: number, syntax: Syntax): number {
  let i = start + syntax.blockStart.length;
  if (source[i] === '-' || source[i] === '+') i++;
  i = stripStart(source, i);
  if (!source.startsWith('raw', i)) return -1;
  i = stripStart(source, i + 3);
  if (source[i] === '-' && source.startsWith(syntax.blockEnd, i + 1))
    return stripStart(source, i + 1 + syntax.blockEnd.length);
  return source.startsWith(syntax.blockEnd, i) ? i + syntax.blockEnd.length : -1;
}

/**
 * Finds the next opening delimiter; each is searched for only once per occurrence, so long texts
 * stay linear.
 */
class Openings {
  private readonly source: string;
  private readonly candidates: {
    kind: Opening;
    size: number;
    find: (from: number) => [number, number] | null;
    at: [number, number] | null;
  }[] = [];

  constructor(source: string, syntax: Syntax) {
    this.source = source;
    const plain = (kind: Opening, mark: string) =>
      this.candidates.push({
        kind,
        size: mark.length,
        at: [-1, -1],
        find: (from) => {
          const at = this.source.indexOf(mark, from);
          return at === -1 ? null : [at, at + mark.length];
        },
      });
    // The order of Jinja2's rules: longest first, then by name backwards; the first of equals wins.
    plain('variable_begin', syntax.variableStart);
    const prefixed = (kind: Opening, mark: string | null, lead: string) => {
      if (mark === null) return;
      // Built from the environment's configuration, never from template text.
      const pattern = new RegExp(lead + mark.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'gm');
      this.candidates.push({
        kind,
        size: mark.length,
        at: [-1, -1],
        find: (from) => {
          pattern.lastIndex = from;
          const match = pattern.exec(this.source);
          return match === null ? null : [match.index, match.index + match[0].length];
        },
      });
    };
    prefixed('linestatement_begin', syntax.lineStatementPrefix, '^[ \\t\\v]*');
    prefixed('linecomment_begin', syntax.lineCommentPrefix, '(?:^|(?<=\\S))[^\\S\\r\\n]*');
    plain('comment_begin', syntax.commentStart);
    plain('block_begin', syntax.blockStart);
    this.candidates.sort((a, b) => b.size - a.size);
  }

  next(from: number): { kind: Opening; start: number; end: number } | null {
    let best: { kind: Opening; start: number; end: number } | null = null;
    for (const candidate of this.candidates) {
      if (candidate.at !== null && candidate.at[0] < from) candidate.at = candidate.find(from);
      if (candidate.at !== null && (best === null || candidate.at[0] < best.start))
        best = { kind: candidate.kind, start: candidate.at[0], end: candidate.at[1] };
    }
    return best;
  }
}
