// How well an account's colours can be read, and what emails use instead. Before it:
// operations/branding.ts.
import { brandingContext } from './branding.ts';
import type { Branding } from './branding-fields.ts';
import { contrast, TEXT_CONTRAST } from './colours.ts';

export interface BrandingContrast {
  field: 'primary_color' | 'accent_color';
  /** On white, in a link or on a button. */
  ratio: number;
  low: boolean;
  /** What emails fill areas with: the colour, or a darker shade on which white is readable. */
  fillColor: string;
  /** What emails put on that. */
  textColor: string;
  /** What emails use for links on white. */
  linkColor: string;
}

export function contrastsOf(fields: Branding): BrandingContrast[] {
  const context = brandingContext(fields);
  const of = (
    field: BrandingContrast['field'],
    fillColor: string,
    textColor: string,
    linkColor: string,
  ): BrandingContrast => {
    const ratio = contrast(fields[field], '#ffffff');
    const rounded = Math.round(ratio * 100) / 100;
    return { field, ratio: rounded, low: ratio < TEXT_CONTRAST, fillColor, textColor, linkColor };
  };
  return [
    of('primary_color', context.button_color, context.button_text_color, context.link_color),
    of('accent_color', fields.accent_color, context.accent_text_color, context.accent_color),
  ];
}
