// list-templates: what an account can send, without the details. MCP: list_templates.
import { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import { categories } from '../templates/catalog.ts';
import type { Operation } from './operation.ts';

export interface TemplateVariable {
  name: string;
  required: boolean;
  type: string;
  description: string;
  example: unknown;
}

export interface TemplateSummary {
  slug: string;
  name: string;
  category: string;
  description: string;
  variables: readonly TemplateVariable[];
}

export interface TemplateDetails extends TemplateSummary {
  /** As it is written, in Jinja2. */
  subject: string;
  /** Variables that show the template at its best. */
  sample: Record<string, unknown>;
  /** The plain text it renders to with the sample and the account's branding. */
  preview: string;
}

/** The system templates and the account's own, as the account sees them. */
export interface TemplateCatalog {
  list(accountId: number, category?: string): Promise<readonly TemplateSummary[]>;
  get(accountId: number, slug: string): Promise<TemplateDetails | undefined>;
}

const input = z.strictObject({
  category: z
    .enum(categories, `must be one of ${categories.join(', ')}`)
    .optional()
    .describe('Only templates of this category.'),
});

const summary = {
  slug: z.string().describe('What send_email takes as `template`.'),
  name: z.string().describe('What people call it.'),
  category: z.string().describe('What it is about.'),
  description: z.string().describe('When to use it.'),
};

const output = z.strictObject({
  templates: z
    .array(
      z.strictObject({
        ...summary,
        variables: z
          .array(
            z.strictObject({
              name: z.string().describe('Name of the variable.'),
              required: z.boolean().describe('Whether a send without it is refused.'),
            }),
          )
          .describe('What it can be filled with. get_template says more about each.'),
      }),
    )
    .describe('The templates, by category and slug.'),
});

async function run(
  deps: { templates: TemplateCatalog },
  caller: Caller,
  { category }: z.output<typeof input>,
): Promise<z.output<typeof output>> {
  const templates = await deps.templates.list(caller.accountId, category);
  return {
    templates: templates.map((template) => ({
      slug: template.slug,
      name: template.name,
      category: template.category,
      description: template.description,
      variables: template.variables.map(({ name, required }) => ({ name, required })),
    })),
  };
}

export const listTemplates = {
  name: 'list_templates',
  title: 'List templates',
  summary:
    'The templates that can be sent, with the names of their variables: the system catalogue and the account’s own.',
  scope: null,
  input,
  output,
  run,
} satisfies Operation<{ templates: TemplateCatalog }, typeof input, typeof output>;
