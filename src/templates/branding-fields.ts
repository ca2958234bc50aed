// The branding fields: the ONE list, with what each is for. branding.ts checks their values,
// operations accept and return them, pages and templates show them.
import { z } from 'zod';
import { LAYOUTS } from './layouts.ts';

export const BRANDING_FIELDS = {
  brand_name: z
    .string()
    .describe('Sender name in header and footer. The name of the account by default.'),
  logo_url: z.string().describe('Header logo. Without it the header is text.'),
  logo_dark_url: z
    .string()
    .describe(
      'The logo for dark mode and dark headers. Without it the logo is shown on white there.',
    ),
  logo_inline: z
    .boolean()
    .describe('Every email carries the uploaded logo, instead of loading it. Off by default.'),
  primary_color: z.string().describe('Buttons and accents, hex. #00a071 by default.'),
  accent_color: z.string().describe('Second accent, hex. #00e5a0 by default.'),
  support_email: z.string().describe('Footer contact.'),
  support_url: z.string().describe('Footer help link.'),
  footer_html: z.string().describe('HTML in the footer, such as a postal address.'),
  button_radius: z.number().int().describe('Corners of buttons, 0 to 24 px. 8 by default.'),
  layout: z
    .enum(LAYOUTS)
    .describe('card (the default), letter (plain) or bold (a header in the primary colour).'),
  font: z
    .string()
    .describe('system (the default), serif, mono, or names of fonts such as Inter, Arial.'),
  background: z.string().describe('Colour behind the email, hex. By default it suits the layout.'),
  privacy_policy_url: z.string().describe('Adds a Privacy Policy link to every footer.'),
  terms_url: z.string().describe('Adds a Terms & Conditions link to every footer.'),
};

export type BrandingField = keyof typeof BRANDING_FIELDS;

export const brandingFields = Object.keys(BRANDING_FIELDS) as BrandingField[];

type Values = { [Field in BrandingField]: z.infer<(typeof BRANDING_FIELDS)[Field]> };

/** These always have a value; the others are absent until they are set. */
type Always = 'primary_color' | 'accent_color' | 'button_radius';

/** What an account has set. */
export type Branding = Partial<Values> & Pick<Values, Always>;

export const defaultBranding: Branding = {
  primary_color: '#00a071',
  accent_color: '#00e5a0',
  button_radius: 8,
};
