// Samples in the language of an email. Before it: a sample, written in English, and the phrases of
// catalog/samples/<language>.json, English → that language. After it: previews fill a template.
import { canonicalLocale, fallbacks, LAST_RESORT } from './locales.ts';

/** What samples say, by language, then by what it is in English. Names and addresses stay. */
export type Phrases = Readonly<Record<string, Readonly<Record<string, string>>>>;

type Sample = Record<string, unknown>;

/** In the first of these languages that there are phrases for; else in English. */
export function sampleIn(
  phrases: Phrases,
  sample: Sample,
  wanted: readonly (string | null | undefined)[],
): Sample {
  const order = fallbacks(wanted.map((it) => it && canonicalLocale(it)));
  const locale = order.find((it) => it === LAST_RESORT || Object.hasOwn(phrases, it))!;
  return locale === LAST_RESORT ? sample : (say(sample, phrases[locale]!) as Sample);
}

function say(value: unknown, phrases: Phrases[string]): unknown {
  if (typeof value === 'string') return Object.hasOwn(phrases, value) ? phrases[value] : value;
  if (Array.isArray(value)) return value.map((item) => say(item, phrases));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, say(it, phrases)]));
}
