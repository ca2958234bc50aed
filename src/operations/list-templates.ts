// list-templates: what an account can send, without the details. MCP: list_templates.
import { z } from 'zod';
import { categories } from '../templates/categories.ts';
import { listOf, pageOfFew, pageOutOf, WHOLE_FOR_AGENTS } from './lists.ts';
import { operation } from './operation.ts';

const input = z.strictObject({
  category: z
    .enum(categories, `must be one of ${categories.join(', ')}`)
    .optional()
    .describe('Only templates of this category.'),
  query: z
    .string()
    .trim()
    .max(200)
    .optional()
    .describe('What the email is about, in a few words: the five that fit best.')
    .meta({ example: 'reset a password' }),
  ...pageOfFew,
});

const summary = {
  slug: z.string().describe('What send_email takes as `template`.'),
  name: z.string().describe('Its name.'),
  category: z.enum(categories).describe('What it is about.'),
  description: z.string().describe('When to use it.'),
  own: z.literal(true).optional().describe('The account wrote it. Absent: the catalogue’s.'),
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
    brief: 'Templates that can be sent, with their variables. Give a query.',
    without: WHOLE_FOR_AGENTS,
  },
  async run({ templates }, { accountId }, { category, query, ...wanted }) {
    const all = await templates.list(accountId, category);
    const found = query === undefined ? all : bestFitting(query, all);
    return pageOutOf(
      found.map(({ slug, name, category, description, variables, own }) => ({
        ...{ slug, name, category, description, ...(own && { own }) },
        variables: variables.map(({ name, required }) => ({ name, required })),
      })),
      wanted,
      ({ slug }) => slug,
    );
  },
});

const MOST_FITTING = 5;
const SMALL_WORDS = ['and', 'for', 'from', 'that', 'the', 'their', 'with', 'email'];

interface Named {
  slug: string;
  name: string;
  category: string;
  description: string;
}

/** Ranked by how many of the words each contains; words in its name count more. */
function bestFitting<Template extends Named>(query: string, all: readonly Template[]): Template[] {
  const words = query
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 2 && !SMALL_WORDS.includes(word));
  return all
    .map((template) => ({ template, fit: fitOf(words, template) }))
    .filter(({ fit }) => fit > 0)
    .sort((one, other) => other.fit - one.fit)
    .slice(0, MOST_FITTING)
    .map(({ template }) => template);
}

function fitOf(words: readonly string[], { slug, name, category, description }: Named): number {
  const titles = ` ${slug.replaceAll('-', ' ')} ${name} `.toLowerCase();
  const rest = ` ${category} ${description}`.toLowerCase();
  const fitOfWord = (word: string): number => {
    if (titles.includes(` ${word} `)) return 5;
    if (titles.includes(` ${stem(word)}`)) return 3;
    return rest.includes(` ${stem(word)}`) ? 1 : 0;
  };
  return words.reduce((fit, word) => fit + fitOfWord(word), 0);
}

/** Enough of a word to match its other forms: confirm, confirmed, confirmation. */
const stem = (word: string): string => (word.length > 6 ? word.slice(0, -3) : word);
