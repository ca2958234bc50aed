// The source of a template as the account sees it: a version of its own, or the
// catalogue's. Before it: operations/templates.ts. After it: an editor changes it and saves it as a
// new version.
import type { Queryable } from '../store/pool.ts';
import { unknownTemplate } from './account-templates.ts';
import type { Catalog, SystemTemplate } from './catalog.ts';
import {
  type AccountTemplate,
  findAccountTemplate,
  readTemplateVersion,
} from './stored-templates.ts';
import type { TemplateContent, TemplateDraft } from './template-draft.ts';

export interface FoundSource {
  /** One of the two is always there. */
  own: AccountTemplate | undefined;
  system: SystemTemplate | undefined;
  /** Null: the system template. */
  version: number | null;
  content: TemplateContent & Pick<TemplateDraft, 'name' | 'description'>;
}

/**
 * `which`: a version's number; `newest`; `system`, the catalogue's; or `current`: the published
 * one, else the newest, else the system's.
 */
export async function readTemplateSource(
  { database, catalog }: { database: Queryable; catalog: Catalog },
  accountId: number,
  slug: string,
  which: string,
): Promise<FoundSource> {
  const system = catalog.templates.get(slug);
  const own = await findAccountTemplate(database, accountId, slug);
  const wanted = own && versionOf(own, which);
  if (wanted !== undefined) {
    const content = await readTemplateVersion(database, accountId, slug, wanted);
    return { own, system, version: wanted, content };
  }
  if (system === undefined || /^\d+$/.test(which)) {
    throw unknownTemplate(slug, [...catalog.templates.keys()]);
  }
  return { own, system, version: null, content: { ...system, text: null } };
}

function versionOf(own: AccountTemplate, which: string): number | undefined {
  if (which === 'system') return undefined;
  if (which === 'newest') return own.newestVersion;
  return which === 'current' ? (own.publishedVersion ?? own.newestVersion) : Number(which);
}
