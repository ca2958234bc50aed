// The system catalogue: plain files under catalog/, read, checked and compiled once at start.
// Before it: main.ts knows the folder. After it: list_templates shows it, rendering.ts sends from
// it, account templates extend it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { Problem } from '../errors.ts';
import type { Environment } from '../jinja/index.ts';
import { type Category, categories } from './categories.ts';
import { compileMail, type MailTemplate, mailEnvironment } from './mail-template.ts';
import { missingVariables, type Variable, variableSchema } from './variables.ts';

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
  sample: Record<string, unknown>;
  compiled: MailTemplate;
}

export interface Catalog {
  /** By slug, in the order of the categories and then of the slugs. */
  templates: ReadonlyMap<string, SystemTemplate>;
  /**
   * Compiles templates that may extend and import `layout.html`, `macros.html` and every system
   * template by its slug.
   */
  environment: Environment;
}

const metaSchema = z.strictObject({
  name: z.string().min(1),
  description: z.string().min(1),
  subject: z.string().min(1),
  preheader: z.string().min(1),
  variables: z.array(variableSchema),
});

/** The files every template shares. */
const shared = ['layout.html', 'macros.html'];

/** The catalogue of this program, beside src/ and dist/. */
export const catalogFolder = fileURLToPath(new URL('../../catalog/', import.meta.url));

/** Reads a catalogue folder. Throws one error that lists every fault with its file. */
export function loadCatalog(folder: string): Catalog {
  const faults: string[] = [];
  const sources = new Map<string, string>();
  for (const file of shared) attempt(faults, file, () => sources.set(file, read(folder, file)));

  const found = list(folder, faults).flatMap(({ category, slug }) => {
    const path = join(category, slug);
    const html = attempt(faults, join(path, 'template.html'), (file) => read(folder, file));
    const meta = attempt(faults, join(path, 'meta.json'), (file) => readMeta(folder, file));
    const sample = attempt(faults, join(path, 'sample.json'), (file) => readSample(folder, file));
    if (html === undefined || meta === undefined || sample === undefined) return [];
    if (sources.has(slug)) faults.push(`${path}: another template has this slug too`);
    const missing = missingVariables(meta.variables, sample);
    if (missing.length > 0) {
      faults.push(`${join(path, 'sample.json')}: lacks required ${missing.join(', ')}`);
    }
    sources.set(slug, html);
    return [{ slug, category, html, sample, ...meta }];
  });
  if (found.length === 0 && faults.length === 0) faults.push('there are no templates');

  const environment = mailEnvironment((name) => sources.get(name));
  for (const file of shared) {
    if (sources.has(file)) attempt(faults, file, () => environment.getTemplate(file));
  }
  const templates = new Map<string, SystemTemplate>();
  for (const template of found) {
    const path = join(template.category, template.slug);
    const compiled = attempt(faults, path, () => compileMail(environment, template));
    if (compiled) templates.set(template.slug, { ...template, compiled });
  }
  if (faults.length > 0) {
    throw new Error(`The template catalogue ${folder} has faults:\n- ${faults.join('\n- ')}`);
  }
  return { templates, environment };
}

function list(folder: string, faults: string[]): { category: Category; slug: string }[] {
  for (const name of subfolders(folder, '')) {
    if (!(categories as readonly string[]).includes(name)) {
      faults.push(`${name}: not a category; there are ${categories.join(', ')}`);
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

function readMeta(folder: string, file: string): z.infer<typeof metaSchema> {
  const result = metaSchema.safeParse(JSON.parse(read(folder, file)));
  if (!result.success) throw new Error(z.prettifyError(result.error));
  return result.data;
}

function readSample(folder: string, file: string): Record<string, unknown> {
  return z.record(z.string(), z.unknown()).parse(JSON.parse(read(folder, file)));
}

function attempt<Result>(
  faults: string[],
  file: string,
  work: (file: string) => Result,
): Result | undefined {
  try {
    return work(file);
  } catch (fault) {
    faults.push(`${file}: ${fault instanceof Problem ? fault.detail : (fault as Error).message}`);
    return undefined;
  }
}
