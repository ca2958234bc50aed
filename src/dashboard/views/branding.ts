// Branding. Types only, so that web/ reads them too.

import type { Branding } from '../../templates/branding-fields.ts';

export type { Branding };

/** Null takes a field back to its default. */
export type BrandingChange = { [Field in keyof Branding]?: Branding[Field] | null };

export interface BrandingView {
  /** 0: never changed. */
  version: number;
  fields: Branding;
  defaults: Branding;
  contrasts: BrandingContrast[];
}

/** Colours that would be hard to read, and what mails use instead. */
export interface BrandingContrast {
  field: 'primary_color' | 'accent_color';
  /** On white, in a link or on a button. */
  ratio: number;
  /** Below 4.5, WCAG AA. */
  low: boolean;
  /** The text colour that mails put on it. */
  textColor: string;
  /** The shade that mails use for links on white. */
  linkColor: string;
}
