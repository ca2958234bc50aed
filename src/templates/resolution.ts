// Resolution: which template a slug means for an account, with the account's branding, from memory.
// Before it: rendering.ts asks once per send. After it: a compiled template. An account's own slug wins over a system one.
import type { Directory } from '../accounts/directory.ts';
import type { Queryable } from '../store/pool.ts';
import { readBranding } from './account-branding.ts';
import { unknownTemplate } from './account-templates.ts';
import { type BrandingContext, brandingContext, defaultBranding } from './branding.ts';
import type { Catalog, Category } from './catalog.ts';
import { readTemplateVersion } from './stored-templates.ts';
import { type CompiledTemplate, compileContent } from './template-draft.ts';
import type { Variable } from './variables.ts';

export interface ResolvedTemplate extends CompiledTemplate {
  slug: string;
  /**
   * Null for a system template: it changes with releases of the program, not by version, and the number alone tells an
   * account's own `welcome` from the system's in what messages record.
   */
  version: number | null;
  /** As it is written, in Jinja2. */
  subject: string;
  variables: readonly Variable[];
  sample: Record<string, unknown>;
}

export interface ResolvedBranding {
  version: number;
  context: BrandingContext;
}

/**
 * What a send of this slug uses; a Problem names the nearest slugs when there is none. A version may be one of the account's
 * own that is not published, to look at it before it is.
 */
export type Resolve = (accountId: number, slug: string, version?: number) => Promise<Resolved>;

export interface Resolved {
  template: ResolvedTemplate;
  /** Null for a version that is only looked at. */
  category: Category | null;
  branding: ResolvedBranding;
}

/** What is remembered of an account until it changes. */
interface AccountView {
  branding: ResolvedBranding;
  /** The account's published templates, by slug. */
  published: Map<string, { version: number; category: Category }>;
}

/** Compiled templates of accounts that one process keeps. A template of 10 KB takes some 100 KB compiled. */
const MOST_COMPILED = 500;

export function openResolution(deps: {
  database: Queryable;
  catalog: Catalog;
  perAccount: Directory['perAccount'];
}): Resolve {
  const { database, catalog } = deps;
  const viewOf = deps.perAccount((accountId) => loadView(database, accountId));
  const system = systemTemplates(catalog);
  // By account, slug and version. A version never changes, so what was compiled from it outlives other changes.
  const compiled = new Map<string, Promise<ResolvedTemplate>>();

  function own(accountId: number, slug: string, version: number): Promise<ResolvedTemplate> {
    const key = `${accountId}/${slug}/${version}`;
    const known = compiled.get(key);
    if (known !== undefined) return known;
    const loading = compileVersion(accountId, slug, version);
    compiled.set(key, loading);
    loading.catch(() => compiled.delete(key));
    if (compiled.size > MOST_COMPILED) compiled.delete(compiled.keys().next().value!);
    return loading;
  }

  async function compileVersion(
    accountId: number,
    slug: string,
    version: number,
  ): Promise<ResolvedTemplate> {
    const content = await readTemplateVersion(database, accountId, slug, version);
    const { subject, variables, sample } = content;
    const { mail, text } = compileContent(catalog.environment, slug, content);
    return { slug, version, subject, variables, sample, mail, text };
  }

  return async (accountId, slug, wanted) => {
    const { branding, published } = await viewOf(accountId);
    const found = wanted ? { version: wanted, category: null } : published.get(slug);
    if (found !== undefined) {
      const template = await own(accountId, slug, found.version);
      return { template, category: found.category, branding };
    }
    const template = system.get(slug);
    if (template !== undefined) return { template, category: categoryOf(catalog, slug), branding };
    throw unknownTemplate(slug, [...published.keys(), ...system.keys()]);
  };
}

/** Without an account: the catalogue in its default colours. */
export function openSystemResolution(catalog: Catalog): Resolve {
  const system = systemTemplates(catalog);
  const branding = { version: 0, context: brandingContext(defaultBranding) };
  return async (_accountId, slug) => {
    const template = system.get(slug);
    if (template !== undefined) return { template, category: categoryOf(catalog, slug), branding };
    throw unknownTemplate(slug, [...system.keys()]);
  };
}

const categoryOf = (catalog: Catalog, slug: string): Category | null =>
  catalog.templates.get(slug)?.category ?? null;

const systemTemplates = (catalog: Catalog): Map<string, ResolvedTemplate> =>
  new Map(
    [...catalog.templates].map(([slug, { compiled, subject, variables, sample }]) => [
      slug,
      { slug, version: null, subject, variables, sample, mail: compiled, text: null },
    ]),
  );

async function loadView(database: Queryable, accountId: number): Promise<AccountView> {
  const [branding, rows] = await Promise.all([
    readBranding(database, accountId),
    database.prepared<{ slug: string; version: number; category: Category }>(
      'templates-published',
      `SELECT slug, published_version AS version, category FROM account_templates
       WHERE account_id = $1 AND published_version IS NOT NULL AND archived_at IS NULL`,
      [accountId],
    ),
  ]);
  return {
    branding: { version: branding.version, context: brandingContext(branding.fields) },
    published: new Map(rows.map(({ slug, ...published }) => [slug, published])),
  };
}
