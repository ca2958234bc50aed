// Every system template: renders with its sample, is refused without a required variable, shows the
// branding that is set and no trace of what is not. Golden files hold the HTML and text; `npx
// vitest run tests/catalog -u` updates them.
import { describe, expect, it } from 'vitest';
import {
  type Branding,
  brandingFields,
  defaultBranding,
} from '../../src/templates/branding-fields.ts';
import { missingVariables } from '../../src/templates/variables.ts';
import {
  bareBranding,
  fullBranding,
  layouts,
  render,
  requiredOnly,
  templates,
  without,
} from '../support/catalog.ts';

const remnants =
  /undefined|None|null|NaN|\[object|\{\{|\{%|href=""|src=""|mailto:"|#;|:;|: ?!important/;

describe.each(templates.map((template) => [template.slug, template] as const))(
  '%s',
  (slug, template) => {
    const full = render(template, fullBranding);

    it('is whole and small in every layout', () => {
      for (const branding of layouts) {
        const { html, text } = render(template, branding);
        expect(Buffer.byteLength(html), branding.layout).toBeLessThan(60_000);
        expect(html, branding.layout).not.toMatch(remnants);
        expect(text, branding.layout).toBe(full.text);
        const bare = render(template, { ...bareBranding, layout: branding.layout });
        expect(bare.html, branding.layout).not.toMatch(remnants);
      }
    });

    it('renders with its sample as the golden files say', async () => {
      await expect(full.html).toMatchFileSnapshot(`../fixtures/catalog/${slug}.html`);
      await expect(`${full.subject}\n\n${full.text}`).toMatchFileSnapshot(
        `../fixtures/catalog/${slug}.txt`,
      );
      expect(full.subject.length).toBeGreaterThan(5);
      expect(full.subject.length).toBeLessThan(80);
      expect(Buffer.byteLength(full.html)).toBeLessThan(60_000);
      expect(full.html).not.toMatch(remnants);
      expect(full.text).not.toMatch(/<\w|&\w+;|undefined|None/);
    });

    it.each(template.variables.filter(({ required }) => required).map(({ name }) => name))(
      'is refused without %s',
      (name) => {
        expect(missingVariables(template.variables, without(template, name))).toEqual([name]);
      },
    );

    it('needs nothing but what is required', () => {
      const variables = requiredOnly(template);
      expect(missingVariables(template.variables, variables)).toEqual([]);
      const { subject, html, text } = render(template, bareBranding, variables);
      expect(html).not.toMatch(remnants);
      // Words left over from a sentence that lost its end.
      expect(`${subject}\n${text}`).not.toMatch(/ [,.;:?]|\(\s*\)|,,|\bto \.|\bby \./m);
    });

    it('shows every branding value that is set', () => {
      const escaped = (value: string | number | boolean) => String(value).replaceAll('&', '&amp;');
      for (const field of brandingFields) {
        const value = fullBranding[field]!;
        // How the logo comes, not what is shown.
        if (field === 'logo_inline') continue;
        // How it all looks: the test of the layouts.
        if (field === 'layout') continue;
        if (field === 'font') expect(full.html).toContain('font-family:Avenir Next,Verdana,');
        else if (field === 'footer_html') expect(full.html).toContain(value);
        else if (field === 'button_radius') expect(full.html).toContain(`border-radius:${value}px`);
        else expect(full.html, field).toContain(escaped(value));
      }
      expect(full.html).toContain('>Privacy Policy</a>');
      expect(full.html).toContain('>Terms &amp; Conditions</a>');
      expect(full.html).toContain('Need help?');
      expect(full.text).toContain(fullBranding.terms_url);
      expect(full.text).toContain(fullBranding.support_url);
    });

    it('leaves no trace of a branding value that is not set', () => {
      for (const field of brandingFields) {
        if (field in defaultBranding) continue;
        const branding: Branding = { ...fullBranding };
        delete branding[field];
        const { html } = render(template, branding);
        expect(html, field).not.toMatch(remnants);
        if (field === 'logo_url') expect(html).not.toContain('/logo.png');
        if (field === 'logo_dark_url') expect(html).not.toMatch(/logo-dark/);
        if (field === 'privacy_policy_url') expect(html).not.toContain('Privacy Policy');
        if (field === 'terms_url') expect(html).not.toContain('/terms?v=2');
        if (field === 'support_email') expect(html).not.toMatch(/mailto:|Write to[^<]*</);
        if (field === 'support_url') expect(html).not.toContain('help pages');
      }
      const { html } = render(template, bareBranding);
      expect(html).not.toMatch(remnants);
      expect(html).not.toMatch(/<img[^>]*logo|Need help|Privacy Policy|>Terms/);
    });

    it('escapes what senders give', () => {
      const hostile = '"><script>alert(1)</script>&';
      const variables = JSON.parse(JSON.stringify(template.sample), (_key, value) =>
        typeof value === 'string' ? `${value}${hostile}` : value,
      );
      const { subject, html } = render(template, fullBranding, variables);
      expect(html).not.toContain('<script');
      expect(html).toContain('&lt;script&gt;');
      if (subject.includes('script')) expect(subject).toContain(hostile);
    });
  },
);

it('writes lang and dir, and turns the layout round for right-to-left', () => {
  const [template] = templates.filter(({ slug }) => slug === 'order-confirmation');
  const plain = render(template!, fullBranding).html;
  expect(plain).toContain('<html lang="en" dir="ltr">');
  const turned = render(template!, fullBranding, { ...template!.sample, lang: 'ar', dir: 'rtl' });
  expect(turned.html).toContain('<html lang="ar" dir="rtl">');
  expect(turned.html).toContain('align="left" valign="top"');
  expect(plain).not.toContain('align="left" valign="top"');
});
