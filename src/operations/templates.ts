// Templates of the account's own: copies of system templates and new ones, edited in versions.
import { z } from 'zod';
import { cloneTemplate, publishTemplate, putTemplate } from '../templates/account-templates.ts';
import { categories } from '../templates/categories.ts';
import { type AccountTemplate, listAccountTemplates } from '../templates/stored-templates.ts';
import { variableSchema } from '../templates/variables.ts';
import { listed, listOf } from './lists.ts';
import { operation } from './operation.ts';

const ownTemplate = z
  .object({
    slug: z.string().describe('What a send takes as `template`.'),
    name: z.string().describe('What people call it.'),
    category: z.enum(categories).describe('What it is about.'),
    description: z.string().describe('When to use it.'),
    published_version: z
      .number()
      .int()
      .nullable()
      .describe('The version that emails are made from; null: none yet.'),
    newest_version: z.number().int().describe('The version edited last.'),
    archived: z.boolean().describe('Whether it is out of use.'),
  })
  .meta({ id: 'OwnTemplate' });

const show = (template: AccountTemplate): z.output<typeof ownTemplate> => ({
  slug: template.slug,
  name: template.name,
  category: template.category,
  description: template.description,
  published_version: template.publishedVersion,
  newest_version: template.newestVersion,
  archived: template.archived,
});

const slug = z.string().max(64).describe('Slug of the template.').meta({ example: 'welcome' });

const variable = z.strictObject({
  name: variableSchema.shape.name.describe('A name, or a path such as event.name.'),
  required: z.boolean().describe('Whether a send without it is refused.'),
  type: z
    .enum(['string', 'number', 'boolean', 'array', 'object'])
    .optional()
    .describe('What it must be; string by default.'),
  description: z.string().optional().describe('What it is for.'),
  example: z.unknown().optional().describe('A value that fits.'),
});

export const templateOperations = [
  operation({
    name: 'list_own_templates',
    title: 'List the account’s own templates',
    summary:
      'Templates that the account cloned or made, with their versions, drafts and archived ones too.',
    effect: 'reads',
    scope: 'templates:read',
    input: z.strictObject({}),
    output: listOf('templates', ownTemplate),
    rest: { method: 'GET', path: '/v1/own-templates' },
    client: 'templates.listOwn',
    tool: { advice: 'list_templates shows everything that can be sent.' },
    run: async ({ database }, { accountId }) =>
      listed((await listAccountTemplates(database, accountId)).map(show), null),
  }),

  operation({
    name: 'clone_template',
    title: 'Clone a system template',
    summary:
      'Makes a copy of a system template that the account can change. Under the same slug, emails are made from the copy from now on.',
    effect: 'changes',
    scope: 'templates:write',
    input: z.strictObject({
      slug: slug.describe('Slug of the system template.'),
      as: z.string().max(64).optional().describe('Slug of the copy; the same by default.'),
    }),
    output: ownTemplate,
    rest: { method: 'POST', path: '/v1/templates/{slug}/clone', status: 201 },
    client: 'templates.clone',
    tool: { destructive: false },
    async run(deps, { accountId }, { slug, as = slug }, via) {
      const template = show(await cloneTemplate(deps, accountId, slug, as));
      via.note({ target: template.slug, after: { cloned_from: slug } });
      return template;
    },
  }),

  operation({
    name: 'update_template',
    title: 'Change a template',
    summary:
      'Saves a new version of one of the account’s own templates, or makes a new template. What is not given stays as it was. It is a draft until it is published; earlier versions are kept.',
    effect: 'changes',
    scope: 'templates:write',
    input: z.strictObject({
      slug,
      name: z.string().optional().describe('What people call it.'),
      category: z.enum(categories).optional().describe('What it is about.'),
      description: z.string().optional().describe('When to use it.'),
      subject: z.string().optional().describe('Subject, Jinja2.'),
      preheader: z.string().optional().describe('Preview line of mail programs, Jinja2.'),
      html: z
        .string()
        .optional()
        .describe('HTML, Jinja2. May extend layout.html and import macros.html.'),
      text: z
        .string()
        .nullable()
        .optional()
        .describe('Plain text, Jinja2. Derived from the HTML unless given.'),
      variables: z.array(variable).optional().describe('What it can be filled with.'),
      sample: z
        .record(z.string(), z.unknown())
        .optional()
        .describe('Variables that show the template at its best.'),
      publish: z
        .boolean()
        .default(false)
        .describe('Whether emails are made from the new version at once.'),
    }),
    output: ownTemplate.extend({ version: z.number().int().describe('The version just saved.') }),
    rest: { method: 'PUT', path: '/v1/templates/{slug}' },
    client: 'templates.put',
    tool: { idempotent: false },
    async run(deps, { accountId }, { slug, publish, ...change }, via) {
      const saved = await putTemplate(deps, accountId, slug, change);
      const template = publish
        ? await publishTemplate(deps.database, accountId, slug, saved.version)
        : saved.template;
      via.note({ target: slug, after: { version: saved.version, published: publish } });
      return { ...show(template), version: saved.version };
    },
  }),
];
