// Templates as the pages show them: the system's and the account's own in one list, one with the source of a version.
import { Problem } from '../errors.ts';
import { unknownTemplate } from '../templates/account-templates.ts';
import type { SystemTemplate } from '../templates/catalog.ts';
import { categories } from '../templates/categories.ts';
import {
  type AccountTemplate,
  findAccountTemplate,
  listAccountTemplates,
  readTemplateVersion,
} from '../templates/stored-templates.ts';
import type { TemplateContent } from '../templates/template-draft.ts';
import type { DashboardDeps } from './deps.ts';
import type { TemplateDetail, TemplateRow, TemplateSource } from './views/templates.ts';

type TemplateDeps = Pick<DashboardDeps, 'database' | 'catalog'>;

/** By category, then slug. */
export async function listTemplateRows(
  { database, catalog }: TemplateDeps,
  accountId: number,
): Promise<TemplateRow[]> {
  const rows = new Map<string, TemplateRow>();
  for (const system of catalog.templates.values()) rows.set(system.slug, systemRow(system));
  for (const own of await listAccountTemplates(database, accountId)) {
    rows.set(own.slug, ownRow(own, catalog.templates.has(own.slug)));
  }
  return [...rows.values()].sort(
    (one, other) =>
      categories.indexOf(one.category) - categories.indexOf(other.category) ||
      (one.slug < other.slug ? -1 : 1),
  );
}

/** `version`: a number, or `system`; else the published one, else the newest, else the system's. */
export async function readTemplateDetail(
  { database, catalog }: TemplateDeps,
  accountId: number,
  slug: string,
  version?: string,
): Promise<TemplateDetail> {
  const system = catalog.templates.get(slug);
  const own = await findAccountTemplate(database, accountId, slug);
  if (own === undefined || version === 'system') {
    if (system === undefined || (version !== undefined && version !== 'system')) {
      throw unknownTemplate(slug, [...catalog.templates.keys()]);
    }
    const row = own === undefined ? systemRow(system) : ownRow(own, true);
    return { ...row, version: null, content: toSource({ ...system, text: null }) };
  }
  const wanted = readVersion(version) ?? own.publishedVersion ?? own.newestVersion;
  const content = await readTemplateVersion(database, accountId, slug, wanted);
  return {
    ...ownRow(own, system !== undefined),
    version: wanted,
    content: toSource(content),
  };
}

function readVersion(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Problem('invalid', 'version: a number, or system.');
}

function systemRow({ slug, name, category, description }: SystemTemplate): TemplateRow {
  return {
    ...{ slug, name, category, description },
    source: 'system',
    state: 'system',
    publishedVersion: null,
    newestVersion: null,
    hasSystem: true,
  };
}

function ownRow(own: AccountTemplate, hasSystem: boolean): TemplateRow {
  const { slug, name, category, description, publishedVersion, newestVersion } = own;
  return {
    ...{ slug, name, category, description, publishedVersion, newestVersion, hasSystem },
    source: 'account',
    state: own.archived ? 'archived' : publishedVersion === null ? 'draft' : 'published',
  };
}

function toSource(content: TemplateContent): TemplateSource {
  const { subject, preheader, html, text, variables, sample } = content;
  return { subject, preheader, html, text, variables, sample };
}
