// Resolution: which template a slug means for an account, with the account's branding, from memory.
// Before it: rendering.ts asks once per send. After it: a template's source. An account's own slug
// wins over a system one.
import type { Directory } from '../accounts/directory.ts';
import { PLANS } from '../accounts/plans.ts';
import type { Queryable } from '../store/pool.ts';
import { readBranding } from './account-branding.ts';
import { unknownTemplate } from './account-templates.ts';
import { type BrandingContext, brandingContext } from './branding.ts';
import { defaultBranding } from './branding-fields.ts';
import type { CarriedImage } from './carried-file.ts';
import { type Catalog, systemTemplatesIn } from './catalog.ts';
import type { Category } from './categories.ts';
import type { TemplateSource } from './email-maker.ts';
import { carriedLogo } from './logos.ts';
import type { Keyed, Whose } from './making.ts';
import { readTemplateVersion } from './stored-templates.ts';
import { sourceOf } from './template-draft.ts';
import { namesReadBy } from './variable-fit.ts';
import type { Variable } from './variables.ts';

export interface ResolvedTemplate {
  slug: string;
  /** Null: the catalogue's, which every thread has. */
  source: Keyed<TemplateSource> | null;
  /**
   * Null for a system template: it changes with releases of the program, not by version, and the
   * number alone tells an account's own `welcome` from the system's in what messages record.
   */
  version: number | null;
  /** As it is written, in Jinja2. */
  subject: string;
  variables: readonly Variable[];
  /** Other names that its source reads; null: it declares everything. */
  reads: ReadonlySet<string> | null;
  sample: Record<string, unknown>;
}

export interface ResolvedBranding {
  version: number;
  /** The key under which a thread may cache it; null: it may not. */
  key: string | null;
  context: BrandingContext;
  /** Carried by emails that show it. */
  logo: CarriedImage | null;
}

/**
 * What a send of this slug uses; a Problem names the nearest slugs when there is none. A version
 * may be one of the account's own that is not published, to look at it before it is.
 */
export type Resolve = (accountId: number, slug: string, version?: number) => Promise<Resolved>;

export interface Resolved {
  template: ResolvedTemplate;
  /** Null for a version that is only looked at. */
  category: Category | null;
  /** Null: it names none. */
  stream: string | null;
  branding: ResolvedBranding;
  /** The language of its emails if a send names none; null: English. */
  locale: string | null;
  /** Who pays for the rendering. */
  whose: Whose;
}

/** What is remembered of an account until it changes. */
interface AccountView {
  branding: ResolvedBranding;
  locale: string | null;
  whose: Whose;
  /** The account's published templates, by slug. */
  published: Map<string, { version: number; category: Category; stream: string | null }>;
}

/** How many account templates one process keeps in memory. */
const MOST_KEPT = 500;

export function openResolution(deps: {
  database: Queryable;
  catalog: Catalog;
  perAccount: Directory['perAccount'];
}): Resolve {
  const { database, catalog } = deps;
  const viewOf = deps.perAccount((accountId) => loadView(database, accountId));
  const system = systemTemplates(catalog);
  // By account, slug and version. A version never changes, so it outlives other changes.
  const kept = new Map<string, Promise<ResolvedTemplate>>();

  function own(accountId: number, slug: string, version: number): Promise<ResolvedTemplate> {
    const key = `${accountId}/${slug}/${version}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const loading = load(key, accountId, slug, version);
    kept.set(key, loading);
    loading.catch(() => kept.delete(key));
    if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
    return loading;
  }

  async function load(
    key: string,
    accountId: number,
    slug: string,
    version: number,
  ): Promise<ResolvedTemplate> {
    const content = await readTemplateVersion(database, accountId, slug, version);
    const { subject, variables, sample } = content;
    const source = { key: `template/${key}`, value: sourceOf(content) };
    const reads = readsOf(content, catalog);
    return { slug, version, source, subject, variables, reads, sample };
  }

  return async (accountId, slug, wanted) => {
    const { branding, locale, whose, published } = await viewOf(accountId);
    const found = wanted ? { version: wanted, category: null, stream: null } : published.get(slug);
    if (found !== undefined) {
      const template = await own(accountId, slug, found.version);
      const { category, stream } = found;
      return { template, category, stream, branding, locale, whose };
    }
    const template = system.get(slug);
    if (template !== undefined) {
      const category = categoryOf(catalog, slug);
      return { template, category, stream: null, branding, locale, whose };
    }
    throw unknownTemplate(slug, [...published.keys(), ...system.keys()]);
  };
}

/**
 * Without an account: the catalogue in its default colours. The service's own emails wait in a line
 * of their own.
 */
export function openSystemResolution(catalog: Catalog): Resolve {
  const system = systemTemplates(catalog);
  const context = brandingContext(defaultBranding, { name: 'Sandmartin' });
  const branding = { version: 0, key: 'branding/default', context, logo: null };
  const whose = { share: 'system', ratePerSecond: PLANS.paid.ratePerSecond };
  return async (_accountId, slug) => {
    const template = system.get(slug);
    if (template !== undefined) {
      const category = categoryOf(catalog, slug);
      return { template, category, stream: null, branding, locale: null, whose };
    }
    throw unknownTemplate(slug, [...system.keys()]);
  };
}

const categoryOf = (catalog: Catalog, slug: string): Category | null =>
  catalog.templates.get(slug)?.category ?? null;

const systemTemplates = (catalog: Catalog): Map<string, ResolvedTemplate> =>
  new Map(
    [...catalog.templates].map(([slug, { subject, variables, sample }]) => [
      slug,
      { slug, version: null, source: null, subject, variables, reads: null, sample },
    ]),
  );

/** Also what the system templates read that it extends or includes. */
export function readsOf(
  { subject, preheader, html, text }: TemplateSource,
  catalog: Catalog,
): ReadonlySet<string> {
  const sources = [subject, preheader, html, text ?? ''];
  const names = new Set(sources.flatMap((source) => [...namesReadBy(source)]));
  for (const { variables } of systemTemplatesIn(catalog.templates, sources)) {
    for (const { name } of variables) names.add(name.split('.')[0]!);
  }
  return names;
}

/** Whose the work on an account's emails is. */
export async function loadWhose(
  database: Queryable,
  accountId: number,
): Promise<Whose & { locale: string | null }> {
  const [account] = await database.prepared<{ rate: number | null; locale: string | null }>(
    'account-rate-and-locale',
    'SELECT rate_per_second AS rate, locale FROM accounts WHERE id = $1',
    [accountId],
  );
  return {
    share: `account ${accountId}`,
    ratePerSecond: account?.rate ?? PLANS.paid.ratePerSecond,
    locale: account?.locale ?? null,
  };
}

async function loadView(database: Queryable, accountId: number): Promise<AccountView> {
  const [{ version, fields, accountName }, published, { locale, ...whose }] = await Promise.all([
    readBranding(database, accountId),
    database.prepared<{
      slug: string;
      version: number;
      category: Category;
      stream: string | null;
    }>(
      'templates-published',
      `SELECT slug, published_version AS version, category, stream FROM account_templates
       WHERE account_id = $1 AND published_version IS NOT NULL AND archived_at IS NULL`,
      [accountId],
    ),
    loadWhose(database, accountId),
  ]);
  const key = `branding/${accountId}/${version}`;
  const logo = await carriedLogo(database, accountId, fields);
  return {
    branding: { version, key, context: brandingContext(fields, { logo, name: accountName }), logo },
    ...{ locale, whose },
    published: new Map(published.map(({ slug, ...about }) => [slug, about])),
  };
}
