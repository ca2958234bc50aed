// How well an account's colours can be read, and what mails use instead. Before it:
// operations/branding.ts.
import { brandingContext, contrast } from './branding.ts';
import type { Branding } from './branding-fields.ts';

/** WCAG 2.2, 1.4.3 (AA). */
const READABLE = 4.5;

export interface BrandingContrast {
  field: 'primary_color' | 'accent_color';
  /** On white, in a link or on a button. */
  ratio: number;
  low: boolean;
  /** What mails put on it. */
  textColor: string;
  /** What mails use for links on white. */
  linkColor: string;
}

export function contrastsOf(fields: Branding): BrandingContrast[] {
  const context = brandingContext(fields);
  const of = (
    field: BrandingContrast['field'],
    textColor: string,
    linkColor: string,
  ): BrandingContrast => {
    const ratio = contrast(fields[field], '#ffffff');
    const rounded = Math.round(ratio * 100) / 100;
    return { field, ratio: rounded, low: ratio < READABLE, textColor, linkColor };
  };
  return [
    of('primary_color', context.button_text_color, context.link_color),
    of('accent_color', context.accent_text_color, context.accent_color),
  ];
}
