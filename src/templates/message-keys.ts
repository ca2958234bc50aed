// What a template needs from its messages: the keys it names, and whether every language has them.
// Before it: a version about to be published. After it: sends find every message.
import { type Fault, Problem } from '../errors.ts';
import { type Catalog, systemTemplatesIn } from './catalog.ts';
import type { TemplateSource } from './email-maker.ts';
import { type MessagesByLocale, placeholdersOf } from './messages.ts';

/** A t of their own: a macro, or a name that is set or imported. */
const OWN = /\b(?:macro|set|as|import|for)\s+t\b/;

const CALL = /\bt\(\s*(?:'([^'\\]*)'|"([^"\\]*)")/g;

/** The keys in t('…'); those computed while rendering, t(name), cannot be known beforehand. */
export const keysIn = (sources: readonly string[]): Set<string> =>
  new Set(
    sources
      .filter((source) => !OWN.test(source))
      .flatMap((source) => [...source.matchAll(CALL)].map(([, one, two]) => one ?? two!)),
  );

const MOST_NAMED = 20;

/** Throws a Problem that names every key a language lacks, and placeholders that only one has. */
export function requireMessages(
  catalog: Pick<Catalog, 'templates' | 'common'>,
  slug: string,
  { subject, preheader, html, text, messages = {} }: TemplateSource,
): void {
  const sources = [subject, preheader, html, text ?? ''];
  const given = [
    ...systemTemplatesIn(catalog.templates, sources).map((it) => it.messages),
    catalog.common,
  ].flatMap((layer) => Object.keys(layer.en ?? {}));
  const needed = [...keysIn(sources)].filter((key) => !given.includes(key));
  const faults = [...missing(messages, needed), ...strangers(messages)];
  if (faults.length === 0) return;
  const named = faults.slice(0, MOST_NAMED).map(({ message }) => message);
  const more = faults.length > MOST_NAMED ? `; and ${faults.length - MOST_NAMED} more` : '';
  throw new Problem(
    'invalid',
    `Template "${slug}" cannot be published: ${named.join('; ')}${more}. Every language of a template needs each of its messages.`,
    { faults: faults.slice(0, MOST_NAMED) },
  );
}

function missing(messages: MessagesByLocale, needed: readonly string[]): Fault[] {
  const languages = Object.entries(messages);
  if (languages.length === 0) {
    return needed.map((key) => ({
      path: 'messages',
      message: `t('${key}') has no message, because the template has none`,
    }));
  }
  return languages.flatMap(([locale, texts]) =>
    needed
      .filter((key) => !Object.hasOwn(texts, key))
      .map((key) => ({ path: `messages.${locale}.${key}`, message: `${locale} has no "${key}"` })),
  );
}

/** {nmae} in one language, if the first has {name}, would fail every send in that language. */
function strangers(messages: MessagesByLocale): Fault[] {
  const languages = Object.entries(messages);
  return languages.flatMap(([locale, texts]) =>
    Object.entries(texts).flatMap(([key, message]) => {
      const [model, first] = languages.find(([, others]) => Object.hasOwn(others, key))!;
      const known = placeholdersOf(first[key]!);
      return [...placeholdersOf(message)]
        .filter((name) => !known.has(name))
        .map((name) => ({
          path: `messages.${locale}.${key}`,
          message: `${locale} has {${name}} in "${key}", which ${model} does not have`,
        }));
    }),
  );
}
