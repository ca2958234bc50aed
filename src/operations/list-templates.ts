// list-templates: what an account can send, without the details. MCP: list_templates.
import { z } from 'zod';
import { categories } from '../templates/categories.ts';
import { listed, listOf } from './lists.ts';
import { operation } from './operation.ts';

const input = z.strictObject({
  category: z
    .enum(categories, `must be one of ${categories.join(', ')}`)
    .optional()
    .describe('Only templates of this category.'),
});

const summary = {
  slug: z.string().describe('What send_email takes as `template`.'),
  name: z.string().describe('What people call it.'),
  category: z.enum(categories).describe('What it is about.'),
  description: z.string().describe('When to use it.'),
};

const template = z.object({
  ...summary,
  variables: z
    .array(
      z.object({
        name: z.string().describe('Name of the variable.'),
        required: z.boolean().describe('Whether a send without it is refused.'),
      }),
    )
    .describe('What it can be filled with. get_template says more about each.'),
});

export const listTemplates = operation({
  name: 'list_templates',
  title: 'List templates',
  summary:
    'The templates that can be sent, with the names of their variables: the system catalogue and the account’s own.',
  effect: 'reads',
  scope: null,
  input,
  output: listOf('templates', template),
  rest: { method: 'GET', path: '/v1/templates' },
  client: 'templates.list',
  tool: {
    advice:
      'Start here when you want to send a mail; then read the one you choose with get_template.',
  },
  async run({ templates }, { accountId }, { category }) {
    const found = await templates.list(accountId, category);
    return listed(
      found.map(({ slug, name, category, description, variables }) => ({
        ...{ slug, name, category, description },
        variables: variables.map(({ name, required }) => ({ name, required })),
      })),
      null,
    );
  },
});
