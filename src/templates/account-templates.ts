// An account's own templates: cloned or new, edited in versions, published, rolled back, archived.
// Before it: operations/templates.ts. After it: resolution.ts finds the published version for a
// send.
import { isDeepStrictEqual } from 'node:util';
import { lockAccount } from '../accounts/accounts.ts';
import { raising } from '../accounts/version.ts';
import { Problem } from '../errors.ts';
import { similarSlugs } from '../nearest.ts';
import type { Database, Queryable } from '../store/pool.ts';
import { loadStreams, requireStream, unfitStream } from '../streams/streams.ts';
import type { Catalog } from './catalog.ts';
import { isAboutAccess } from './categories.ts';
import { type Making, makeHere } from './making.ts';
import { requireMessages } from './message-keys.ts';
import {
  type AccountTemplate,
  findAccountTemplate,
  readAccountTemplate,
  readTemplateVersion,
  saveTemplate,
  saveVersion,
} from './stored-templates.ts';
import {
  checkDraft,
  checkSlug,
  givenSources,
  NOTHING,
  type TemplateDraft,
} from './template-draft.ts';

interface TemplateDeps {
  database: Database;
  catalog: Catalog;
  /** Where drafts are compiled to check them; in this thread by default. */
  making?: Making;
}

/** More than people need; not counted with the account's sends. */
const EDITS_PER_SECOND = 100;

/**
 * A copy of a template, published as it is unless it should be a draft: from now on the account's
 * sends use the copy under its slug. If the account has its own template with the slug, that one is
 * copied, otherwise the system's.
 */
export async function cloneTemplate(
  deps: TemplateDeps,
  accountId: number,
  original: string,
  as = original,
  { published = true }: { published?: boolean } = {},
): Promise<AccountTemplate> {
  const slug = checkSlug(as, 'as');
  return await deps.database.transaction(async (client) => {
    await lockAccount(client, accountId);
    if ((await findAccountTemplate(client, accountId, slug)) !== undefined) {
      throw new Problem(
        'invalid',
        `slug: account ${accountId} already has a template "${slug}". Name another slug in \`as\`, or change that one.`,
        { at: 'as' },
      );
    }
    const draft = await draftToClone(client, deps.catalog, accountId, original);
    await saveTemplate(client, accountId, slug, draft);
    await saveVersion(client, accountId, slug, {
      ...draft,
      version: 1,
      clonedFrom: original,
      basedOn: null,
    });
    if (published) return await publish(client, accountId, slug, 1);
    return await readAccountTemplate(client, accountId, slug);
  });
}

/**
 * Throws a Problem if what is given is not valid Jinja2. Called before putTemplate and not by it:
 * compiling may wait for its turn in a thread, and no transaction that holds the account's lock
 * should wait with it. What is not given was checked when it was saved.
 */
export async function checkSources(
  deps: Pick<TemplateDeps, 'catalog' | 'making'>,
  accountId: number,
  slug: string,
  change: { [Field in keyof TemplateDraft]?: unknown },
): Promise<void> {
  await (deps.making ?? makeHere(deps.catalog)).check(checkSlug(slug), givenSources(change), {
    share: `edits of account ${accountId}`,
    ratePerSecond: EDITS_PER_SECOND,
  });
}

/**
 * Saves a new version, as a draft. What is not given stays as in the version `from` (by default the
 * newest); a new template needs at least a subject and HTML. If the newest version already says the
 * same, no version is created. `base`: the newest version that the person who changes it knows; a
 * Problem says what others have changed since.
 */
export async function putTemplate(
  deps: TemplateDeps,
  accountId: number,
  slug: string,
  change: { [Field in keyof TemplateDraft]?: unknown },
  { from, base }: { from?: number | undefined; base?: number | undefined } = {},
): Promise<{ template: AccountTemplate; version: number; draft: TemplateDraft }> {
  checkSlug(slug);
  return await deps.database.transaction(async (client) => {
    await lockAccount(client, accountId);
    const existing = await findAccountTemplate(client, accountId, slug);
    if (base !== undefined) await requireNewest(client, accountId, slug, base);
    const basedOn = existing && (from ?? existing.newestVersion);
    const before =
      basedOn === undefined
        ? madeFromNothing(slug)
        : { ...existing!, ...(await readTemplateVersion(client, accountId, slug, basedOn)) };
    const draft = checkDraft(merge(before, change));
    await requireFit(client, accountId, draft);
    if (existing !== undefined && (await isSaved(client, existing, draft))) {
      return { template: existing, version: existing.newestVersion, draft };
    }
    const version = (existing?.newestVersion ?? 0) + 1;
    await saveTemplate(client, accountId, slug, { ...draft, ...nameInUse(existing) });
    await saveVersion(client, accountId, slug, {
      ...draft,
      version,
      clonedFrom: null,
      basedOn: basedOn ?? null,
    });
    return { template: (await findAccountTemplate(client, accountId, slug))!, version, draft };
  });
}

/**
 * From now on sends use this version (by default the newest), unless one of its languages lacks a
 * message. Brings an archived template back into use. `base` as in putTemplate.
 */
export async function publishTemplate(
  deps: TemplateDeps,
  accountId: number,
  slug: string,
  version?: number,
  base?: number,
): Promise<AccountTemplate> {
  return await deps.database.transaction(async (client) => {
    await lockAccount(client, accountId);
    const { newestVersion } = await readAccountTemplate(client, accountId, slug);
    if (base !== undefined) await requireNewest(client, accountId, slug, base);
    const wanted = version ?? newestVersion;
    const content = await readTemplateVersion(client, accountId, slug, wanted);
    requireMessages(deps.catalog, slug, content);
    return await publish(client, accountId, slug, wanted);
  });
}

/**
 * Returns to the version that was in use before the published one. A rolled-back version is kept
 * and can be published again. `published` is the version that the person who rolls back knows:
 * otherwise the second of two people would go back further than either wants.
 */
export async function rollBackTemplate(
  database: Database,
  accountId: number,
  slug: string,
  published?: number,
): Promise<AccountTemplate> {
  return await database.transaction(async (client) => {
    await lockAccount(client, accountId);
    const { publishedVersion } = await readAccountTemplate(client, accountId, slug);
    if (published !== undefined && publishedVersion !== published) {
      const live = publishedVersion === null ? 'None' : `Version ${publishedVersion}`;
      throw new Problem(
        'stale',
        `${live} of template "${slug}" is live, not version ${published}: someone rolled back or published since. Nothing was changed.`,
        { at: 'published_version' },
      );
    }
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

/**
 * Takes it out of use: sends use the system template with the slug again, or none. Nothing is lost;
 * publishing brings it back.
 */
export async function archiveTemplate(
  database: Database,
  accountId: number,
  slug: string,
): Promise<AccountTemplate> {
  await database.query(
    raising(`UPDATE account_templates SET archived_at = least(archived_at, now())
             WHERE account_id = $1 AND slug = $2 RETURNING slug`),
    [accountId, slug],
  );
  return await readAccountTemplate(database, accountId, slug);
}

// ---- Steps --------------------------------------------------------------------------------------

async function draftToClone(
  client: Queryable,
  { templates }: Catalog,
  accountId: number,
  slug: string,
): Promise<TemplateDraft> {
  const own = await findAccountTemplate(client, accountId, slug);
  if (own !== undefined) {
    const version = own.publishedVersion ?? own.newestVersion;
    return { ...own, ...(await readTemplateVersion(client, accountId, slug, version)) };
  }
  const system = templates.get(slug);
  if (system === undefined) throw unknownTemplate(slug, [...templates.keys()]);
  return { ...system, stream: null, text: null };
}

/** A Problem if someone saved a version after this one; it says what that version changed. */
async function requireNewest(
  client: Queryable,
  accountId: number,
  slug: string,
  base: number,
): Promise<void> {
  const newest = (await findAccountTemplate(client, accountId, slug))?.newestVersion ?? 0;
  if (base === newest) return;
  if (base === 0) {
    throw new Problem(
      'stale',
      `There is already a template "${slug}", at version ${newest}. Choose another slug, or read that one and change it.`,
      { at: 'slug' },
    );
  }
  if (base > newest) {
    const known = newest === 0 ? 'does not exist yet' : `is at version ${newest}`;
    throw new Problem('stale', `Template "${slug}" ${known}, not at ${base}. Read it and retry.`);
  }
  const before = await readTemplateVersion(client, accountId, slug, base);
  const after = await readTemplateVersion(client, accountId, slug, newest);
  const changed = CONTENT.filter((part) => !isDeepStrictEqual(before[part], after[part]));
  const what = changed.length === 0 ? 'its category or stream' : changed.join(', ');
  throw new Problem(
    'stale',
    `Someone saved version ${newest} of template "${slug}" after version ${base}, which you started from. It changes ${what}. Read it, apply your change to it and try again.`,
    { faults: changed.map((path) => ({ path, message: `${path} differs in version ${newest}` })) },
  );
}

/** A draft does not rename what is in use. */
function nameInUse(existing: AccountTemplate | undefined) {
  if (existing === undefined || existing.publishedVersion === null) return {};
  const { name, description } = existing;
  return { name, description };
}

/** What belongs to a version. */
const CONTENT = [
  'name',
  'description',
  'subject',
  'preheader',
  'html',
  'text',
  'variables',
  'sample',
  'messages',
] as const;
/** What applies to all versions at once. */
const ABOUT = ['category', 'stream'] as const;

/** Whether the newest version already says all of that. */
async function isSaved(
  client: Queryable,
  existing: AccountTemplate,
  draft: TemplateDraft,
): Promise<boolean> {
  const { accountId, slug, newestVersion } = existing;
  const newest = await readTemplateVersion(client, accountId, slug, newestVersion);
  return (
    ABOUT.every((field) => draft[field] === existing[field]) &&
    CONTENT.every((part) => isDeepStrictEqual(draft[part], newest[part]))
  );
}

/** A Problem if its stream does not exist, or must not carry its emails. */
async function requireFit(
  client: Queryable,
  accountId: number,
  { stream, category }: TemplateDraft,
): Promise<void> {
  if (stream === null) return;
  const kind = requireStream(await loadStreams(client, accountId), stream);
  if (kind === 'broadcast' && isAboutAccess(category)) throw unfitStream(stream, category);
}

function madeFromNothing(slug: string): { [Field in keyof TemplateDraft]: unknown } {
  return {
    name: slug,
    category: 'notifications',
    description: '',
    stream: null,
    ...NOTHING,
  };
}

function merge(
  before: { [Field in keyof TemplateDraft]: unknown },
  change: { [Field in keyof TemplateDraft]?: unknown },
): { [Field in keyof TemplateDraft]: unknown } {
  const { name, category, description, stream, ...content } = before;
  const { subject, preheader, html, text, variables, sample, messages } = content;
  return {
    ...{ name, category, description, stream, subject, preheader, html, text },
    ...{ variables, sample, messages },
    ...Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)),
  };
}

async function publish(
  client: Queryable,
  accountId: number,
  slug: string,
  version: number,
): Promise<AccountTemplate> {
  const { name, description } = await readTemplateVersion(client, accountId, slug, version);
  await client.query(
    `UPDATE account_template_versions SET published_at = least(published_at, now())
     WHERE account_id = $1 AND slug = $2 AND version = $3`,
    [accountId, slug, version],
  );
  await client.query(
    raising(`UPDATE account_templates SET published_version = $3, archived_at = NULL,
               name = $4, description = $5
             WHERE account_id = $1 AND slug = $2 RETURNING slug`),
    [accountId, slug, version, name, description],
  );
  return await readAccountTemplate(client, accountId, slug);
}

/** Suggests slugs that may have been meant. */
export function unknownTemplate(slug: string, known: readonly string[]): Problem {
  const near = similarSlugs(slug, known);
  const advice = near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : '';
  return new Problem('not-found', `There is no template "${slug.slice(0, 100)}".${advice}`);
}
