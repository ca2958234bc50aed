// What templates look like to callers: their state, a version's source, and what an editor may
// change. Before it: templates.ts and template-previews.ts accept and return these. After it:
// stored-templates.ts and catalog.ts know the templates themselves.
import { z } from 'zod';
import type { Catalog, SystemTemplate } from '../templates/catalog.ts';
import { categories } from '../templates/categories.ts';
import { messagesByLocaleSchema } from '../templates/messages.ts';
import type { AccountTemplate } from '../templates/stored-templates.ts';
import {
  entryShape,
  VARIABLE_TYPES,
  variableSchema,
  variableValues,
} from '../templates/variables.ts';

export const about = {
  slug: z.string().describe('What a send takes as `template`.'),
  name: z.string().describe('Its name.'),
  category: z.enum(categories).describe('What it is about.'),
  description: z.string().describe('When to use it.'),
  stream: z
    .string()
    .nullable()
    .describe('The stream that its emails go through; null: `transactional`.'),
};

const state = {
  state: z
    .enum(['system', 'draft', 'published', 'archived'])
    .describe(
      'system: of the catalogue. draft: never published. archived: out of use; sends find the system template of the slug, if there is one.',
    ),
  published_version: z
    .number()
    .int()
    .nullable()
    .describe('The version that emails are made from; null: none yet.'),
  newest_version: z.number().int().nullable().describe('The version edited last.'),
  has_system: z.boolean().describe('Whether there is a system template of this slug.'),
};

export const ownTemplate = z.object({ ...about, ...state }).meta({ id: 'OwnTemplate' });

export const show = (
  template: AccountTemplate,
  { templates }: Catalog,
): z.output<typeof ownTemplate> => ({
  slug: template.slug,
  name: template.name,
  category: template.category,
  description: template.description,
  stream: template.stream,
  state: stateOf(template),
  published_version: template.publishedVersion,
  newest_version: template.newestVersion,
  has_system: templates.has(template.slug),
});

export const stateOf = ({ archived, publishedVersion }: AccountTemplate) =>
  archived ? 'archived' : publishedVersion === null ? 'draft' : 'published';

export const showSystem = ({ slug, name, category, description }: SystemTemplate) => ({
  ...{ slug, name, category, description },
  stream: null,
  state: 'system' as const,
  published_version: null,
  newest_version: null,
  has_system: true,
});

export const slug = z
  .string()
  .max(64)
  .describe('Slug of the template.')
  .meta({ example: 'welcome' });

const variable = z.object({
  name: variableSchema.shape.name.describe('A name, or a path such as event.name.'),
  required: z.boolean().describe('Whether a send without it is refused.'),
  type: z
    .enum(VARIABLE_TYPES)
    .describe('What it must be; `url`: an http(s) address; `any`, the default, is not checked.'),
  items: entryShape
    .optional()
    .describe('For an array: the type of its entries, or the fields that each has.'),
  description: z.string().describe('What it is for.'),
  example: z.unknown().optional().describe('A value that fits.'),
});

const variableInput = z.strictObject({
  ...variable.shape,
  type: variable.shape.type.optional(),
  description: variable.shape.description.optional(),
});

const source = {
  subject: z.string().describe('Subject, Jinja2.'),
  preheader: z.string().describe('Preview line of email programs, Jinja2.'),
  html: z.string().describe('HTML, Jinja2. May extend layout.html and import macros.html.'),
  text: z
    .string()
    .nullable()
    .describe('Plain text, Jinja2. Derived from the HTML when null or blank.'),
};

const messages = messagesByLocaleSchema.describe(
  "What `t('key', name=…)` says in it, by language and key: text with {name} where values go, or an object of plural forms (`one`, `few`, `other` …), chosen by `count`.",
);

/** What an editor changes; every field is optional. */
export const draftInput = {
  subject: source.subject.optional(),
  preheader: source.preheader.optional(),
  html: source.html.optional(),
  text: source.text.optional(),
  variables: z.array(variableInput).optional().describe('What it can be filled with.'),
  sample: variableValues().optional().describe('Variables that show the template at its best.'),
  messages: messages.optional(),
};

export const templateVersion = z
  .object({
    ...about,
    ...state,
    version: z
      .number()
      .int()
      .nullable()
      .describe('The version whose text this is; null: the system template.'),
    ...source,
    variables: z
      .array(variable.meta({ id: 'TemplateVariable' }))
      .describe('What it can be filled with.'),
    sample: z
      .record(z.string(), z.unknown())
      .describe('Variables that show the template at its best.'),
    messages,
  })
  .meta({ id: 'TemplateVersion' });

export const versionEntry = z
  .object({
    version: z.number().int().describe('Its number.'),
    cloned_from: z.string().nullable().describe('The template it is a copy of.'),
    based_on: z.number().int().nullable().describe('The version it was edited from.'),
    created_at: z.string().describe('When it was saved: ISO 8601, UTC.'),
    published_at: z
      .string()
      .nullable()
      .describe('When it was first published; null: a draft that was never used.'),
    published: z.boolean().describe('Whether emails are made from it.'),
  })
  .meta({ id: 'TemplateVersionEntry' });

export const baseVersion = z
  .number()
  .int()
  .min(0)
  .optional()
  .describe(
    'The newest version that you know; refused, with what changed, if someone has saved another since.',
  );
