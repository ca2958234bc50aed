// Rendering: a slug and variables → subject, html and text, as an account sees them.
import { Problem } from '../errors.ts';

export interface TemplateRequest {
  slug: string;
  variables: Record<string, unknown>;
  /** Replaces the template's subject; rendered with the same variables. */
  subject?: string | undefined;
  /** Replaces the text derived from the HTML; rendered with the same variables. */
  text?: string | undefined;
}

export interface RenderedTemplate {
  subject: string;
  html: string | null;
  text: string | null;
  templateVersion: number | null;
  brandingVersion: number | null;
}

export type RenderTemplate = (
  accountId: number,
  request: TemplateRequest,
) => Promise<RenderedTemplate>;

export function createRenderer(): RenderTemplate {
  return async (_accountId, request) => {
    throw new Problem('not-found', `There is no template "${request.slug}".`);
  };
}
