// Rendering: a slug and variables → subject, html and text, as an account sees them.
// Before it: sending/content.ts with a checked request. After it: what comes out is stored, and is exactly what will be sent.
import { Problem } from '../errors.ts';
import type { Category } from './catalog.ts';
import {
  compileText,
  mailContext,
  mailEnvironment,
  renderMail,
  renderText,
} from './mail-template.ts';
import { htmlToPlainText } from './plain-text.ts';
import type { Resolve, ResolvedTemplate } from './resolution.ts';
import { missingVariables } from './variables.ts';

export interface TemplateRequest {
  slug: string;
  /** A version that need not be published, to look at it; sends leave it out. */
  version?: number | undefined;
  variables: Record<string, unknown>;
  /** Replaces the template's subject; rendered with the same variables. */
  subject?: string | undefined;
  /** Replaces the text derived from the HTML; rendered with the same variables. */
  text?: string | undefined;
}

export interface RenderedTemplate {
  subject: string;
  html: string;
  text: string;
  templateVersion: number | null;
  brandingVersion: number;
  category: Category | null;
}

export type RenderTemplate = (
  accountId: number,
  request: TemplateRequest,
) => Promise<RenderedTemplate>;

export function createRenderer(resolve: Resolve): RenderTemplate {
  // Texts of senders are compiled apart: however many there are, they crowd nothing out of the catalogue's cache.
  // They see the template's variables, but no other template.
  const senders = mailEnvironment(() => undefined);
  const compile = ({ slug }: TemplateRequest, part: string, source: string | undefined) =>
    source === undefined ? undefined : compileText(senders, `${slug}:${part}`, source);

  return async (accountId, request) => {
    const { template, category, branding } = await resolve(
      accountId,
      request.slug,
      request.version,
    );
    requireVariables(template, request.variables);
    const context = mailContext(request.variables, branding.context);
    const subject = compile(request, 'subject', request.subject) ?? template.mail.subject;
    const mail = renderMail({ ...template.mail, subject }, context);
    const ownText = compile(request, 'text', request.text) ?? template.text;
    const text = ownText === null ? '' : renderText(ownText, context);
    return {
      ...mail,
      text: text.trim() === '' ? htmlToPlainText(mail.html) : text,
      templateVersion: template.version,
      brandingVersion: branding.version,
      category,
    };
  };
}

function requireVariables(
  { slug, variables: schema }: ResolvedTemplate,
  variables: Record<string, unknown>,
): void {
  const missing = missingVariables(schema, variables);
  if (missing.length === 0) return;
  throw new Problem(
    'invalid',
    `Template "${slug}" needs variables that are missing or empty: ${missing.map((path) => `variables.${path}`).join(', ')}.`,
  );
}
