// The methods of str, and those of Markup, which escape what they take in and answer Markup.
import type { Context } from '../context.ts';
import { TemplateRuntimeError, typeError, valueError } from '../errors.ts';
import { striptags, unescapeHtml } from '../filters/unescape.ts';
import { formatFields } from '../format/fields.ts';
import { isIterable, toList, truthy } from '../values/iterate.ts';
import { toIndex } from '../values/numbers.ts';
import { escapeValue } from '../values/repr.ts';
import * as text from '../values/text.ts';
import {
  Bytes,
  Dict,
  dictEntries,
  dictGet,
  isDict,
  type Kwargs,
  Markup,
  Tuple,
  typeName,
  type Value,
} from '../values/types.ts';
import { type MethodTable, type Native, native, positional, table, variadic } from './signature.ts';

/** A str argument as JavaScript string. */
function textOf(value: Value, what: string): string {
  if (typeof value === 'string') return value;
  if (value instanceof Markup) return value.text;
  throw typeError(`${what} must be str, not ${typeName(value)}`);
}
const optionalText = (value: Value, what: string): string | null =>
  value === undefined || value === null ? null : textOf(value, what);

/** Bounds of find(), count() …: slice rules, as UTF-16 offsets. */
function span(whole: string, start: Value, stop: Value): [number, number] {
  const size = text.textLength(whole);
  const clip = (value: Value, fallback: number) => {
    if (value === undefined || value === null) return fallback;
    const index = toIndex(value);
    return index < 0 ? Math.max(0, index + size) : Math.min(index, size + 1);
  };
  const from = clip(start, 0);
  const to = Math.min(clip(stop, size), size);
  return from > size
    ? [whole.length + 1, -1]
    : [text.unitOffset(whole, from), text.unitOffset(whole, to)];
}

function find(
  ctx: Context,
  whole: string,
  sub: Value,
  start: Value,
  stop: Value,
  last: boolean,
): number {
  const needle = textOf(sub, 'argument');
  const [from, to] = span(whole, start, stop);
  ctx.budget.scan(whole.length);
  if (to - from < needle.length) return -1;
  const part = whole.slice(from, to);
  const at = last ? part.lastIndexOf(needle) : part.indexOf(needle);
  return at === -1 ? -1 : text.pointIndex(whole, from + at);
}

function index(
  ctx: Context,
  whole: string,
  sub: Value,
  start: Value,
  stop: Value,
  last: boolean,
): number {
  const at = find(ctx, whole, sub, start, stop, last);
  if (at === -1) throw valueError('substring not found');
  return at;
}

export function count(ctx: Context, whole: string, needle: string): number {
  ctx.budget.scan(whole.length);
  if (needle === '') return text.textLength(whole) + 1;
  let found = 0;
  for (let at = whole.indexOf(needle); at !== -1; at = whole.indexOf(needle, at + needle.length))
    found++;
  return found;
}

export function replace(
  ctx: Context,
  whole: string,
  old: string,
  replacement: string,
  limit: number,
): string {
  const { budget } = ctx;
  budget.scan(whole.length);
  if (limit === 0) return whole;
  if (old === '') {
    const points = text.codePoints(whole);
    const times = limit < 0 ? points.length + 1 : Math.min(limit, points.length + 1);
    budget.text(whole.length + times * replacement.length);
    return (
      points.map((c, i) => (i < times ? replacement + c : c)).join('') +
      (times > points.length ? replacement : '')
    );
  }
  const times = Math.min(count(ctx, whole, old), limit < 0 ? Number.MAX_SAFE_INTEGER : limit);
  if (times === 0) return whole;
  budget.text(whole.length + times * (replacement.length - old.length));
  if (limit < 0) return whole.replaceAll(old, () => replacement);
  let out = '';
  let at = 0;
  for (let i = 0; i < times; i++) {
    const next = whole.indexOf(old, at);
    out += whole.slice(at, next) + replacement;
    at = next + old.length;
  }
  return out + whole.slice(at);
}

function separator(sep: Value): string {
  if (typeof sep !== 'string' && !(sep instanceof Markup))
    throw typeError(`must be str or None, not ${typeName(sep)}`);
  if (String(sep) === '') throw valueError('empty separator');
  return String(sep);
}

function split(ctx: Context, whole: string, sep: Value, maxsplit: Value): string[] {
  const limit = maxsplit === undefined ? -1 : toIndex(maxsplit);
  ctx.budget.list(whole.length >> 2);
  if (sep === undefined || sep === null) return splitSpace(whole, limit);
  const mark = separator(sep);
  const parts = whole.split(mark);
  if (limit >= 0 && parts.length > limit + 1)
    parts.splice(limit, parts.length, parts.slice(limit).join(mark));
  return parts;
}

function splitSpace(whole: string, limit: number): string[] {
  if (limit < 0) return text.splitWords(whole);
  const parts: string[] = [];
  let at = text.stripStart(whole);
  while (at < whole.length) {
    if (parts.length === limit) {
      parts.push(whole.slice(at));
      break;
    }
    let end = at;
    while (end < whole.length && !text.isSpaceCode(whole.charCodeAt(end))) end++;
    parts.push(whole.slice(at, end));
    at = text.stripStart(whole, end);
  }
  return parts;
}

function rsplit(ctx: Context, whole: string, sep: Value, maxsplit: Value): string[] {
  const limit = maxsplit === undefined ? -1 : toIndex(maxsplit);
  if (limit < 0) return split(ctx, whole, sep, -1);
  ctx.budget.list(whole.length >> 2);
  const parts: string[] = [];
  if (sep === undefined || sep === null) {
    let end = text.stripEnd(whole);
    while (end > 0) {
      if (parts.length === limit) {
        parts.push(whole.slice(0, end));
        break;
      }
      let start = end;
      while (start > 0 && !text.isSpaceCode(whole.charCodeAt(start - 1))) start--;
      parts.push(whole.slice(start, end));
      end = text.stripEnd(whole.slice(0, start));
    }
    return parts.reverse();
  }
  const mark = separator(sep);
  const all = whole.split(mark);
  if (all.length <= limit + 1) return all;
  return [all.slice(0, all.length - limit).join(mark), ...all.slice(all.length - limit)];
}

/** strip(chars), at one end or both. */
function trim(whole: string, chars: Value, left: boolean, right: boolean): string {
  const set = optionalText(chars, 'strip arg');
  let start = 0;
  let end = whole.length;
  if (set === null) {
    if (left) start = text.stripStart(whole);
    if (right) end = text.stripEnd(whole, start);
    return whole.slice(start, end);
  }
  const points = text.codePoints(whole);
  const wanted = new Set(text.codePoints(set));
  end = points.length;
  if (left) while (start < end && wanted.has(points[start]!)) start++;
  if (right) while (end > start && wanted.has(points[end - 1]!)) end--;
  return points.slice(start, end).join('');
}

function pad(
  ctx: Context,
  whole: string,
  width: Value,
  fill: Value,
  align: 'left' | 'right' | 'center',
): string {
  const char = fill === undefined ? ' ' : textOf(fill, 'The fill character');
  if (text.textLength(char) !== 1)
    throw typeError('The fill character must be exactly one character long');
  const size = toIndex(width);
  const missing = size - text.textLength(whole);
  if (missing <= 0) return whole;
  ctx.budget.text(whole.length + missing);
  if (align === 'left') return whole + char.repeat(missing);
  if (align === 'right') return char.repeat(missing) + whole;
  // CPython puts the odd blank on the left when the width is odd.
  const before = (missing >> 1) + (missing & size & 1);
  return char.repeat(before) + whole + char.repeat(missing - before);
}

export const center = (ctx: Context, whole: string, width: Value): string =>
  pad(ctx, whole, width, undefined, 'center');

function zfill(ctx: Context, whole: string, width: Value): string {
  const missing = toIndex(width) - text.textLength(whole);
  if (missing <= 0) return whole;
  ctx.budget.text(whole.length + missing);
  const signed = whole[0] === '+' || whole[0] === '-';
  return signed ? whole[0] + '0'.repeat(missing) + whole.slice(1) : '0'.repeat(missing) + whole;
}

function affix(
  ctx: Context,
  whole: string,
  wanted: Value,
  start: Value,
  stop: Value,
  name: string,
): boolean {
  if (wanted instanceof Tuple)
    return wanted.items.some((item) => affix(ctx, whole, item, start, stop, name));
  if (typeof wanted !== 'string' && !(wanted instanceof Markup))
    throw typeError(`${name} first arg must be str or a tuple of str, not ${typeName(wanted)}`);
  ctx.budget.scan(whole.length);
  const [from, to] = span(whole, start, stop);
  if (from > whole.length || to < from) return false;
  const part = whole.slice(from, to);
  return name === 'startswith' ? part.startsWith(String(wanted)) : part.endsWith(String(wanted));
}

function expandTabs(ctx: Context, whole: string, tabsize: Value): string {
  const size = tabsize === undefined ? 8 : toIndex(tabsize);
  let out = '';
  let column = 0;
  for (const char of whole) {
    if (char === '\t') {
      const blanks = size > 0 ? size - (column % size) : 0;
      ctx.budget.text(out.length + blanks);
      out += ' '.repeat(blanks);
      column += blanks;
    } else {
      out += char;
      column = char === '\n' || char === '\r' ? 0 : column + 1;
    }
  }
  return out;
}

/** str.maketrans(): the table translate() takes, from a dict or from letters and what becomes of them. */
function translationTable(ctx: Context, from: Value, to?: Value, drop?: Value): Dict {
  const made = new Dict();
  const codes = (value: Value, i: number) => {
    const whole = textOf(value, `maketrans() argument ${i}`);
    ctx.budget.list(whole.length);
    return Array.from(whole, (char) => char.codePointAt(0)!);
  };
  if (to === undefined) {
    if (!isDict(from))
      throw typeError('if you give only one argument to maketrans it must be a dict');
    for (const [key, value] of dictEntries(from)) {
      ctx.budget.step(4);
      if (typeof key !== 'string') made.set(key, value);
      else if (text.textLength(key) === 1) made.set(key.codePointAt(0)!, value);
      else throw valueError('string keys in translate table must be of length 1');
    }
    return made;
  }
  if (typeof from !== 'string')
    throw typeError('first maketrans argument must be a string if there is a second argument');
  const source = codes(from, 1);
  const target = codes(to, 2);
  if (source.length !== target.length)
    throw valueError('the first two maketrans arguments must have equal length');
  for (const [i, code] of source.entries()) made.set(code, target[i]);
  if (drop !== undefined) for (const code of codes(drop, 3)) made.set(code, null);
  return made;
}

function translate(ctx: Context, whole: string, map: Value): string {
  if (!isDict(map)) throw typeError(`'${typeName(map)}' object is not subscriptable`);
  ctx.budget.step(whole.length);
  let out = '';
  for (const char of whole) {
    const to = dictGet(map, char.codePointAt(0)!);
    if (to === undefined) out += char;
    else if (typeof to === 'number') out += String.fromCodePoint(to);
    else if (to !== null) out += textOf(to, 'character mapping');
    ctx.budget.text(out.length >> 6);
  }
  return out;
}

/** join(), each item passed through `convert` (escaping for Markup). */
export function joinTexts(
  ctx: Context,
  mark: string,
  values: Value,
  convert: (item: Value, i: number) => string,
): string {
  if (!isIterable(values)) throw typeError('can only join an iterable');
  const items = toList(ctx.budget, values);
  const parts = items.map(convert);
  let size = mark.length * Math.max(0, parts.length - 1);
  for (const part of parts) size += part.length;
  ctx.budget.text(size);
  return parts.join(mark);
}
const strictItem = (item: Value, i: number): string => {
  if (typeof item === 'string') return item;
  if (item instanceof Markup) return item.text;
  throw typeError(`sequence item ${i}: expected str instance, ${typeName(item)} found`);
};

/** str.join: the answer is Markup when one of the joined strings is Markup and nothing else asks for it in Python: never. */
const join = (ctx: Context, mark: string, values: Value): string =>
  joinTexts(ctx, mark, values, strictItem);

function partition(ctx: Context, whole: string, sep: Value, last: boolean): string[] {
  const mark = textOf(sep, 'separator');
  if (mark === '') throw valueError('empty separator');
  ctx.budget.scan(whole.length);
  const at = last ? whole.lastIndexOf(mark) : whole.indexOf(mark);
  if (at === -1) return last ? ['', '', whole] : [whole, '', ''];
  return [whole.slice(0, at), mark, whole.slice(at + mark.length)];
}

const sized = (ctx: Context, result: string): string => {
  ctx.budget.text(result.length);
  return result;
};
/** Texts a method makes a new one of must be within the limit themselves. */
const paid = (ctx: Context, self: string): string => {
  ctx.budget.text(self.length);
  return self;
};
/** Some methods look at every character with care, and cost accordingly. */
const slow = (ctx: Context, self: string): string => {
  ctx.budget.step(self.length >> 1);
  return self;
};
const asText = (self: string | Markup): string => (typeof self === 'string' ? self : self.text);

/** Methods whose answer is text; on Markup they answer Markup. `escaped` lists the arguments Markup escapes first. */
const textMethods: Record<string, { fn: Native; escaped?: number }> = {
  capitalize: { fn: positional('', (ctx, s: string) => sized(ctx, text.capitalize(s))) },
  casefold: { fn: positional('', (ctx, s: string) => sized(ctx, text.casefold(slow(ctx, s)))) },
  center: {
    fn: positional('width ? fillchar', (ctx, s: string, w, f) => pad(ctx, s, w, f, 'center')),
    escaped: 1,
  },
  expandtabs: { fn: native('? tabsize', expandTabs) },
  ljust: {
    fn: positional('width ? fillchar', (ctx, s: string, w, f) => pad(ctx, s, w, f, 'left')),
    escaped: 1,
  },
  lower: { fn: positional('', (ctx, s: string) => sized(ctx, s.toLowerCase())) },
  lstrip: { fn: positional('? chars', (_ctx, s: string, chars) => trim(s, chars, true, false)) },
  removeprefix: {
    fn: positional('prefix', (_ctx, s: string, p) =>
      s.startsWith(textOf(p, 'argument')) ? s.slice(textOf(p, '').length) : s,
    ),
  },
  removesuffix: {
    fn: positional('suffix', (_ctx, s: string, p) => {
      const suffix = textOf(p, 'argument');
      return suffix !== '' && s.endsWith(suffix) ? s.slice(0, -suffix.length) : s;
    }),
  },
  replace: {
    fn: positional('old new ? count', (ctx, s: string, old, replacement, limit) =>
      replace(
        ctx,
        s,
        textOf(old, 'replace() argument 1'),
        textOf(replacement, 'replace() argument 2'),
        limit === undefined ? -1 : toIndex(limit),
      ),
    ),
    escaped: 1,
  },
  rjust: {
    fn: positional('width ? fillchar', (ctx, s: string, w, f) => pad(ctx, s, w, f, 'right')),
    escaped: 1,
  },
  rstrip: { fn: positional('? chars', (_ctx, s: string, chars) => trim(s, chars, false, true)) },
  strip: { fn: positional('? chars', (_ctx, s: string, chars) => trim(s, chars, true, true)) },
  swapcase: { fn: positional('', (ctx, s: string) => sized(ctx, text.swapcase(slow(ctx, s)))) },
  title: { fn: positional('', (ctx, s: string) => sized(ctx, text.titleWords(slow(ctx, s)))) },
  translate: { fn: positional('table', translate) },
  upper: { fn: positional('', (ctx, s: string) => sized(ctx, s.toUpperCase())) },
  zfill: { fn: positional('width', zfill) },
};

/** Methods whose answer is a list or tuple of texts. */
const partMethods: Record<string, { fn: Native; tuple?: boolean }> = {
  split: { fn: native('? sep maxsplit', split) },
  rsplit: { fn: native('? sep maxsplit', rsplit) },
  splitlines: {
    fn: native('? keepends', (ctx, s: string, keep: Value = false) => {
      ctx.budget.list(s.length >> 2);
      return text.splitLines(s, truthy(keep));
    }),
  },
  partition: {
    fn: positional('sep', (ctx, s: string, sep) => partition(ctx, s, sep, false)),
    tuple: true,
  },
  rpartition: {
    fn: positional('sep', (ctx, s: string, sep) => partition(ctx, s, sep, true)),
    tuple: true,
  },
};

const predicate = (test: (text: string) => boolean): Native =>
  positional('', (ctx, self: string | Markup) => {
    ctx.budget.step(asText(self).length >> 3);
    return test(asText(self));
  });

/** Methods that answer something else, the same on str and Markup. */
const shared: Record<string, Native> = {
  count: positional('sub ? start end', (ctx, self, sub, start, end) => {
    const whole = asText(self);
    const [from, to] = span(whole, start, end);
    return to < from ? 0 : count(ctx, whole.slice(from, to), textOf(sub, 'argument'));
  }),
  encode: native('? encoding errors', encode),
  endswith: positional('suffix ? start end', (ctx, self, wanted, start, end) =>
    affix(ctx, asText(self), wanted, start, end, 'endswith'),
  ),
  find: positional('sub ? start end', (ctx, self, sub, start, end) =>
    find(ctx, asText(self), sub, start, end, false),
  ),
  index: positional('sub ? start end', (ctx, self, sub, start, end) =>
    index(ctx, asText(self), sub, start, end, false),
  ),
  isalnum: predicate(text.isAlnum),
  isalpha: predicate(text.isAlpha),
  isascii: predicate(text.isAscii),
  isdecimal: predicate(text.isDecimal),
  isdigit: predicate(text.isDigit),
  isidentifier: predicate(text.isIdentifier),
  islower: predicate(text.isLower),
  isnumeric: predicate(text.isNumeric),
  isprintable: predicate(text.isPrintable),
  isspace: predicate(text.isSpace),
  istitle: positional('', (ctx, self: string | Markup) => text.isTitle(slow(ctx, asText(self)))),
  isupper: predicate(text.isUpper),
  maketrans: positional('x ? y z', (ctx, _self, from, to, drop) =>
    translationTable(ctx, from, to, drop),
  ),
  rfind: positional('sub ? start end', (ctx, self, sub, start, end) =>
    find(ctx, asText(self), sub, start, end, true),
  ),
  rindex: positional('sub ? start end', (ctx, self, sub, start, end) =>
    index(ctx, asText(self), sub, start, end, true),
  ),
  startswith: positional('prefix ? start end', (ctx, self, wanted, start, end) =>
    affix(ctx, asText(self), wanted, start, end, 'startswith'),
  ),
};

function encode(
  ctx: Context,
  self: string | Markup,
  encoding: Value = 'utf-8',
  errors: Value = 'strict',
): Value {
  const whole = asText(self);
  ctx.budget.text(whole.length * 4);
  const name = textOf(encoding, 'encode() argument').toLowerCase().replaceAll('_', '-');
  if (name === 'utf-8' || name === 'utf8') return new Bytes(new TextEncoder().encode(whole));
  const limit = ENCODINGS[name];
  if (limit === undefined)
    throw new TemplateRuntimeError(`unknown encoding: ${encoding}`, 'LookupError');
  const bytes: number[] = [];
  for (const char of whole) {
    const code = char.codePointAt(0)!;
    if (code <= limit) bytes.push(code);
    else if (errors === 'replace') bytes.push(63);
    else if (errors !== 'ignore')
      throw new TemplateRuntimeError(
        `'${name}' codec can't encode character: ordinal not in range(${limit + 1})`,
        'UnicodeEncodeError',
      );
  }
  return new Bytes(Uint8Array.from(bytes));
}
const ENCODINGS: Record<string, number> = {
  ascii: 127,
  'us-ascii': 127,
  'latin-1': 255,
  latin1: 255,
  'iso-8859-1': 255,
};

export const bytesMethods: MethodTable = table({
  decode: native('? encoding errors', (ctx, bytes: Bytes, encoding: Value = 'utf-8') => {
    ctx.budget.text(bytes.data.length);
    return new TextDecoder(
      textOf(encoding, 'decode() argument') === 'utf-8' ? 'utf-8' : 'latin1',
    ).decode(bytes.data);
  }),
  hex: positional('', (ctx, bytes: Bytes) => {
    ctx.budget.text(bytes.data.length * 2);
    return Buffer.from(bytes.data).toString('hex');
  }),
});

const pick = <T>(
  methods: Record<string, { fn: Native } & T>,
  wrap: (fn: Native, entry: T, name: string) => Native,
): Record<string, Native> =>
  Object.fromEntries(
    Object.entries(methods).map(([name, entry]) => [name, wrap(entry.fn, entry, name)]),
  );

export const strMethods: MethodTable = table({
  ...shared,
  ...pick(textMethods, (fn) => ({
    ...fn,
    run: (ctx, self, ...args) => fn.run(ctx, paid(ctx, self), ...args),
  })),
  ...pick(partMethods, (fn, entry) => ({
    ...fn,
    run: (ctx, self, ...args) =>
      parts(fn.run(ctx, paid(ctx, self), ...args), entry.tuple, (p) => p),
  })),
  join: positional('iterable', join),
  format: variadic((ctx, self: string, args: Value[], kwargs: Kwargs | null) =>
    formatFields(ctx, self, args, kwargs, false),
  ),
  format_map: positional('mapping', (ctx, self: string, mapping) =>
    formatFields(ctx, self, [], mapping, false),
  ),
});

const parts = (list: Value, tuple: boolean | undefined, wrap: (part: string) => Value): Value => {
  const items = (list as string[]).map(wrap);
  return tuple ? new Tuple(items) : items;
};

export const markupMethods: MethodTable = table({
  ...Object.fromEntries(
    Object.entries(shared).map(([name, fn]) => [name, { ...fn, shared: true }]),
  ),
  ...pick(textMethods, (fn, { escaped }, name) => ({
    ...fn,
    python: { name: `Markup.${name}`, hidden: 1 },
    run: (ctx, self: Markup, ...args) => {
      if (escaped !== undefined && args[escaped] !== undefined)
        args[escaped] = escapeValue(ctx.budget, args[escaped]);
      return new Markup(fn.run(ctx, paid(ctx, self.text), ...args) as string);
    },
  })),
  ...pick(partMethods, (fn, entry) => ({
    ...fn,
    run: (ctx, self: Markup, ...args) =>
      parts(fn.run(ctx, paid(ctx, self.text), ...args), entry.tuple, (p) => new Markup(p)),
  })),
  join: positional(
    'iterable',
    (ctx, self: Markup, values) =>
      new Markup(joinTexts(ctx, self.text, values, (item) => escapeValue(ctx.budget, item))),
  ),
  format: variadic(
    (ctx, self: Markup, args: Value[], kwargs: Kwargs | null) =>
      new Markup(String(formatFields(ctx, self.text, args, kwargs, true))),
  ),
  format_map: positional(
    'mapping',
    (ctx, self: Markup, mapping) =>
      new Markup(String(formatFields(ctx, self.text, [], mapping, true))),
  ),
  unescape: positional('', (ctx, self: Markup) => {
    ctx.budget.step(self.text.length >> 3);
    return unescapeHtml(self.text);
  }),
  striptags: positional('', (ctx, self: Markup) => striptags(ctx.budget, self.text)),
  escape: positional(
    's',
    (ctx, _self: Markup, value) => new Markup(escapeValue(ctx.budget, value)),
  ),
});
