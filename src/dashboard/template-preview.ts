// Previews: a template as its editor has it, saved or not, rendered like a send renders it. Before it: the template and branding
// routes. What is wrong comes back as faults with line and column, for markers in the editor.
import { Problem } from '../errors.ts';
import { readBranding } from '../templates/account-branding.ts';
import { unknownTemplate } from '../templates/account-templates.ts';
import { brandingContext, changeBranding } from '../templates/branding.ts';
import type { TemplateFaultPlace } from '../templates/mail-maker.ts';
import { createRenderer } from '../templates/rendering.ts';
import { findAccountTemplate, readTemplateVersion } from '../templates/stored-templates.ts';
import { checkDraft, sourceOf, type TemplateContent } from '../templates/template-draft.ts';
import type { DashboardDeps } from './deps.ts';
import type { RenderedMail, TemplatePreview, TemplatePreviewRequest } from './views/previews.ts';
import type { TemplateFault } from './views/templates.ts';

type PreviewDeps = Pick<DashboardDeps, 'database' | 'catalog' | 'making'>;

/** More than people look at; they are not counted with the account's sends, which no viewer can hold up. */
const PREVIEWS_PER_SECOND = 100;

/** The mail, or a Problem: `faultsIn` reads it. */
export async function renderPreview(
  deps: PreviewDeps,
  accountId: number,
  request: TemplatePreviewRequest,
): Promise<RenderedMail> {
  const { slug, draft, branding: change } = request;
  const content = checkContent({ ...(await contentFor(deps, accountId, request)), ...draft });
  const { version, fields } = await readBranding(deps.database, accountId);
  const context = brandingContext(changeBranding(fields, change ?? {}));
  const resolve = async () => ({
    template: { slug, version: null, ...content, source: { key: null, value: sourceOf(content) } },
    category: null,
    branding: { version, key: null, context },
    whose: { share: `previews of account ${accountId}`, ratePerSecond: PREVIEWS_PER_SECOND },
  });
  const variables = request.variables ?? content.sample;
  const mail = await createRenderer(resolve, deps.making)(accountId, { slug, variables });
  return { subject: mail.subject, html: mail.html.toString(), text: mail.text.toString() };
}

export async function previewOf(
  deps: PreviewDeps,
  accountId: number,
  request: TemplatePreviewRequest,
): Promise<TemplatePreview> {
  try {
    return { mail: await renderPreview(deps, accountId, request), faults: [] };
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'invalid') throw error;
    return { mail: null, faults: faultsIn(error, request.slug) };
  }
}

/** The version asked for, else what a send would use, else the newest draft; nothing where the draft brings all. */
async function contentFor(
  { database, catalog }: PreviewDeps,
  accountId: number,
  { slug, version, draft }: TemplatePreviewRequest,
): Promise<TemplateContent> {
  const own = await findAccountTemplate(database, accountId, slug);
  const wanted =
    version ??
    (own?.archived ? null : own?.publishedVersion) ??
    (draft ? own?.newestVersion : null);
  if (wanted != null) return await readTemplateVersion(database, accountId, slug, wanted);
  const system = catalog.templates.get(slug);
  if (system !== undefined) return { ...system, text: null };
  if (own !== undefined) {
    return await readTemplateVersion(database, accountId, slug, own.newestVersion);
  }
  if (draft?.subject !== undefined && draft.html !== undefined) return NOTHING;
  throw unknownTemplate(slug, [...catalog.templates.keys()]);
}

const NOTHING: TemplateContent = {
  subject: '',
  preheader: '',
  html: '',
  text: null,
  variables: [],
  sample: {},
};

function checkContent(content: { [Field in keyof TemplateContent]: unknown }): TemplateContent {
  const { subject, preheader, html, text, variables, sample } = content;
  const about = { name: 'preview', category: 'notifications', description: '' };
  return checkDraft({ ...about, subject, preheader, html, text, variables, sample });
}

const PARTS = ['subject', 'preheader', 'html', 'text', 'variables', 'sample'] as const;

/** Where a template is wrong: Jinja2 tells line and column, a check of the fields their names. */
export function faultsIn(problem: Problem, slug: string): TemplateFault[] {
  if (problem.cause !== undefined) {
    const { templateName, line, column, message } = problem.cause as TemplateFaultPlace;
    const [name, part = 'html'] = (templateName ?? slug).split(':');
    // In a template that this one extends, the place would mislead.
    if (name !== slug)
      return [{ part: 'template', line: null, column: null, message: problem.detail }];
    return [{ part: readPart(part), line, column, message }];
  }
  if (/^Template ".*" needs variables/.test(problem.detail)) {
    return [{ part: 'sample', line: null, column: null, message: problem.detail }];
  }
  return problem.detail
    .replace(/\.$/, '')
    .split('; ')
    .map((message) => ({
      part: readPart(/^(\w+)/.exec(message)?.[1] ?? ''),
      line: null,
      column: null,
      message,
    }));
}

const readPart = (name: string): TemplateFault['part'] =>
  PARTS.find((part) => part === name) ?? 'template';
