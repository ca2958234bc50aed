// The offering: every template an account can send, as list_templates and get_template show it.
// Before it: operations/list-templates.ts and get-template.ts, which show it. After it: resolution
// and rendering.
import { Problem } from '../errors.ts';
import type { Queryable } from '../store/pool.ts';
import type { Catalog } from './catalog.ts';
import { type Category, categories } from './categories.ts';
import { LAST_RESORT } from './locales.ts';
import type { RenderTemplate } from './rendering.ts';
import type { Resolve, ResolvedTemplate } from './resolution.ts';
import { sampleIn } from './samples.ts';
import type { Variable } from './variables.ts';
import { writtenOut } from './written-out.ts';

interface Offered {
  slug: string;
  name: string;
  category: Category;
  description: string;
  variables: readonly Variable[];
  /** The stream of its emails; none: the default one. */
  stream?: string | null;
  /** The account wrote it; absent: the catalogue's. */
  own?: true;
}

/** The system templates and the account's own, as the account sees them. */
export type Offering = ReturnType<typeof createOffering>;

export function createOffering(deps: {
  database: Queryable;
  catalog: Catalog;
  resolve: Resolve;
  render: RenderTemplate;
}) {
  /**
   * The system templates, but where the account has one of its own by that slug. By category, then
   * slug.
   */
  async function list(accountId: number, category?: string) {
    const offered = new Map<string, Offered>();
    // Not copied: a copy would compile each of them, which takes 200 ms.
    for (const template of deps.catalog.templates.values()) offered.set(template.slug, template);
    for (const template of await readPublished(deps.database, accountId)) {
      offered.set(template.slug, { ...template, own: true });
    }
    return [...offered.values()]
      .filter((template) => category === undefined || template.category === category)
      .sort(byCategory)
      .map(({ slug, name, category, description, stream = null, variables, own }) => ({
        ...{ slug, name, category, description, stream, ...(own && { own }) },
        variables: variables.map((variable) => ({ ...variable, example: variable.example })),
      }));
  }

  async function get(accountId: number, slug: string) {
    const summary = (await list(accountId)).find((template) => template.slug === slug);
    if (summary === undefined) return undefined;
    const { template, locale } = await deps.resolve(accountId, slug);
    const { phrases } = deps.catalog;
    const sample = summary.own ? template.sample : sampleIn(phrases, template.sample, [locale]);
    const subject = writtenOut(template.subject, englishOf(template, deps.catalog));
    return { ...summary, subject, sample, preview: await preview(accountId, slug, sample) };
  }

  /**
   * An account's own sample may lack what the template needs. Then that is what there is to see.
   */
  async function preview(
    accountId: number,
    slug: string,
    sample: Record<string, unknown>,
  ): Promise<string> {
    try {
      return (await deps.render(accountId, { slug, variables: sample })).text.toString();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return `It cannot be shown with its sample: ${error.detail}`;
    }
  }

  return { list, get };
}

/** Its messages in English, else in its first language. */
function englishOf({ slug, source }: ResolvedTemplate, { templates }: Catalog) {
  const messages = source === null ? templates.get(slug)?.messages : source.value.messages;
  return messages?.[LAST_RESORT] ?? Object.values(messages ?? {})[0];
}

const byCategory = (one: Offered, other: Offered): number =>
  categories.indexOf(one.category) - categories.indexOf(other.category) ||
  (one.slug < other.slug ? -1 : 1);

async function readPublished(database: Queryable, accountId: number): Promise<Offered[]> {
  return await database.query<Offered>(
    `SELECT t.slug, t.name, t.category, t.description, t.stream, v.variables
     FROM account_templates t JOIN account_template_versions v
       ON v.account_id = t.account_id AND v.slug = t.slug AND v.version = t.published_version
     WHERE t.account_id = $1 AND t.archived_at IS NULL`,
    [accountId],
  );
}
