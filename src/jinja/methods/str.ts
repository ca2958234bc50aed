// The methods of str, and those of Markup, which escape their arguments and return Markup. The work
// is done in str-search.ts, str-parts.ts and str-shape.ts.

import { striptags, unescapeHtml } from '../filters/unescape.ts';
import { formatFields } from '../format/fields.ts';
import type { Context, Native } from '../running.ts';
import { toIndex } from '../values/numbers.ts';
import { escapeValue } from '../values/repr.ts';
import * as text from '../values/text.ts';
import { type Kwargs, Markup, Tuple, type Value } from '../values/types.ts';
import { encode } from './bytes.ts';
import { type MethodTable, native, positional, table, variadic } from './signature.ts';
import { join, joinTexts, partition, rsplit, split } from './str-parts.ts';
import { affix, asText, count, find, index, replace, span, textOf } from './str-search.ts';
import { expandTabs, pad, translate, translationTable, trim, zfill } from './str-shape.ts';

const sized = (ctx: Context, result: string): string => {
  ctx.budget.text(result.length);
  return result;
};
/** A text from which a method makes a new one must be within the limit itself. */
const paid = (ctx: Context, self: string): string => {
  ctx.budget.text(self.length);
  return self;
};
/** Some methods treat every character beyond ASCII individually, and cost accordingly. */
const slow = (ctx: Context, self: string): string => {
  ctx.budget.step(text.isAscii(self) ? self.length >> 3 : self.length * 2);
  return self;
};

/**
 * Methods that return text; on Markup they return Markup. `escaped` lists the arguments Markup
 * escapes first.
 */
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
  lstrip: {
    fn: positional('? chars', (ctx, s: string, chars) => trim(ctx, s, chars, true, false)),
  },
  removeprefix: {
    fn: positional('prefix', (_ctx, s: string, p) =>
      s.startsWith(textOf(p, 'removeprefix() argument')) ? s.slice(textOf(p, '').length) : s,
    ),
  },
  removesuffix: {
    fn: positional('suffix', (_ctx, s: string, p) => {
      const suffix = textOf(p, 'removesuffix() argument');
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
  rstrip: {
    fn: positional('? chars', (ctx, s: string, chars) => trim(ctx, s, chars, false, true)),
  },
  strip: { fn: positional('? chars', (ctx, s: string, chars) => trim(ctx, s, chars, true, true)) },
  swapcase: { fn: positional('', (ctx, s: string) => sized(ctx, text.swapcase(slow(ctx, s)))) },
  title: { fn: positional('', (ctx, s: string) => sized(ctx, text.titleWords(slow(ctx, s)))) },
  translate: { fn: positional('table', translate) },
  upper: { fn: positional('', (ctx, s: string) => sized(ctx, s.toUpperCase())) },
  zfill: { fn: positional('width', zfill) },
};

/** Methods that return a list or tuple of texts. */
const partMethods: Record<string, { fn: Native; tuple?: boolean }> = {
  split: { fn: native('? sep maxsplit', split) },
  rsplit: { fn: native('? sep maxsplit', rsplit) },
  splitlines: {
    fn: native('? keepends', (ctx, s: string, keep: Value = false) => {
      ctx.budget.step(s.length >> 2);
      return text.splitLines(s, toIndex(keep) !== 0);
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

/** Methods that return something else, the same on str and Markup. */
const shared: Record<string, Native> = {
  count: positional('sub ? start end', (ctx, self, sub, start, end) => {
    const whole = asText(self);
    ctx.budget.measure(whole);
    const needle = textOf(sub, '');
    const [from, to] = span(whole, start, end);
    return to < from ? 0 : count(ctx, whole.slice(from, to), needle);
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
      parts(ctx, fn.run(ctx, paid(ctx, self), ...args), entry.tuple, (p) => p),
  })),
  join: positional('iterable', join),
  format: variadic((ctx, self: string, args: Value[], kwargs: Kwargs | null) =>
    formatFields(ctx, self, args, kwargs, false),
  ),
  format_map: positional('mapping', (ctx, self: string, mapping) =>
    formatFields(ctx, self, [], mapping, false),
  ),
});

const parts = (
  ctx: Context,
  list: Value,
  tuple: boolean | undefined,
  wrap: (part: string) => Value,
): Value => {
  ctx.budget.list((list as string[]).length);
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
      parts(ctx, fn.run(ctx, paid(ctx, self.text), ...args), entry.tuple, (p) => new Markup(p)),
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
    ctx.budget.text(self.text.length);
    ctx.budget.step(self.text.length >> 3);
    return unescapeHtml(self.text);
  }),
  striptags: positional('', (ctx, self: Markup) => striptags(ctx.budget, self.text)),
  escape: positional(
    's',
    (ctx, _self: Markup, value) => new Markup(escapeValue(ctx.budget, value)),
  ),
});
