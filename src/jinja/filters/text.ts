// The filters that work on text: case, padding, wrapping, replacing, trimming.

import { attributeError, filterArgumentError, TemplateRuntimeError, typeError } from '../errors.ts';
import { formatPercent } from '../format/percent.ts';
import { native, variadic } from '../methods/signature.ts';
import { replace } from '../methods/str-search.ts';
import { center } from '../methods/str-shape.ts';
import type { Context, Native } from '../running.ts';
import { slice } from '../values/access.ts';
import { ordered } from '../values/compare.ts';
import { Dict } from '../values/dict.ts';
import { length, truthy } from '../values/iterate.ts';
import { toIndex } from '../values/numbers.ts';
import { add, multiply, subtract } from '../values/operators.ts';
import { escapeLongText, escapeValue, isHtml, str } from '../values/repr.ts';
import * as text from '../values/text.ts';
import { type Kwargs, Markup, Tuple, typeName, type Value } from '../values/types.ts';
import { Undefined } from '../values/undefined.ts';
import { wrap } from './textwrap.ts';
import { striptags } from './unescape.ts';

/** soft_str: text stays as it is, including Markup. */
export const soft = (ctx: Context, value: Value): string | Markup =>
  typeof value === 'string' || value instanceof Markup ? value : str(ctx.budget, value);

/** Applies a change of text, keeping Markup Markup. */
function change(ctx: Context, value: Value, fn: (text: string) => string): string | Markup {
  const given = soft(ctx, value);
  const whole = typeof given === 'string' ? given : given.text;
  ctx.budget.text(whole.length);
  const changed = fn(whole);
  if (changed.length > whole.length) ctx.budget.text(changed.length);
  return typeof given === 'string' ? changed : new Markup(changed);
}

/** What is between white space, hyphens and opening brackets, which have no case. */
const TITLE_WORD =
  /[^-\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000({[<]+/g;

function title(ctx: Context, value: Value): string {
  const whole = String(soft(ctx, value));
  ctx.budget.text(whole.length);
  ctx.budget.step(whole.length >> 2);
  return whole.replace(TITLE_WORD, (word) => {
    const first = String.fromCodePoint(word.codePointAt(0)!);
    return first.toUpperCase() + word.slice(first.length).toLowerCase();
  });
}

const indention = (ctx: Context, width: Value): string =>
  typeof width === 'string' || width instanceof Markup
    ? String(width)
    : (multiply(ctx.budget, ' ', width) as string);

function indent(
  ctx: Context,
  value: Value,
  width: Value = 4,
  first: Value = false,
  blank: Value = false,
): Value {
  const { budget } = ctx;
  const by = indention(ctx, width);
  if (value instanceof Undefined) return value.fail();
  const markup = value instanceof Markup;
  if (typeof value !== 'string' && !markup) {
    // Python's `list += "\n"` works; only then is splitlines found missing.
    if (Array.isArray(value)) throw attributeError("'list' object has no attribute 'splitlines'");
    if (value instanceof Tuple) throw typeError('can only concatenate tuple (not "str") to tuple');
    throw typeError(`unsupported operand type(s) for +=: '${typeName(value)}' and 'str'`);
  }
  budget.text(String(value).length);
  const lines = text.splitLines(`${String(value)}\n`);
  budget.step(lines.length);
  budget.text(String(value).length + lines.length * by.length);
  const all = truthy(blank);
  // Markup before plain text escapes it and makes the whole Markup; str.join then returns plain
  // text, Markup.join does not.
  const escapes = width instanceof Markup && !markup;
  const escaped = (line: string) => (escapes ? escapeLongText(budget, line) : line);
  const body = lines
    .map((line, i) => {
      if (i === 0) return all ? escaped(line) : line;
      return all || line !== '' ? by + escaped(line) : line;
    })
    .join('\n');
  budget.text(body.length);
  const isMarkup = markup || (escapes && all);
  if (!truthy(first)) return isMarkup ? new Markup(body) : body;
  const result = by + (isMarkup ? body : escaped(body));
  return isMarkup || escapes ? new Markup(result) : result;
}

function truncate(
  ctx: Context,
  value: Value,
  size: Value = 255,
  killwords: Value = false,
  end: Value = '...',
  leeway?: Value,
): Value {
  const { budget } = ctx;
  const slack = leeway === undefined || leeway === null ? 5 : leeway;
  const endLength = length(budget, end);
  const atLeast = (what: string, given: Value, least: number) => {
    if (!ordered(budget, '>=', given, least))
      throw new TemplateRuntimeError(
        `expected ${what} >= ${least}, got ${str(budget, given)}`,
        'AssertionError',
      );
  };
  atLeast('length', size, endLength);
  atLeast('leeway', slack, 0);
  if (ordered(budget, '<=', length(budget, value), add(budget, size, slack))) return value;
  const cut = slice(ctx, value, null, subtract(budget, size, endLength), null);
  if (truthy(killwords)) return add(budget, cut, end);
  if (typeof cut !== 'string' && !(cut instanceof Markup))
    throw attributeError(`'${typeName(cut)}' object has no attribute 'rsplit'`);
  const whole = String(cut);
  const space = whole.lastIndexOf(' ');
  const kept = space === -1 ? whole : whole.slice(0, space);
  return add(budget, typeof cut === 'string' ? kept : new Markup(kept), end);
}

function wordwrap(
  ctx: Context,
  value: Value,
  width: Value = 79,
  breakLongWords: Value = true,
  wrapstring?: Value,
  breakOnHyphens: Value = true,
): Value {
  const glue =
    wrapstring === undefined || wrapstring === null ? ctx.env.newlineSequence : wrapstring;
  for (const [given, method] of [
    [glue, 'join'],
    [value, 'splitlines'],
  ]) {
    if (given instanceof Undefined) return given.fail();
    if (typeof given !== 'string' && !(given instanceof Markup))
      throw attributeError(`'${typeName(given)}' object has no attribute '${method}'`);
  }
  const whole = String(value);
  ctx.budget.text(whole.length * 2);
  const lines = text
    .splitLines(whole)
    .map((line) => wrap(ctx.budget, line, width, truthy(breakLongWords), breakOnHyphens));
  const markup = glue instanceof Markup;
  const mark = String(glue);
  // The inner join escapes pieces for a Markup separator; the outer one sees Markup already.
  const pieces = lines.map((line) =>
    markup ? line.map((piece) => escapeLongText(ctx.budget, piece)) : line,
  );
  let total = mark.length * lines.length;
  for (const line of pieces) for (const piece of line) total += piece.length + mark.length;
  ctx.budget.text(total);
  const wrapped = pieces.map((line) => line.join(mark)).join(mark);
  return markup ? new Markup(wrapped) : wrapped;
}

function replaceFilter(
  ctx: Context,
  value: Value,
  old: Value,
  replacement: Value,
  count?: Value,
): Value {
  const { budget } = ctx;
  const limit = count === undefined || count === null ? -1 : toIndex(count);
  if (!ctx.evalCtx.autoescape)
    return replace(ctx, str(budget, value), str(budget, old), str(budget, replacement), limit);
  let subject: string | Markup;
  if (isHtml(old) || (isHtml(replacement) && !isHtml(value)))
    subject = new Markup(escapeValue(budget, value));
  else subject = soft(ctx, value);
  const from = String(soft(ctx, old));
  const to = soft(ctx, replacement);
  if (typeof subject === 'string') return replace(ctx, subject, from, String(to), limit);
  return new Markup(replace(ctx, subject.text, from, escapeValue(budget, to), limit));
}

function formatFilter(ctx: Context, value: Value, args: Value[], kwargs: Kwargs | null): Value {
  if (args.length > 0 && kwargs !== null && kwargs.size > 0)
    throw filterArgumentError("can't handle positional and keyword arguments at the same time");
  let values: Value = new Tuple(args);
  if (kwargs !== null && kwargs.size > 0) {
    const dict = new Dict();
    for (const [key, item] of kwargs) dict.set(key, item);
    values = dict;
  }
  const template = soft(ctx, value);
  if (typeof template === 'string') return formatPercent(ctx.budget, template, values, false);
  return new Markup(formatPercent(ctx.budget, template.text, values, true));
}

function trim(ctx: Context, value: Value, chars?: Value): Value {
  const given = soft(ctx, value);
  const method = ctx.attributeOf(given, 'strip') as {
    call(ctx: Context, args: Value[], kwargs: null): Value;
  };
  return method.call(ctx, chars === undefined ? [] : [chars], null);
}

const html = (value: Value, ctx: Context): string =>
  isHtml(value) ? escapeValue(ctx.budget, value) : str(ctx.budget, value);

const escapeFilter = native('', (ctx, value) => {
  const escaped = escapeValue(ctx.budget, value);
  ctx.budget.text(escaped.length);
  return new Markup(escaped);
});

export const textFilters: Record<string, Native> = {
  capitalize: native('', (ctx, value) => change(ctx, value, text.capitalize)),
  center: native('? width', (ctx, value, width = 80) => {
    const given = soft(ctx, value);
    return typeof given === 'string'
      ? center(ctx, given, width)
      : new Markup(center(ctx, given.text, width));
  }),
  e: escapeFilter,
  escape: escapeFilter,
  forceescape: native('', (ctx, value) => new Markup(escapeLongText(ctx.budget, html(value, ctx)))),
  format: variadic(formatFilter),
  indent: native('? width first blank', indent),
  lower: native('', (ctx, value) => change(ctx, value, (s) => s.toLowerCase())),
  replace: native('old new ? count', replaceFilter),
  safe: native('', (ctx, value) =>
    value instanceof Markup ? value : new Markup(html(value, ctx)),
  ),
  string: native('', soft),
  striptags: native('', (ctx, value) => striptags(ctx.budget, html(value, ctx))),
  title: native('', title),
  trim: native('? chars', trim),
  truncate: native('? length killwords end leeway', truncate),
  upper: native('', (ctx, value) => change(ctx, value, (s) => s.toUpperCase())),
  wordcount: native('', (ctx, value) => {
    const whole = String(soft(ctx, value));
    ctx.budget.text(whole.length);
    return whole.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0;
  }),
  wordwrap: native('? width break_long_words wrapstring break_on_hyphens', wordwrap),
};
