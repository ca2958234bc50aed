// The rows of templates that accounts own, and of their versions. Written by account-templates.ts
// only, which decides what may be saved; read by resolution.ts for sends.
import { raiseVersion } from '../accounts/version.ts';
import { Problem } from '../errors.ts';
import type { Queryable } from '../store/pool.ts';
import type { Category } from './categories.ts';
import type { TemplateContent, TemplateDraft } from './template-draft.ts';

export interface AccountTemplate {
  accountId: number;
  slug: string;
  /** That of the published version, as is the description; of the newest, where none is. */
  name: string;
  category: Category;
  description: string;
  /** The stream of its emails; null: the default one. */
  stream: string | null;
  /** What sends use. Null: never published. */
  publishedVersion: number | null;
  newestVersion: number;
  archived: boolean;
  createdAt: string;
}

/** Where a version comes from and whether it was used. */
export interface VersionHistory {
  version: number;
  /** The system template it is a copy of. */
  clonedFrom: string | null;
  /** The version it was edited from. */
  basedOn: number | null;
  createdAt: string;
  /** When it was first published; null: a draft. */
  publishedAt: string | null;
}

/** A new name applies once it is published. */
export type TemplateVersion = VersionHistory &
  TemplateContent &
  Pick<TemplateDraft, 'name' | 'description'>;

/** $1 is the account; Citus needs it for both tables. */
const TEMPLATE_COLUMNS = `t.account_id AS "accountId", t.slug, t.name, t.category, t.description, t.stream,
  t.published_version AS "publishedVersion", t.archived_at IS NOT NULL AS archived, t.created_at AS "createdAt",
  (SELECT max(version) FROM account_template_versions v WHERE v.account_id = $1 AND v.slug = t.slug)
    AS "newestVersion"`;

const HISTORY_COLUMNS = `v.version, v.cloned_from AS "clonedFrom", v.based_on AS "basedOn",
  v.created_at AS "createdAt", v.published_at AS "publishedAt"`;

/** All of an account, archived ones too. */
export async function listAccountTemplates(
  database: Queryable,
  accountId: number,
): Promise<AccountTemplate[]> {
  const rows = await database.query<TemplateRow>(
    `SELECT ${TEMPLATE_COLUMNS} FROM account_templates t WHERE account_id = $1 ORDER BY slug`,
    [accountId],
  );
  return rows.map(toTemplate);
}

export async function findAccountTemplate(
  database: Queryable,
  accountId: number,
  slug: string,
): Promise<AccountTemplate | undefined> {
  const [row] = await database.query<TemplateRow>(
    `SELECT ${TEMPLATE_COLUMNS} FROM account_templates t WHERE account_id = $1 AND slug = $2`,
    [accountId, slug],
  );
  return row && toTemplate(row);
}

export async function readAccountTemplate(
  database: Queryable,
  accountId: number,
  slug: string,
): Promise<AccountTemplate> {
  const found = await findAccountTemplate(database, accountId, slug);
  if (found !== undefined) return found;
  throw new Problem(
    'not-found',
    `Account ${accountId} has no template "${slug.slice(0, 100)}" of its own. Clone a system template, or put a new one.`,
  );
}

/** The versions of a template, newest first, without their content. */
export async function listTemplateVersions(
  database: Queryable,
  accountId: number,
  slug: string,
): Promise<VersionHistory[]> {
  const rows = await database.query<HistoryRow>(
    `SELECT ${HISTORY_COLUMNS} FROM account_template_versions v
     WHERE account_id = $1 AND slug = $2 ORDER BY version DESC`,
    [accountId, slug],
  );
  return rows.map(toHistory);
}

export async function readTemplateVersion(
  database: Queryable,
  accountId: number,
  slug: string,
  version: number,
): Promise<TemplateVersion> {
  const [row] = await database.prepared<
    HistoryRow & TemplateContent & { name: string; description: string }
  >(
    'template-version-with-name',
    `SELECT ${HISTORY_COLUMNS}, coalesce(v.name, t.name) AS name,
       coalesce(v.description, t.description) AS description,
       v.subject, v.preheader, v.html, v.text, v.variables, v.sample, v.messages
     FROM account_template_versions v
       JOIN account_templates t ON t.account_id = v.account_id AND t.slug = v.slug
     WHERE v.account_id = $1 AND v.slug = $2 AND v.version = $3`,
    [accountId, slug, version],
  );
  if (row !== undefined) return toHistory(row);
  throw new Problem(
    'not-found',
    `Template "${slug}" of account ${accountId} has no version ${version}.`,
  );
}

export async function saveTemplate(
  client: Queryable,
  accountId: number,
  slug: string,
  about: Pick<TemplateDraft, 'name' | 'category' | 'description' | 'stream'>,
): Promise<void> {
  await client.query(
    `INSERT INTO account_templates (account_id, slug, name, category, description, stream)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (account_id, slug) DO UPDATE SET name = excluded.name, category = excluded.category,
       description = excluded.description, stream = excluded.stream`,
    [accountId, slug, about.name, about.category, about.description, about.stream],
  );
  await raiseVersion(client, accountId);
}

export async function saveVersion(
  client: Queryable,
  accountId: number,
  slug: string,
  version: Omit<TemplateVersion, 'createdAt' | 'publishedAt'>,
): Promise<void> {
  await client.query(
    `INSERT INTO account_template_versions (account_id, slug, version, cloned_from, based_on,
       subject, preheader, html, text, variables, sample, messages, name, description)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    [
      accountId,
      slug,
      version.version,
      version.clonedFrom,
      version.basedOn,
      version.subject,
      version.preheader,
      version.html,
      version.text,
      JSON.stringify(version.variables),
      JSON.stringify(version.sample),
      JSON.stringify(version.messages),
      version.name,
      version.description,
    ],
  );
}

interface TemplateRow extends Omit<AccountTemplate, 'createdAt'> {
  createdAt: Date;
}

interface HistoryRow extends Omit<VersionHistory, 'createdAt' | 'publishedAt'> {
  createdAt: Date;
  publishedAt: Date | null;
}

const toTemplate = (row: TemplateRow): AccountTemplate => ({
  ...row,
  createdAt: row.createdAt.toISOString(),
});

const toHistory = <Row extends HistoryRow>(row: Row) => ({
  ...row,
  createdAt: row.createdAt.toISOString(),
  publishedAt: row.publishedAt?.toISOString() ?? null,
});
