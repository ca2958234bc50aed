// The system catalogue: plain files under catalog/, read and checked once at start, each compiled
// when it is first used. Threads get what was read. After it: list_templates shows it,
// email-maker.ts makes emails from it, account templates extend it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Environment } from '../jinja/index.ts';
import { type Category, categories } from './categories.ts';
import { compileEmail, type EmailTemplate, emailEnvironment } from './email-template.ts';
import { type MessagesByLocale, messagesSchema } from './messages.ts';
import { openSamplePictures, type Pictures } from './sample-pictures.ts';
import type { Phrases } from './samples.ts';
import { type Language, Texts } from './translation.ts';
import { requireFit } from './variable-fit.ts';
import { type Variable, variableSchema } from './variables.ts';

export interface SystemTemplate {
  slug: string;
  category: Category;
  name: string;
  description: string;
  /** Jinja2, as are preheader and html. */
  subject: string;
  preheader: string;
  html: string;
  variables: Variable[];
  /** In English; sampleIn says it in another language. */
  sample: Record<string, unknown>;
  /** What t() says in it, by language. */
  messages: MessagesByLocale;
  /**
   * Compiled when first needed, which only happens in the threads: compiling all of them took half
   * of the start-up time.
   */
  readonly compiled: EmailTemplate;
}

export interface Catalog {
  /** By slug, in the order of the categories and then of the slugs. */
  templates: ReadonlyMap<string, SystemTemplate>;
  /**
   * Compiles templates that may extend and import `layout.html`, `macros.html` and every system
   * template by its slug.
   */
  environment: Environment;
  /** The messages of the layout, of the macros, and of every template that lacks its own. */
  common: MessagesByLocale;
  /** What samples show, and their text in other languages. */
  pictures: Pictures;
  phrases: Phrases;
}

const metaSchema = z.strictObject({
  name: z.string().min(1),
  description: z.string().min(1),
  subject: z.string().min(1),
  preheader: z.string().min(1),
  variables: z.array(variableSchema),
});

const sampleSchema = z.record(z.string(), z.unknown());

/** The files every template shares. */
const shared = ['layout.html', 'macros.html'];
const PICTURES = 'pictures';

/** One file for each language: the texts of all templates by slug, and the common ones. */
const MESSAGES = 'messages';
const COMMON = 'common';

/** One file for each language except English: the text of samples, by the English text. */
const SAMPLES = 'samples';

/** The catalogue of this program, beside src/ and dist/. */
export const catalogFolder = fileURLToPath(new URL('../../catalog/', import.meta.url));

/** What the files say, as plain data. */
export interface CatalogFiles {
  folder: string;
  /** What every template can extend and import, by name. */
  sources: ReadonlyMap<string, string>;
  templates: Omit<SystemTemplate, 'compiled'>[];
  common: MessagesByLocale;
  phrases: Phrases;
}

export const loadCatalog = (folder: string): Catalog => openCatalog(readCatalog(folder));

export function openCatalog(files: CatalogFiles): Catalog {
  const { folder, sources, templates, common, phrases } = files;
  const environment = emailEnvironment(sources);
  return {
    templates: new Map(templates.map((it) => [it.slug, compiledWhenUsed(environment, it)])),
    environment,
    common,
    pictures: openSamplePictures(join(folder, PICTURES)),
    phrases,
  };
}

let own: CatalogFiles | undefined;

/** Of this program's own catalogue, which does not change while it runs. */
export function ownCatalogFiles(): CatalogFiles {
  own ??= readCatalog(catalogFolder);
  return own;
}

/** Throws one error that lists every fault with its file. */
function readCatalog(folder: string): CatalogFiles {
  const faults: string[] = [];
  const sources = new Map<string, string>();
  for (const file of shared) attempt(faults, file, () => sources.set(file, read(folder, file)));
  const messages = readMessages(folder, faults);
  const phrases = readPhrases(folder, faults);

  const found = list(folder, faults).flatMap(({ category, slug }) => {
    const path = join(category, slug);
    const html = attempt(faults, join(path, 'template.html'), (file) => read(folder, file));
    const meta = attempt(faults, join(path, 'meta.json'), (file) =>
      readJson(folder, file, metaSchema),
    );
    const sample = attempt(faults, join(path, 'sample.json'), (file) =>
      readJson(folder, file, sampleSchema),
    );
    if (html === undefined || meta === undefined || sample === undefined) return [];
    if (sources.has(slug)) faults.push(`${path}: another template has this slug too`);
    attempt(faults, join(path, 'sample.json'), () =>
      requireFit({ slug, variables: meta.variables, reads: null }, sample),
    );
    sources.set(slug, html);
    return [{ slug, category, html, sample, messages: messages.get(slug) ?? {}, ...meta }];
  });
  for (const section of messages.keys()) {
    if (section === COMMON || found.some(({ slug }) => slug === section)) continue;
    faults.push(`${MESSAGES}: "${section}" is not a template`);
  }
  if (found.length === 0 && faults.length === 0) faults.push('there are no templates');

  if (faults.length > 0) {
    throw new Error(`The template catalogue ${folder} has errors:\n- ${faults.join('\n- ')}`);
  }
  return { folder, sources, templates: found, common: messages.get(COMMON) ?? {}, phrases };
}

function compiledWhenUsed(
  environment: Environment,
  template: Omit<SystemTemplate, 'compiled'>,
): SystemTemplate {
  let compiled: EmailTemplate | undefined;
  return {
    ...template,
    get compiled() {
      compiled ??= compileEmail(environment, template);
      return compiled;
    },
  };
}

function list(folder: string, faults: string[]): { category: Category; slug: string }[] {
  for (const name of subfolders(folder, '')) {
    if ([MESSAGES, PICTURES, SAMPLES].includes(name)) continue;
    if (!(categories as readonly string[]).includes(name)) {
      faults.push(`${name}: not a category; the categories are ${categories.join(', ')}`);
    }
  }
  return categories.flatMap((category) => {
    const slugs = attempt(faults, category, () => subfolders(folder, category)) ?? [];
    return slugs.map((slug) => {
      if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(slug)) {
        faults.push(`${join(category, slug)}: a slug is lower-case words joined by hyphens`);
      }
      return { category, slug };
    });
  });
}

function subfolders(folder: string, name: string): string[] {
  return readdirSync(join(folder, name), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

function read(folder: string, file: string): string {
  return readFileSync(join(folder, file), 'utf8');
}

/** By section, then by language; a file is a language. */
function readMessages(folder: string, faults: string[]): Map<string, MessagesByLocale> {
  const sections = new Map<string, MessagesByLocale>();
  const languages = readLanguages(folder, MESSAGES, languageSchema, faults);
  for (const [locale, read] of Object.entries(languages)) {
    for (const [section, messages] of Object.entries(read)) {
      const byLocale = sections.get(section) ?? {};
      byLocale[locale] = messages;
      sections.set(section, byLocale);
    }
  }
  return sections;
}

const languageSchema = z.record(z.string(), messagesSchema);

const readPhrases = (folder: string, faults: string[]): Phrases =>
  readLanguages(folder, SAMPLES, z.record(z.string(), z.string()), faults);

/** By language, which is the name of the file. */
function readLanguages<Content>(
  folder: string,
  name: string,
  schema: z.ZodType<Content>,
  faults: string[],
): Record<string, Content> {
  const files = attempt(faults, name, () => readdirSync(join(folder, name)).sort()) ?? [];
  const languages: Record<string, Content> = {};
  for (const file of files) {
    const found = attempt(faults, join(name, file), (path) => readJson(folder, path, schema));
    if (found !== undefined) languages[file.replace(/\.json$/, '')] = found;
  }
  return languages;
}

/**
 * Where t() looks in a template with this source: its own messages, then those of the templates it
 * extends.
 */
export function textsFor(
  { templates, common }: Catalog,
  own: MessagesByLocale | undefined,
  sources: readonly string[],
): Texts {
  const mentioned = systemTemplatesIn(templates, sources).map(({ messages }) => messages);
  const hasOwn = own !== undefined && Object.keys(own).length > 0;
  return new Texts(hasOwn ? own : null, [...mentioned, common]);
}

/** The language of a system template for someone who asks for this one. */
export const systemLanguage = (
  catalog: Catalog,
  { messages, html }: Pick<SystemTemplate, 'messages' | 'html'>,
  wanted?: string,
): Language => textsFor(catalog, messages, [html]).language({ wanted, standard: undefined });

/**
 * The system templates whose slugs appear in quotes in the sources: extended, included, imported.
 */
export const systemTemplatesIn = (
  templates: Catalog['templates'],
  sources: readonly string[],
): SystemTemplate[] =>
  [...templates.values()].filter(({ slug }) =>
    sources.some((source) => source.includes(`"${slug}"`) || source.includes(`'${slug}'`)),
  );

function readJson<Content>(folder: string, file: string, schema: z.ZodType<Content>): Content {
  const result = schema.safeParse(JSON.parse(read(folder, file)));
  if (!result.success) throw new Error(z.prettifyError(result.error));
  return result.data;
}

function attempt<Result>(
  faults: string[],
  file: string,
  work: (file: string) => Result,
): Result | undefined {
  try {
    return work(file);
  } catch (fault) {
    faults.push(`${file}: ${(fault as Error).message}`);
    return undefined;
  }
}
