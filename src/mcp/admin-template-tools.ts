// Templates for keys with the scope `admin`: what of its own an account has, copies of system templates, new versions.
import { z } from 'zod';
import type { Directory } from '../accounts/directory.ts';
import type { Database } from '../store/pool.ts';
import { cloneTemplate, publishTemplate, putTemplate } from '../templates/account-templates.ts';
import { type Catalog, categories } from '../templates/catalog.ts';
import type { Making } from '../templates/making.ts';
import { type AccountTemplate, listAccountTemplates } from '../templates/stored-templates.ts';
import { variableSchema } from '../templates/variables.ts';
import { defineTool, READS, type Tool } from './tool.ts';

export interface TemplateToolDeps {
  database: Database;
  catalog: Catalog;
  /** Where drafts are compiled. */
  making: Making;
  /** Told of changes, so that this process need not find out by itself. */
  directory: Pick<Directory, 'forget'>;
}

const ownTemplate = z.strictObject({
  slug: z.string().describe('What send_email takes as `template`.'),
  name: z.string().describe('What people call it.'),
  category: z.enum(categories).describe('What it is about.'),
  description: z.string().describe('When to use it.'),
  published_version: z
    .union([z.number().int(), z.null()])
    .describe('The version that mails are made from; null: none yet.'),
  newest_version: z.number().int().describe('The version edited last.'),
  archived: z.boolean().describe('Whether it is out of use.'),
});

const show = (template: AccountTemplate): z.output<typeof ownTemplate> => ({
  slug: template.slug,
  name: template.name,
  category: template.category,
  description: template.description,
  published_version: template.publishedVersion,
  newest_version: template.newestVersion,
  archived: template.archived,
});

const listOwnTemplatesTool = defineTool({
  name: 'list_own_templates',
  title: 'List the account’s own templates',
  description:
    'Templates the account cloned or made, with their versions, drafts and archived ones too. list_templates shows everything that can be sent.',
  scope: 'admin',
  input: z.strictObject({}),
  output: z.strictObject({
    templates: z.array(ownTemplate).describe('The account’s own templates, by slug.'),
  }),
  annotations: READS,
  async run(deps: TemplateToolDeps, caller) {
    const templates = await listAccountTemplates(deps.database, caller.accountId);
    return { templates: templates.map(show) };
  },
});

const cloneTemplateTool = defineTool({
  name: 'clone_template',
  title: 'Clone a system template',
  description:
    'Makes a copy of a system template that the account can change. Under the same slug, mails are made from the copy from now on.',
  scope: 'admin',
  input: z.strictObject({
    slug: z.string().describe('Slug of the system template.').meta({ example: 'welcome' }),
    as: z.string().optional().describe('Slug of the copy; the same unless told.'),
  }),
  output: ownTemplate,
  annotations: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: false,
  },
  async run(deps: TemplateToolDeps, caller, { slug, as = slug }) {
    const template = await cloneTemplate(deps, caller.accountId, slug, as);
    deps.directory.forget(caller.accountId);
    return show(template);
  },
});

const variable = z.strictObject({
  name: variableSchema.shape.name.describe('A name, or a path such as event.name.'),
  required: z.boolean().describe('Whether a send without it is refused.'),
  type: z
    .enum(['string', 'number', 'boolean', 'array', 'object'])
    .optional()
    .describe('What it must be; string unless told.'),
  description: z.string().optional().describe('What it is for.'),
  example: z.unknown().optional().describe('A value that fits.'),
});

const updateTemplateTool = defineTool({
  name: 'update_template',
  title: 'Change a template',
  description:
    'Saves a new version of one of the account’s own templates, or makes a new template. What is not given stays as it was. It is a draft until it is published; earlier versions are kept.',
  scope: 'admin',
  input: z.strictObject({
    slug: z.string().describe('Slug of the template.').meta({ example: 'welcome' }),
    name: z.string().optional().describe('What people call it.'),
    category: z.enum(categories).optional().describe('What it is about.'),
    description: z.string().optional().describe('When to use it.'),
    subject: z.string().optional().describe('Subject, Jinja2.'),
    preheader: z.string().optional().describe('Preview line of mail programs, Jinja2.'),
    html: z
      .string()
      .optional()
      .describe('HTML, Jinja2. May extend layout.html and import macros.html.'),
    text: z.string().optional().describe('Plain text, Jinja2. Derived from the HTML unless given.'),
    variables: z.array(variable).optional().describe('What it can be filled with.'),
    sample: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Variables that show the template at its best.'),
    publish: z
      .boolean()
      .default(false)
      .describe('Whether mails are made from the new version at once.'),
  }),
  output: ownTemplate.extend({ version: z.number().int().describe('The version just saved.') }),
  annotations: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: false,
  },
  async run(deps: TemplateToolDeps, caller, { slug, publish, ...change }) {
    const saved = await putTemplate(deps, caller.accountId, slug, change);
    const template = publish
      ? await publishTemplate(deps.database, caller.accountId, slug, saved.version)
      : saved.template;
    deps.directory.forget(caller.accountId);
    return { ...show(template), version: saved.version };
  },
});

export const ADMIN_TEMPLATE_TOOLS: readonly Tool<TemplateToolDeps>[] = [
  listOwnTemplatesTool,
  cloneTemplateTool,
  updateTemplateTool,
];
