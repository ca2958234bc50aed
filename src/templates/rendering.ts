// Rendering: a slug and variables → subject, html and text, as an account sees them. Before it:
// sending/content.ts with a checked request. After it: what comes out is stored, and is exactly
// what will be sent.
import { Problem } from '../errors.ts';
import type { Category } from './categories.ts';
import type { Making } from './making.ts';
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
  /** UTF-8, as it is stored; so are the bytes of the text. */
  html: Buffer;
  text: Buffer;
  templateVersion: number | null;
  brandingVersion: number;
  category: Category | null;
}

export type RenderTemplate = (
  accountId: number,
  request: TemplateRequest,
) => Promise<RenderedTemplate>;

export function createRenderer(resolve: Resolve, making: Making): RenderTemplate {
  return async (accountId, request) => {
    const { slug, version, variables, subject, text } = request;
    const { template, category, branding, whose } = await resolve(accountId, slug, version);
    requireVariables(template, variables);
    const mail = await making.make(
      {
        ...{ slug, variables, subject, text },
        template: template.source,
        branding: { key: branding.key, value: branding.context },
      },
      whose,
    );
    return {
      subject: mail.subject,
      html: asBuffer(mail.html),
      text: asBuffer(mail.text),
      templateVersion: template.version,
      brandingVersion: branding.version,
      category,
    };
  };
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function requireVariables(
  { slug, variables: schema }: Pick<ResolvedTemplate, 'slug' | 'variables'>,
  variables: Record<string, unknown>,
): void {
  const missing = missingVariables(schema, variables);
  if (missing.length === 0) return;
  const paths = missing.map((name) => `variables.${name}`);
  throw new Problem(
    'invalid',
    `Template "${slug}" needs variables that are missing or empty: ${paths.join(', ')}.`,
    { faults: paths.map((path) => ({ path, message: `${path} is missing or empty` })) },
  );
}
