// Languages by their tags (BCP 47): which one an email is written in. Before it: a request, the
// account's default, the languages a template has. After it: messages and formats of one language.
import { Problem } from '../errors.ts';

/** What the catalogue is written in first, and what there always is. */
export const LAST_RESORT = 'en';

/** Longer than any tag in use; Intl accepts more. */
export const LONGEST_LOCALE = 35;

const RIGHT_TO_LEFT = new Set(['ar', 'he', 'fa', 'ur']);

/**
 * `de_at` is not a tag and `DE-at` is one: written as it should be. Undefined: it is none. What
 * follows in extensions (`-u-nu-…`) says how to write, not in which language, and is left out.
 */
export function canonicalLocale(tag: string): string | undefined {
  if (tag.length > LONGEST_LOCALE) return undefined;
  try {
    return new Intl.Locale(tag).baseName;
  } catch {
    return undefined;
  }
}

/** The tag as it should be written, or a Problem. */
export function requireLocale(tag: string, at = 'locale'): string {
  const locale = canonicalLocale(tag);
  if (locale !== undefined) return locale;
  throw new Problem(
    'invalid',
    `${at}: "${tag.slice(0, LONGEST_LOCALE)}" is not a language tag. Give one such as de, pt-BR or zh-Hant.`,
    { at },
  );
}

export const languageOf = (locale: string): string => locale.split('-', 1)[0]!;

export const directionOf = (locale: string): 'ltr' | 'rtl' =>
  RIGHT_TO_LEFT.has(languageOf(locale)) ? 'rtl' : 'ltr';

/** de-AT, then de. */
export function fromExactToGeneral(locale: string): string[] {
  const parts = locale.split('-');
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('-'));
}

/**
 * The languages to look for a text in, best first, without repeats: what was asked for, what the
 * account writes in, English.
 */
export const fallbacks = (wanted: readonly (string | null | undefined)[]): string[] => [
  ...new Set([...wanted.flatMap((it) => (it ? fromExactToGeneral(it) : [])), LAST_RESORT]),
];
