// Templates of an account's own: cloned or made from nothing, edited in versions, published, rolled back, archived.
// Before it: the CLI or the dashboard. After it: resolution.ts finds the published version for a send.
import { lockAccount } from '../accounts/accounts.ts';
import { Problem } from '../errors.ts';
import { similarSlugs } from '../nearest.ts';
import type { Database, Queryable } from '../store/pool.ts';
import type { Catalog } from './catalog.ts';
import { type Making, makeHere } from './making.ts';
import {
  type AccountTemplate,
  findAccountTemplate,
  readAccountTemplate,
  readTemplateVersion,
  saveTemplate,
  saveVersion,
} from './stored-templates.ts';
import { checkDraft, checkSlug, sourceOf, type TemplateDraft } from './template-draft.ts';

interface TemplateDeps {
  database: Database;
  catalog: Catalog;
  /** Where drafts are compiled to see whether they can be; here unless told. */
  making?: Making;
}

/** More than people make; they are not counted with the account's sends. */
const EDITS_PER_SECOND = 100;

/** A copy of a system template, published as it is: from now on the account's sends use the copy. */
export async function cloneTemplate(
  deps: TemplateDeps,
  accountId: number,
  systemSlug: string,
  as = systemSlug,
): Promise<AccountTemplate> {
  const system = deps.catalog.templates.get(systemSlug) ?? noSystemTemplate(deps, systemSlug);
  const slug = checkSlug(as);
  return await deps.database.transaction(async (client) => {
    await lockAccount(client, accountId);
    if ((await findAccountTemplate(client, accountId, slug)) !== undefined) {
      throw new Problem(
        'invalid',
        `slug: account ${accountId} has a template "${slug}" already. Clone under another slug, or change that one.`,
      );
    }
    await saveTemplate(client, accountId, slug, system);
    await saveVersion(client, accountId, slug, {
      ...system,
      text: null,
      version: 1,
      clonedFrom: systemSlug,
      basedOn: null,
    });
    return await publish(client, accountId, slug, 1);
  });
}

/**
 * Saves a new version, as a draft. What is not given stays as in the version it is based on (the newest, unless told);
 * a template made from nothing needs at least a subject and HTML.
 */
export async function putTemplate(
  deps: TemplateDeps,
  accountId: number,
  slug: string,
  change: { [Field in keyof TemplateDraft]?: unknown },
  basedOn?: number,
): Promise<{ template: AccountTemplate; version: number }> {
  checkSlug(slug);
  return await deps.database.transaction(async (client) => {
    await lockAccount(client, accountId);
    const existing = await findAccountTemplate(client, accountId, slug);
    const base = existing && (basedOn ?? existing.newestVersion);
    const before =
      base === undefined
        ? madeFromNothing(slug)
        : { ...existing!, ...(await readTemplateVersion(client, accountId, slug, base)) };
    const draft = checkDraft(merge(before, change));
    await (deps.making ?? makeHere(deps.catalog)).check(slug, sourceOf(draft), {
      share: `edits of account ${accountId}`,
      ratePerSecond: EDITS_PER_SECOND,
    });

    const version = (existing?.newestVersion ?? 0) + 1;
    await saveTemplate(client, accountId, slug, draft);
    await saveVersion(client, accountId, slug, {
      ...draft,
      version,
      clonedFrom: null,
      basedOn: base ?? null,
    });
    return { template: (await findAccountTemplate(client, accountId, slug))!, version };
  });
}

/** From now on sends use this version (the newest, unless told). Brings an archived template back. */
export async function publishTemplate(
  database: Database,
  accountId: number,
  slug: string,
  version?: number,
): Promise<AccountTemplate> {
  return await database.transaction(async (client) => {
    await lockAccount(client, accountId);
    const template = await readAccountTemplate(client, accountId, slug);
    return await publish(client, accountId, slug, version ?? template.newestVersion);
  });
}

/** Back to the version that was in use before the published one. A rolled-back version is kept and can be published again. */
export async function rollBackTemplate(
  database: Database,
  accountId: number,
  slug: string,
): Promise<AccountTemplate> {
  return await database.transaction(async (client) => {
    await lockAccount(client, accountId);
    const { publishedVersion } = await readAccountTemplate(client, accountId, slug);
    const [earlier] = await client.query<{ version: number | null }>(
      `SELECT max(version) AS version FROM account_template_versions
       WHERE account_id = $1 AND slug = $2 AND version < $3 AND published_at IS NOT NULL`,
      [accountId, slug, publishedVersion],
    );
    if (typeof earlier?.version === 'number') {
      return await publish(client, accountId, slug, earlier.version);
    }
    throw new Problem(
      'invalid',
      publishedVersion === null
        ? `Template "${slug}" was never published, so there is nothing to roll back.`
        : `Version ${publishedVersion} of template "${slug}" is the first that was published. Publish a version by its number, or archive the template.`,
    );
  });
}

/** Out of use: sends find the system template of the slug again, or none. Nothing is lost; publishing brings it back. */
export async function archiveTemplate(
  database: Database,
  accountId: number,
  slug: string,
): Promise<AccountTemplate> {
  await database.query(
    `UPDATE account_templates SET archived_at = coalesce(archived_at, now())
     WHERE account_id = $1 AND slug = $2`,
    [accountId, slug],
  );
  return await readAccountTemplate(database, accountId, slug);
}

// ---- Steps ------------------------------------------------------------------------------------------------------

function madeFromNothing(slug: string): { [Field in keyof TemplateDraft]: unknown } {
  return {
    name: slug,
    category: 'notifications',
    description: '',
    subject: '',
    preheader: '',
    html: '',
    text: null,
    variables: [],
    sample: {},
  };
}

function merge(
  before: { [Field in keyof TemplateDraft]: unknown },
  change: { [Field in keyof TemplateDraft]?: unknown },
): { [Field in keyof TemplateDraft]: unknown } {
  const { name, category, description, subject, preheader, html, text, variables, sample } = before;
  return {
    ...{ name, category, description, subject, preheader, html, text, variables, sample },
    ...Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)),
  };
}

async function publish(
  client: Queryable,
  accountId: number,
  slug: string,
  version: number,
): Promise<AccountTemplate> {
  await readTemplateVersion(client, accountId, slug, version);
  await client.query(
    `UPDATE account_template_versions SET published_at = coalesce(published_at, now())
     WHERE account_id = $1 AND slug = $2 AND version = $3`,
    [accountId, slug, version],
  );
  await client.query(
    `UPDATE account_templates SET published_version = $3, archived_at = NULL
     WHERE account_id = $1 AND slug = $2`,
    [accountId, slug, version],
  );
  return await readAccountTemplate(client, accountId, slug);
}

function noSystemTemplate(deps: TemplateDeps, slug: string): never {
  throw unknownTemplate(slug, [...deps.catalog.templates.keys()]);
}

/** Names the slugs that may have been meant. */
export function unknownTemplate(slug: string, known: readonly string[]): Problem {
  const near = similarSlugs(slug, known);
  const advice = near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : '';
  return new Problem('not-found', `There is no template "${slug.slice(0, 100)}".${advice}`);
}
