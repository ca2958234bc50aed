// Dates, numbers and amounts as people of a language write them: the filters date, number and
// money, by Intl. Before it: email-template.ts registers them. After it: text in an email.
//
// What they cannot read they leave as it is: an amount that the sender wrote out stays as written.
import {
  type Context,
  Float,
  Markup,
  type Native,
  native,
  TemplateRuntimeError,
  type Value,
} from '../jinja/index.ts';
import { LAST_RESORT, languageOf } from './locales.ts';

/** Making one takes up to a millisecond; there are few, unless someone tries to make many. */
const MOST_FORMATS = 500;
const formats = new Map<string, unknown>();

function remembered<Format>(kind: string, locale: string, options: object, make: () => Format) {
  const name = `${kind} ${locale} ${JSON.stringify(options)}`;
  const known = formats.get(name) as Format | undefined;
  if (known !== undefined) return known;
  if (formats.size >= MOST_FORMATS) formats.clear();
  const made = make();
  formats.set(name, made);
  return made;
}

export const numberFormat = (locale: string, options: Intl.NumberFormatOptions) =>
  remembered('number', locale, options, () => new Intl.NumberFormat(locale, options));

const dateFormat = (locale: string, options: Intl.DateTimeFormatOptions) =>
  remembered('date', locale, options, () => new Intl.DateTimeFormat(locale, options));

export const pluralRules = (locale: string): Intl.PluralRules =>
  remembered('plural', locale, {}, () => new Intl.PluralRules(locale));

/** What formatting a number costs, in steps of the budget: as much as a long line of text. */
const STEPS = 40;

const localeOf = (ctx: Context): string => {
  const locale = ctx.modules.globals.get('locale');
  return typeof locale === 'string' ? locale : LAST_RESORT;
};

function number(ctx: Context, value: Value, digits: Value): Value {
  const amount = readNumber(value);
  if (amount === undefined) return value;
  ctx.budget.step(STEPS);
  const exact = readDigits(digits);
  return numberFormat(
    localeOf(ctx),
    exact === undefined ? {} : { minimumFractionDigits: exact, maximumFractionDigits: exact },
  ).format(amount);
}

function money(ctx: Context, value: Value, currency: Value): Value {
  const amount = readNumber(value);
  if (amount === undefined) return value;
  ctx.budget.step(STEPS);
  const code = textOf(currency) ?? '';
  if (!/^[A-Za-z]{3}$/.test(code)) {
    throw fault("money needs the code of a currency: {{ total | money('EUR') }}");
  }
  return numberFormat(localeOf(ctx), { style: 'currency', currency: code.toUpperCase() }).format(
    amount,
  );
}

const STYLES = ['short', 'medium', 'long', 'full'] as const;
type Style = (typeof STYLES)[number];
const MONTH_NAMES = new Map<string, 'long' | 'short'>([
  ['month', 'long'],
  ['short-month', 'short'],
]);

/**
 * `style`: short, medium, long (by default) or full; or month or short-month, its name. `time`:
 * short to full, for the time of day with it. `zone`: such as Europe/Berlin; by default UTC.
 */
function date(ctx: Context, value: Value, style: Value, time: Value, zone: Value): Value {
  const read = readDate(value);
  if (read === undefined) return value;
  ctx.budget.step(STEPS);
  const month = MONTH_NAMES.get(textOf(style) ?? '');
  if (month !== undefined) return monthOf(ctx, read.at, { month, zone });
  const timeStyle = readStyle(time, 'time');
  const locale = localeOf(ctx);
  const dateStyle = readStyle(style, 'style') ?? 'long';
  const format = dateFormatFor(locale, {
    dateStyle,
    ...(timeStyle && { timeStyle }),
    // A day without a time is the same day everywhere.
    timeZone: read.day ? 'UTC' : (textOf(zone) ?? 'UTC'),
  });
  const first = dateStyle === 'short' ? undefined : FIRST_OF_MONTH.get(languageOf(locale));
  if (first === undefined) return format.format(read.at);
  return format
    .formatToParts(read.at)
    .map(({ type, value }) => (type === 'day' && value === '1' ? first : value))
    .join('');
}

/** "1er octobre": these count the first day of a month and name the others, which Intl does not. */
const FIRST_OF_MONTH = new Map([
  ['fr', '1er'],
  ['it', '1º'],
  ['pt', '1º'],
]);

const monthOf = (ctx: Context, at: Date, as: { month: 'long' | 'short'; zone: Value }): string =>
  dateFormatFor(localeOf(ctx), { month: as.month, timeZone: textOf(as.zone) ?? 'UTC' }).format(at);

function dateFormatFor(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return dateFormat(locale, options);
  } catch {
    throw fault(`date: there is no time zone "${String(options.timeZone).slice(0, 64)}"`);
  }
}

/** Undefined: none was given. */
function readStyle(value: Value, name: string): Style | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  const style = STYLES.find((it) => it === text);
  if (style !== undefined) return style;
  throw fault(
    `date: ${name} must be one of ${STYLES.join(', ')}${name === 'style' ? ', month, short-month' : ''}`,
  );
}

function readDigits(value: Value): number | undefined {
  if (value == null) return undefined;
  const digits = readNumber(value);
  if (digits !== undefined && Number.isInteger(digits) && digits >= 0 && digits <= 20) {
    return Number(digits);
  }
  throw fault('number: digits must be a whole number from 0 to 20');
}

const textOf = (value: Value): string | undefined =>
  typeof value === 'string' ? value : value instanceof Markup ? value.text : undefined;

/** A number, or a string that contains nothing else. */
function readNumber(value: Value): number | bigint | undefined {
  if (value instanceof Float) return value.value;
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  const text = textOf(value);
  return text !== undefined && /^-?\d{1,15}(?:\.\d{1,10})?$/.test(text) ? Number(text) : undefined;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT =
  /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?$/;

/**
 * ISO 8601: a day, or a day with its time, of UTC where it does not say. Seconds since 1970 too.
 */
function readDate(value: Value): { at: Date; day: boolean } | undefined {
  const text = textOf(value);
  const seconds = text === undefined ? readNumber(value) : undefined;
  const day = text !== undefined && DAY.test(text);
  const at =
    seconds !== undefined
      ? new Date(Number(seconds) * 1000)
      : day
        ? new Date(`${text}T00:00:00Z`)
        : text !== undefined && INSTANT.test(text)
          ? new Date(withZone(text.replace(' ', 'T')))
          : undefined;
  return at === undefined || Number.isNaN(at.getTime()) ? undefined : { at, day };
}

const withZone = (text: string): string =>
  /(?:Z|[+-]\d{2}:?\d{2})$/.test(text) ? text : `${text}Z`;

const fault = (message: string): TemplateRuntimeError =>
  new TemplateRuntimeError(message, 'TemplateRuntimeError');

export const intlFilters: Record<string, Native> = {
  date: native('? style time zone', date),
  number: native('? digits', number),
  money: native('currency', money),
};
