// get-template: one template with everything needed to fill it. MCP: get_template.
import { z } from 'zod';
import { unknownTemplate } from '../templates/account-templates.ts';
import { operation } from './operation.ts';

const input = z.strictObject({
  slug: z.string().describe('Slug of the template, from list_templates.').meta({
    example: 'password-reset',
  }),
});

const output = z.strictObject({
  slug: z.string().describe('What send_email takes as `template`.'),
  name: z.string().describe('Its name.'),
  category: z.string().describe('What it is about.'),
  description: z.string().describe('When to use it.'),
  own: z.literal(true).optional().describe('The account wrote it. Absent: the catalogue’s.'),
  stream: z
    .string()
    .nullable()
    .describe('The stream that its emails go through; null: `transactional`.'),
  subject: z.string().describe('The subject as it is written, in Jinja2.'),
  variables: z
    .array(
      z.strictObject({
        name: z.string().describe('Name of the variable.'),
        required: z.boolean().describe('Whether a send without it is refused.'),
        type: z
          .string()
          .describe('What it must be; `url`: an http(s) address; `any`: not checked.'),
        items: z
          .unknown()
          .optional()
          .describe('For an array: the type of its entries, or the fields that each has.'),
        description: z.string().describe('What it is for.'),
        example: z.unknown().optional().describe('A value that fits.'),
      }),
    )
    .describe('What it can be filled with.'),
  sample: z
    .record(z.string(), z.unknown())
    .describe('A complete set of variables, to be copied and changed. It is made up.'),
  preview: z
    .string()
    .describe('The plain text of the email, rendered with the sample and the account’s branding.'),
});

export const getTemplate = operation({
  name: 'get_template',
  title: 'Read a template',
  summary:
    'One template: its subject, its variables with types and examples, a complete sample and how it reads.',
  effect: 'reads',
  scope: null,
  input,
  output,
  rest: { method: 'GET', path: '/v1/templates/{slug}' },
  client: 'templates.get',
  tool: { brief: 'One template: subject, variables with types, a complete sample, how it reads.' },
  async run({ templates }, caller, { slug }) {
    const template = await templates.get(caller.accountId, slug);
    if (template === undefined) {
      const known = await templates.list(caller.accountId);
      throw unknownTemplate(
        slug,
        known.map((other) => other.slug),
      );
    }
    return {
      slug: template.slug,
      name: template.name,
      category: template.category,
      description: template.description,
      ...(template.own && { own: template.own }),
      stream: template.stream,
      subject: template.subject,
      variables: template.variables.map(
        ({ name, required, type, items, description, example }) => ({
          ...{ name, required, type, items, description, example },
        }),
      ),
      sample: template.sample,
      preview: template.preview,
    };
  },
});
