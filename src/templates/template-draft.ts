// What someone writes when they create or change a template of their own, checked: fields by name,
// Jinja2 by line and column. Before it: the CLI or the dashboard. After it: account-templates.ts
// stores it as a new version.
import { z } from 'zod';
import { Problem } from '../errors.ts';
import type { Environment, Template } from '../jinja/index.ts';
import { type Category, categories } from './categories.ts';
import { compileEmail, compileText, type EmailTemplate } from './email-template.ts';
import { type MessagesByLocale, messagesByLocaleSchema } from './messages.ts';
import { type Variable, variableSchema, variableValues } from './variables.ts';

/** A version's content: what a render depends on. */
export interface TemplateContent {
  /** Jinja2, as are preheader, html and text. */
  subject: string;
  preheader: string;
  html: string;
  /** Null: derived from the HTML. */
  text: string | null;
  variables: Variable[];
  sample: Record<string, unknown>;
  /** The messages of t() in it, by language. */
  messages: MessagesByLocale;
}

/** What a new template starts with. */
export const NOTHING: TemplateContent = {
  subject: '',
  preheader: '',
  html: '',
  text: null,
  variables: [],
  sample: {},
  messages: {},
};

export interface TemplateDraft extends TemplateContent {
  name: string;
  category: Category;
  description: string;
  /** The stream of its emails; null: the default one. */
  stream: string | null;
}

export interface CompiledTemplate {
  email: EmailTemplate;
  text: Template | null;
}

/**
 * What an engine reads at most (jinja/budget.ts); an email above 102 KB is clipped by Gmail anyway.
 */
const LONGEST_SOURCE = 256 * 1024;
const LONGEST_SAMPLE = 256 * 1024;

/** Names that every render sets, whatever the sender gives. */
const RESERVED = ['branding', 'mail'];

const words = (longest: number) =>
  z
    .string('must be a string')
    .max(longest, `must be at most ${longest} characters long`)
    .refine((text) => !text.includes('\u0000'), 'must not contain the character U+0000');
const given = (longest: number) => words(longest).min(1, 'must not be empty');

const draftSchema = z.strictObject({
  name: given(200),
  category: z.enum(categories, `must be one of ${categories.join(', ')}`),
  description: words(2000),
  stream: words(64).nullable(),
  subject: given(2000),
  preheader: words(2000),
  html: given(LONGEST_SOURCE),
  text: words(LONGEST_SOURCE)
    .nullable()
    .transform((text) => (text === null || text.trim() === '' ? null : text)),
  variables: z
    .array(variableSchema, 'must be a list of {name, required, type, description, example}')
    .max(200, 'must be at most 200')
    .superRefine(checkNames),
  sample: variableValues('must be an object').refine(
    (sample) => JSON.stringify(sample).length <= LONGEST_SAMPLE,
    `must be at most ${LONGEST_SAMPLE} characters of JSON`,
  ),
  messages: messagesByLocaleSchema,
});

function checkNames(variables: Variable[], context: z.RefinementCtx): void {
  const seen = new Set<string>();
  for (const [index, { name }] of variables.entries()) {
    const fault = RESERVED.includes(name.split('.')[0]!)
      ? `is "${name}", which every render sets itself; choose another`
      : seen.has(name)
        ? `is "${name}", as an earlier one is; give each its own name`
        : undefined;
    if (fault) context.addIssue({ code: 'custom', path: [index, 'name'], message: fault });
    seen.add(name);
  }
}

/** The draft with every field normalised, or a Problem that names each field at fault. */
export function checkDraft(draft: { [Field in keyof TemplateDraft]: unknown }): TemplateDraft {
  const read = draftSchema.safeParse(draft);
  if (read.success) return read.data;
  const faults = read.error.issues.map(({ path, message }) => ({
    path: showPath(path),
    message: path.length === 0 ? message : `${showPath(path)}: ${message}`,
  }));
  throw new Problem('invalid', `${faults.map(({ message }) => message).join('; ')}.`, { faults });
}

const showPath = (path: PropertyKey[]): string =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .slice(1);

/**
 * The parts of a change that are compiled; checkDraft refuses what cannot be compiled because it is
 * too long or not text.
 */
export function givenSources(change: { [Field in keyof TemplateContent]?: unknown }) {
  const given = (value: unknown): string =>
    typeof value === 'string' && value.length <= LONGEST_SOURCE ? value : '';
  const { subject, preheader, html, text } = change;
  return {
    subject: given(subject),
    preheader: given(preheader),
    html: given(html),
    text: given(text),
  };
}

/** What is compiled of it. */
export const sourceOf = ({ subject, preheader, html, text, messages }: TemplateContent) => ({
  ...{ subject, preheader, html, text, messages },
});

/**
 * Compiles a template that may extend and import what the environment knows: the catalogue. A
 * Problem names line and column.
 */
export function compileContent(
  environment: Environment,
  slug: string,
  content: Pick<TemplateContent, 'subject' | 'preheader' | 'html' | 'text'>,
): CompiledTemplate {
  return {
    email: compileEmail(environment, { slug, ...content }),
    text: content.text === null ? null : compileText(environment, `${slug}:text`, content.text),
  };
}

export function checkSlug(slug: string, at = 'slug'): string {
  if (slug.length <= 64 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(slug)) return slug;
  throw new Problem(
    'invalid',
    'slug must be lower-case letters, digits and single hyphens, at most 64, such as welcome-back.',
    { at },
  );
}
