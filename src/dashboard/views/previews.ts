// Mails that are shown or tried before anybody gets them. Types only, so that web/ reads them too.
import type { BrandingChange, BrandingContrast } from './branding.ts';
import type { TemplateFault, TemplateSource } from './templates.ts';

export interface TemplatePreviewRequest {
  /** What `draft` replaces; it need not exist when the draft has subject and html. */
  slug: string;
  version?: number;
  draft?: Partial<TemplateSource>;
  /** Else the sample. */
  variables?: Record<string, unknown>;
  /** Unsaved values over the account's branding. */
  branding?: BrandingChange;
}

export interface RenderedMail {
  subject: string;
  html: string;
  text: string;
}

/** One of the two: a mail, or why there is none. */
export interface TemplatePreview {
  mail: RenderedMail | null;
  faults: TemplateFault[];
}

/** Sends what the preview shows. */
export interface TestSend extends Omit<TemplatePreviewRequest, 'slug' | 'branding'> {
  to: string;
  /** Else the account's first verified sender. */
  from?: string;
}

export interface BrandingPreviewRequest {
  branding: BrandingChange;
  /** At most 8. */
  slugs: string[];
}

export interface BrandingPreview {
  contrasts: BrandingContrast[];
  previews: ({ slug: string } & TemplatePreview)[];
  /** What is wrong with the values, such as "branding.button_radius must be …"; then there are no previews. */
  fault: string | null;
}
