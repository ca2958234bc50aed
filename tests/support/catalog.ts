// The catalogue as its tests see it: loaded once per file, rendered with samples and a branding
// that sets everything.
import { fileURLToPath } from 'node:url';
import { htmlToPlainText } from '../../src/html/plain-text.ts';
import { brandingContext } from '../../src/templates/branding.ts';
import { type Branding, defaultBranding } from '../../src/templates/branding-fields.ts';
import { loadCatalog, type SystemTemplate, systemLanguage } from '../../src/templates/catalog.ts';
import { emailContext, renderEmail } from '../../src/templates/email-template.ts';
import { LAYOUTS } from '../../src/templates/layouts.ts';
import { inFull } from './longer.ts';

export const catalogFolder = fileURLToPath(new URL('../../catalog', import.meta.url));
export const catalog = loadCatalog(catalogFolder);
export const templates = [...catalog.templates.values()];

export const fullBranding: Branding = {
  brand_name: 'Alder & Finch',
  logo_url: 'https://cdn.alderfinch.example/logo.png?v=3&size=2x',
  logo_dark_url: 'https://cdn.alderfinch.example/logo-dark.png?v=3&size=2x',
  primary_color: '#2F5D50',
  accent_color: '#f2b56b',
  support_email: 'care@alderfinch.example',
  support_url: 'https://help.alderfinch.example/start?lang=en&from=mail',
  footer_html:
    'Alder &amp; Finch Ltd, 3 Orchard Yard, Bath BA1 2QR<br><a href="https://alderfinch.example/preferences">Email preferences</a>',
  button_radius: 11,
  layout: 'card',
  font: 'Avenir Next, Verdana',
  background: '#eef1ec',
  privacy_policy_url: 'https://alderfinch.example/privacy',
  terms_url: 'https://alderfinch.example/terms?v=2&c=uk',
};

/** The same in every layout. */
export const layouts = LAYOUTS.map((layout) => ({ ...fullBranding, layout }));

/** Every template in every layout. */
export const inEveryLayout = templates.flatMap((template) =>
  layouts.map((branding) => ({ template, branding })),
);

/**
 * Those pairs, for what takes long with each: in `npm test` every template in one layout, another
 * for every `turn`. A layout is what stands around a template, the same for all of them.
 */
export const inLayouts = (turn = 0) =>
  inFull(
    inEveryLayout,
    templates.map((template, at) => ({
      template,
      branding: layouts[(at + turn) % layouts.length]!,
    })),
  );

export const bareBranding: Branding = defaultBranding;

export function render(
  template: SystemTemplate,
  branding: Branding,
  variables: Record<string, unknown> = template.sample,
  locale?: string,
): { subject: string; html: string; text: string } {
  const context = emailContext(
    variables,
    brandingContext(branding),
    systemLanguage(catalog, template, locale),
  );
  const { subject, html } = renderEmail(template.compiled, context);
  return { subject, html, text: htmlToPlainText(html) };
}

/** The sample without what is optional. */
export function requiredOnly(template: SystemTemplate): Record<string, unknown> {
  const variables = structuredClone(template.sample);
  for (const { name, required } of template.variables) if (!required) removeAt(variables, name);
  return variables;
}

export function without(template: SystemTemplate, path: string): Record<string, unknown> {
  const variables = structuredClone(template.sample);
  removeAt(variables, path);
  return variables;
}

function removeAt(variables: Record<string, unknown>, path: string): void {
  const keys = path.split('.');
  const last = keys.pop()!;
  let holder: Record<string, unknown> = variables;
  for (const key of keys) holder = holder[key] as Record<string, unknown>;
  delete holder[last];
}
