// The HTML of every template against html-validate's rules and caniemail's data (both offline), and
// against rules of our own. What is allowed although a checker objects is listed here with the
// reason; an entry that is no longer needed fails the test.
import { caniemail } from 'caniemail';
import { HtmlValidate, StaticConfigLoader } from 'html-validate';
import { describe, expect, it } from 'vitest';
import { inEveryLayout, inLayouts, render } from '../support/catalog.ts';

const rendered = ({ template, branding }: (typeof inEveryLayout)[number]) => ({
  slug: `${template.slug}, ${branding.layout}`,
  ...render(template, branding),
});
const emails = inEveryLayout.map(rendered);
/** For the checkers, which take nearly all of the time. */
const checked = inLayouts().map(rendered);

/** html-validate rules that emails break on purpose. */
const allowedRules: Record<string, string> = {
  'no-conditional-comment':
    'Outlook on Windows needs a fixed-width table around the fluid one, and its font and DPI settings',
  'no-inline-style': 'the only styles that every client keeps',
  'no-deprecated-attr':
    'width, align, valign, bgcolor, cellpadding: what the layout engine of Outlook on Windows understands',
  'prefer-tbody': 'parsers add tbody by themselves; writing it costs 15 bytes a table',
  'prefer-native-element':
    'role="article" stands on a div because webmails replace <article> by a div without a role',
};

/**
 * Features that caniemail knows some client not to support, and why an email stays whole without
 * them there.
 */
const allowedFeatures: Record<string, string> = {
  '<style> element':
    'only dark mode and small screens are in it; without it the email is the light, fluid one',
  '<wbr> element': 'where an address too long for its line goes on; without it, anywhere',
  '<body> element': 'replaced by a div in webmails; the outer table repeats its background',
  '@media': 'as for <style>',
  'Class selector': 'as for <style>',
  'Type selector': 'as for <style>',
  'Descendant combinator': 'as for <style>',
  'Chaining selectors': 'as for <style>',
  'Attribute selector':
    'only [data-ogsc], which Outlook.com writes itself; others ignore those rules',
  '!important keyword': 'as for <style>',
  'display:none':
    'hides the preheader; where it is dropped, max-height hides it, and mso-hide in Word',
  overflow: 'second hold of the hidden preheader',
  'border-radius': 'corners become square',
  'word-break': 'very long words may widen the email, none does in the samples',
  'white-space': 'an amount may wrap',
  'text-wrap': 'a last line may have one word',
  'text-decoration': 'links are told by colour too',
  'height property': 'bars repeat it as an attribute; Yahoo turns it into min-height',
  'height attribute': 'bars repeat it as a style',
  'width attribute': 'tables repeat it as a style where it matters',
  'lang attribute': 'helps screen readers where it is kept',
  'role attribute': 'helps screen readers where it is kept',
  'aria-label attribute': 'helps screen readers where it is kept',
  'aria-hidden attribute': 'helps screen readers where it is kept',
  'mailto: links': 'the address is the text of the link',
};

describe('html-validate', () => {
  const validator = new HtmlValidate(
    new StaticConfigLoader({
      root: true,
      extends: ['html-validate:recommended', 'html-validate:a11y'],
      rules: Object.fromEntries(Object.keys(allowedRules).map((rule) => [rule, 'warn'])),
    }),
  );
  const broken = new Set<string>();

  it.each(checked.map(({ slug, html }) => [slug, html]))(
    'finds no fault in %s',
    async (_slug, html) => {
      const report = await validator.validateString(html!);
      const messages = report.results.flatMap((result) => result.messages);
      for (const { ruleId } of messages) broken.add(ruleId);
      const faults = messages.filter(({ ruleId }) => !(ruleId in allowedRules));
      expect(
        faults.map(({ ruleId, line, message }) => `${ruleId} (line ${line}): ${message}`),
      ).toEqual([]);
    },
  );

  it('has no exception that is not needed', () => {
    expect([...broken].sort()).toEqual(Object.keys(allowedRules).sort());
  });
});

describe('caniemail', () => {
  const unsupported = new Map<string, Set<string>>();

  it.each(checked.map(({ slug, html }) => [slug, html]))(
    'knows every feature of %s',
    (_slug, html) => {
      const { issues } = caniemail({ clients: ['*'], html: html! });
      for (const [client, list] of issues.errors) {
        for (const { title } of list) {
          unsupported.set(title, (unsupported.get(title) ?? new Set()).add(client));
        }
      }
      const surprises = [...unsupported].filter(([title]) => !(title in allowedFeatures));
      expect(surprises.map(([title, clients]) => `${title}: ${[...clients].join(', ')}`)).toEqual(
        [],
      );
    },
  );

  it('has no exception that is not needed', () => {
    expect([...unsupported.keys()].sort()).toEqual(Object.keys(allowedFeatures).sort());
  });
});

describe('our own rules', () => {
  it.each(emails.map(({ slug, html }) => [slug, html!] as const))('hold for %s', (_slug, html) => {
    expect(html).not.toMatch(/<script|<link|@import|@font-face|url\(|<iframe|<form|\son\w+=/i);
    const images = html.match(/<img[^>]*>/g) ?? [];
    const logos = images.filter((image) => image.includes('/logo'));
    expect(logos.length).toBeGreaterThan(0);
    for (const logo of logos) expect(logo).toContain('alt="Alder &amp; Finch"');
    // Others have a size for people who do not load them, and words or none on purpose.
    for (const image of images) expect(image).toMatch(/ alt="[^"]*".* (?:width|height)="\d+"/);
    const tables = html.replace(/<!--.*?-->/gs, '').match(/<table[^>]*>/g)!;
    for (const table of tables) expect(table).toMatch(/role="presentation"|data-text="items"/);
    expect(html).toMatch(/<html lang="en" dir="ltr">/);
    expect(html.match(/<h1/g)).toHaveLength(1);
    // Whoever reads with images off, or out loud, is told where each link goes.
    for (const [, label] of html.matchAll(/<a [^>]*>([^<]*)<\/a>/g))
      expect(label!.trim()).not.toBe('');
    // The line shown beside the subject is ours, and is not followed by the first words of the
    // email.
    expect(html).toMatch(/display:none[^>]*>[^<&]{10,}.*(?:&#847;&zwnj;&nbsp;&#8199;){30}/);
  });

  it('use no class without a rule and no rule without a class', () => {
    const styles = emails[0]!.html.match(/<style>.*?<\/style>/gs)!.join('');
    const ruled = new Set([...styles.matchAll(/\.([a-z][a-z-]*)/g)].map(([, name]) => name!));
    const used = new Set(
      emails.flatMap(({ html }) =>
        [...html.matchAll(/class="([^"]*)"/g)].flatMap(([, names]) => names!.split(' ')),
      ),
    );
    expect([...used].filter((name) => !ruled.has(name))).toEqual([]);
    // A tone that no sample happens to use.
    expect([...ruled].filter((name) => !used.has(name))).toEqual(['danger-text']);
  });
});
