// Branding. Types only, so that web/ reads them too.

/** The ten fields of the specification; absent: not set. */
export interface Branding {
  brand_name?: string;
  logo_url?: string;
  primary_color: string;
  accent_color: string;
  support_email?: string;
  support_url?: string;
  footer_html?: string;
  button_radius: number;
  privacy_policy_url?: string;
  terms_url?: string;
}

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
