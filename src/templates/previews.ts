// Previews: a template as its editor has it, saved or not, rendered as a send would render it.
// Before it: the operations that render and test templates and branding. What is wrong is a Problem
// with faults, for markers in the editor.
import { type Fault, Problem } from '../errors.ts';
import type { Queryable } from '../store/pool.ts';
import { readBranding } from './account-branding.ts';
import { unknownTemplate } from './account-templates.ts';
import { brandingContext, changeBranding } from './branding.ts';
import { showCarried } from './carried-file.ts';
import type { Catalog } from './catalog.ts';
import { carriedLogo } from './logos.ts';
import type { Making } from './making.ts';
import { createRenderer, type RenderedTemplate } from './rendering.ts';
import { readsOf } from './resolution.ts';
import { sampleIn } from './samples.ts';
import { findAccountTemplate, readTemplateVersion } from './stored-templates.ts';
import { checkDraft, NOTHING, sourceOf, type TemplateContent } from './template-draft.ts';

interface PreviewDeps {
  database: Queryable;
  catalog: Catalog;
  making: Making;
}

export interface PreviewRequest {
  /** What `draft` replaces; it need not exist if the draft has subject and html. */
  slug: string;
  version?: number | undefined;
  draft?: { [Field in keyof TemplateContent]?: unknown } | undefined;
  /** Else the sample. */
  variables?: Record<string, unknown> | undefined;
  /** Otherwise the account's language. */
  locale?: string | undefined;
  /** Unsaved values over the account's branding. */
  branding?: Record<string, unknown> | undefined;
}

export interface RenderedEmail {
  subject: string;
  html: string;
  text: string;
}

/** One of the two: an email, or why there is none. */
export interface Preview {
  slug: string;
  email: RenderedEmail | null;
  faults: Fault[];
}

/**
 * More than people look at. Previews are not counted with the account's sends, so no viewer can
 * hold those up.
 */
const PREVIEWS_PER_SECOND = 100;

/** For display: the images it carries are put into the HTML. `sent`: the HTML as it is sent. */
export async function renderPreview(
  deps: PreviewDeps,
  accountId: number,
  request: PreviewRequest,
): Promise<{ email: RenderedEmail; sent: string }> {
  const { subject, html, text, files } = await renderDraft(deps, accountId, request);
  const sent = html.toString();
  return { sent, email: { subject, html: showCarried(sent, files), text: text.toString() } };
}

/** As it is sent. */
export async function renderDraft(
  deps: PreviewDeps,
  accountId: number,
  request: PreviewRequest,
): Promise<RenderedTemplate> {
  const { slug, draft, branding: change } = request;
  const [account] = await deps.database.query<{ locale: string | null }>(
    'SELECT locale FROM accounts WHERE id = $1',
    [accountId],
  );
  const languages = [request.locale, account?.locale];
  const found = await contentFor(deps, accountId, request, languages);
  const content = checkContent({ ...found, ...draft });
  const { version, fields, accountName } = await readBranding(deps.database, accountId);
  const branding = changeBranding(fields, change ?? {}, 'branding.');
  const logo = await carriedLogo(deps.database, accountId, branding);
  const context = brandingContext(branding, { logo, name: accountName });
  const resolve = async () => ({
    template: {
      ...{ slug, version: null, ...content, reads: readsOf(content, deps.catalog) },
      source: { key: null, value: sourceOf(content) },
    },
    category: null,
    stream: null,
    branding: { version, key: null, context, logo },
    locale: account?.locale ?? null,
    whose: { share: `previews of account ${accountId}`, ratePerSecond: PREVIEWS_PER_SECOND },
  });
  const variables = request.variables ?? content.sample;
  return await createRenderer(resolve, deps.making)(accountId, {
    ...{ slug, variables, locale: request.locale },
  });
}

/** Several; one that cannot be rendered does not prevent the others from being shown. */
export async function renderEach(
  deps: PreviewDeps,
  accountId: number,
  slugs: readonly string[],
  as: Omit<PreviewRequest, 'slug' | 'version' | 'draft'> = {},
): Promise<Preview[]> {
  const previews: Preview[] = [];
  for (const slug of slugs) previews.push(await tryPreview(deps, accountId, { slug, ...as }));
  return previews;
}

/** The email, or why there is none, as a value. */
export async function tryPreview(
  deps: PreviewDeps,
  accountId: number,
  request: PreviewRequest,
): Promise<Preview> {
  const { slug } = request;
  try {
    const { email } = await renderPreview(deps, accountId, request);
    return { slug, email, faults: [] };
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'invalid') throw error;
    const { detail, faults } = error;
    const shown = faults.length > 0 ? [...faults] : [{ path: 'template', message: detail }];
    return { slug, email: null, faults: shown };
  }
}

/**
 * The requested version, otherwise what a send would use, otherwise the newest draft; nothing if
 * the draft has everything.
 */
async function contentFor(
  { database, catalog }: PreviewDeps,
  accountId: number,
  { slug, version, draft }: PreviewRequest,
  languages: readonly (string | null | undefined)[],
): Promise<TemplateContent> {
  const own = await findAccountTemplate(database, accountId, slug);
  const wanted =
    version ??
    (own?.archived ? null : own?.publishedVersion) ??
    (draft ? own?.newestVersion : null);
  if (wanted != null) return await readTemplateVersion(database, accountId, slug, wanted);
  const system = catalog.templates.get(slug);
  if (system !== undefined) {
    const sample = sampleIn(catalog.phrases, system.sample, languages);
    return { ...system, sample, text: null };
  }
  if (own !== undefined) {
    return await readTemplateVersion(database, accountId, slug, own.newestVersion);
  }
  if (draft?.subject !== undefined && draft.html !== undefined) return NOTHING;
  throw unknownTemplate(slug, [...catalog.templates.keys()]);
}

function checkContent(content: { [Field in keyof TemplateContent]: unknown }): TemplateContent {
  const { subject, preheader, html, text, variables, sample, messages } = content;
  const about = { name: 'preview', category: 'notifications', description: '', stream: null };
  return checkDraft({ ...about, subject, preheader, html, text, variables, sample, messages });
}
