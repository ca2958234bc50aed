// Rendering: a slug and variables → subject, html and text, as an account sees them. Before it:
// sending/content.ts with a checked request. After it: what comes out is stored, and is exactly
// what will be sent.
import type { CarriedFile } from './carried-file.ts';
import type { Category } from './categories.ts';
import type { MadeEmail } from './email-maker.ts';
import { requireLocale } from './locales.ts';
import type { Making } from './making.ts';
import type { Resolve } from './resolution.ts';
import { requireFit } from './variable-fit.ts';

export interface TemplateRequest {
  slug: string;
  /** A version to look at, published or not; sends leave it out. */
  version?: number | undefined;
  variables: Record<string, unknown>;
  /** A language tag as the sender wrote it; the closest available language is used. */
  locale?: string | undefined;
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
  /** Carried along, most of them shown by the HTML. */
  files: CarriedFile[];
  templateVersion: number | null;
  brandingVersion: number;
  category: Category | null;
  /** The stream of the template's emails; null: it names none. */
  stream: string | null;
}

export type RenderTemplate = (
  accountId: number,
  request: TemplateRequest,
) => Promise<RenderedTemplate>;

export function createRenderer(resolve: Resolve, making: Making): RenderTemplate {
  return async (accountId, request) => {
    const { slug, version, variables, subject, text } = request;
    const locale = request.locale === undefined ? undefined : requireLocale(request.locale);
    const resolved = await resolve(accountId, slug, version);
    const { template, category, stream, branding, whose } = resolved;
    requireFit(template, variables, [subject, text]);
    const email = await making.make(
      {
        ...{ slug, variables, locale, subject, text },
        standardLocale: resolved.locale ?? undefined,
        template: template.source,
        branding: { key: branding.key, value: branding.context },
      },
      whose,
    );
    return {
      subject: email.subject,
      html: asBuffer(email.html),
      text: asBuffer(email.text),
      files: branding.logo === null ? email.files : withLogo(email, branding.logo),
      templateVersion: template.version,
      brandingVersion: branding.version,
      category,
      stream,
    };
  };
}

/** Templates need not show the logo. */
const withLogo = ({ html, files }: MadeEmail, logo: CarriedFile): CarriedFile[] =>
  asBuffer(html).includes(`cid:${logo.contentId}`) ? [...files, logo] : files;

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
