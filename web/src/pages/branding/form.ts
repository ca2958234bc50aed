// The branding as its form holds it, and as a change is sent.
import type { Branding as BrandingView } from '../../../../src/client/operations.ts';
import type { Input } from '../../operations.ts';
import { isUploaded } from './logo-field.tsx';

type Branding = BrandingView['branding'];

/** Every text field is a string. */
export type Form = Record<TextField, string> &
  Pick<Required<Branding>, 'button_radius' | 'logo_inline'>;
export type TextField = Exclude<keyof Branding, 'button_radius' | 'logo_inline'>;

/** A new field does not compile until it is listed here. */
export const LABELS: Record<keyof Branding, string> = {
  brand_name: 'Brand name',
  logo_url: 'Logo',
  logo_inline: 'Every email carries the logo',
  logo_dark_url: 'Logo for dark mode',
  layout: 'Layout',
  font: 'Font',
  background: 'Background',
  primary_color: 'Primary colour',
  accent_color: 'Accent colour',
  button_radius: 'Button corners',
  support_email: 'Support email',
  support_url: 'Support page',
  footer_html: 'Footer',
  privacy_policy_url: 'Privacy policy',
  terms_url: 'Terms',
};
export const names = Object.keys(LABELS) as (keyof Branding)[];
const texts = names.filter(
  (name): name is TextField => name !== 'button_radius' && name !== 'logo_inline',
);

export const formOf = (fields: Branding): Form => ({
  ...(Object.fromEntries(texts.map((name) => [name, fields[name] ?? ''])) as Omit<
    Form,
    'button_radius' | 'logo_inline'
  >),
  button_radius: fields.button_radius,
  logo_inline: fields.logo_inline ?? false,
});

/** Nothing is set except what always has a value. */
export const defaultsOf = ({ defaults }: BrandingView): Form => {
  const { primary_color, accent_color, button_radius } = defaults;
  return formOf({ primary_color, accent_color, button_radius });
};

/** An empty field returns to its default. */
export const changeOf = (form: Form): Input<'branding.preview'>['branding'] => ({
  ...Object.fromEntries(texts.map((name) => [name, form[name].trim() === '' ? null : form[name]])),
  button_radius: form.button_radius,
  // Only an uploaded logo can be carried.
  logo_inline: form.logo_inline && isUploaded(form.logo_url) ? true : null,
});

export const isSameForm = (one: Form, other: Form): boolean =>
  JSON.stringify(changeOf(one)) === JSON.stringify(changeOf(other));
