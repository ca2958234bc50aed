// What Outlook on Windows makes of every template, and what any reader has of it without images.
// Outlook lays out with Word, which reads the conditional comments and knows padding, borders,
// widths and grounds only where these tests allow them.
import { describe, expect, it } from 'vitest';
import { htmlToPlainText } from '../../src/html/plain-text.ts';
import type { SystemTemplate } from '../../src/templates/catalog.ts';
import { compileEmail } from '../../src/templates/email-template.ts';
import { catalog, inEveryLayout, layouts, render, templates } from '../support/catalog.ts';

/** The width of the content: 600 without the card's padding and borders. */
const INNER_WIDTH = 510;
const MACROS = `
{{ ui.image('https://x.example/a.png', 'A view', 900) }}{{ ui.hero('https://x.example/a.png', 'A view', 'Title', 'Text') }}
{{ ui.product('Lamp', '£9', 'https://x.example/a.png') }}{{ ui.person('Ana Romero', '', 24, 'https://x.example/a.png') }}
{{ ui.figure('£9', 'caption') }}{{ ui.rating('https://x.example/') }}{{ ui.buttons('Yes', 'https://x.example/y', 'No', 'https://x.example/n') }}`;

interface Tag {
  name: string;
  attributes: string;
  style: Map<string, string>;
  parents: Tag[];
}

const asWord = (html: string): string =>
  html
    .replace(/<!--\[if !mso\]><!-->.*?<!--<!\[endif\]-->/gs, '')
    .replace(/<!--\[if mso\]>(.*?)<!\[endif\]-->/gs, '$1');
const asOthers = (html: string): string => html.replace(/<!--.*?-->/gs, '');

/**
 * The tags of the body with what they stand in. Fails where one is not closed, or in another's
 * place.
 */
function tagsOf(html: string): Tag[] {
  const body = asOthers(html.slice(html.indexOf('<body')));
  const found: Tag[] = [];
  const open: Tag[] = [];
  for (const [, closing, name, attributes] of body.matchAll(/<(\/?)([a-z]\w*)([^>]*)>/g)) {
    if (closing) {
      if (name !== 'html' && open.pop()?.name !== name) throw new Error(`</${name}> of nothing`);
      continue;
    }
    const written = / style="([^"]*)"/.exec(attributes!)?.[1] ?? '';
    const style = new Map(
      written.split(';').map((rule) => rule.split(/:(.*)/s) as [string, string]),
    );
    const tag = { name: name!, attributes: attributes!, style, parents: [...open] };
    found.push(tag);
    if (!['br', 'img', 'wbr'].includes(name!)) open.push(tag);
  }
  if (open.length > 0) throw new Error(`<${open.at(-1)!.name}> is not closed`);
  return found;
}

const attribute = (tag: Tag, name: string): string | undefined =>
  new RegExp(` ${name}="([^"]*)"`).exec(tag.attributes)?.[1];

/** What Word would pass over or draw differently. */
function lostInWord(html: string): string[] {
  const lost: string[] = [];
  for (const tag of tagsOf(asWord(html))) {
    const { name, style, parents } = tag;
    const cell = parents.findLast((it) => it.name === 'td');
    const say = (what: string) => lost.push(`${what}: <${name}${tag.attributes.slice(0, 300)}>`);
    const hidden = [tag, ...parents].some((it) => it.style.has('mso-hide'));
    if (hidden || name === 'body') continue;

    if (name === 'a' && style.has('padding')) {
      if (style.get('mso-padding-alt') !== '0') say('padding twice');
      if (cell?.style.get('mso-padding-alt') !== style.get('padding')) say('padding on a link');
    } else if (name !== 'td' && [...style.keys()].some((it) => it.startsWith('padding'))) {
      say('padding outside of a cell');
    }
    const borders = [...style].filter(([key]) => /^border(-top|-bottom)?$/.test(key));
    if (!['td', 'table'].includes(name) && borders.some(([, value]) => value !== '0')) {
      say('border outside of a cell');
    }
    const ground = style.get('background-color');
    if (name !== 'img' && ground !== undefined && attribute(tag, 'bgcolor') !== ground) {
      say('ground without bgcolor');
    }
    const width = style.get('width');
    if (name !== 'img' && width && attribute(tag, 'width') !== width.replace('px', '')) {
      say('width without the attribute');
    }
    const most = name === 'table' && style.get('max-width');
    if (most && !parents.some((it) => attribute(it, 'width') === most.replace('px', ''))) {
      say('max-width');
    }
    if (name === 'img') {
      const wide = Number(attribute(tag, 'width') ?? INNER_WIDTH + 1);
      if (wide > INNER_WIDTH && !attribute(tag, 'height')) say('image wider than the content');
    }
  }
  return lost;
}

/** The macros that no system template uses, or not in every way. */
const more: SystemTemplate = (() => {
  const html = `{% extends "layout.html" %}{% import "macros.html" as ui with context %}{% block content %}${MACROS}{% endblock %}`;
  const source = { slug: 'more', subject: 'More', preheader: 'More', html };
  return { ...templates[0]!, ...source, compiled: compileEmail(catalog.environment, source) };
})();

const emails = [...inEveryLayout, ...layouts.map((branding) => ({ template: more, branding }))].map(
  ({ template, branding }) => ({
    name: `${template.slug}, ${branding.layout}`,
    html: render(template, branding).html,
  }),
);

describe('Outlook on Windows', () => {
  it('finds every tag closed, in what it reads and in what others read', () => {
    for (const { html } of emails) {
      expect(tagsOf(asWord(html)).length).not.toBe(tagsOf(html).length);
      // In a style element an entity is no character, and the rule would not be one.
      expect(html.match(/<style>.*?<\/style>/gs)!.join('')).not.toContain('&#');
      expect(html.match(/<!--\[if/g)?.length).toBe(html.match(/<!\[endif\]-->/g)?.length);
    }
  });

  it('gets space, lines, grounds and widths in the way it understands', () => {
    for (const { name, html } of emails) expect(lostInWord(html), name).toEqual([]);
  });
});

describe('without images', () => {
  it('nothing is missing', () => {
    for (const { name, html } of emails.filter((it) => !it.name.startsWith(more.slug))) {
      expect(htmlToPlainText(html.replace(/<img[^>]*>/g, '')), name).toBe(htmlToPlainText(html));
    }
  });

  it('words of a readable size stand for each image that is more than decoration', () => {
    for (const { name, html } of emails) {
      for (const tag of tagsOf(html).filter((it) => it.name === 'img')) {
        const alt = attribute(tag, 'alt');
        if (alt === '') expect(attribute(tag, 'src'), name).toMatch(/\/pictures\/|x\.example/);
        else {
          const sized = [...tag.parents, tag].findLast((it) => it.style.has('font-size'));
          expect(alt?.length, name).toBeGreaterThan(1);
          expect(Number.parseInt(sized?.style.get('font-size') ?? '', 10), name).toBeGreaterThan(
            12,
          );
        }
      }
    }
  });

  it("a logo's words are readable on a ground of any colour", () => {
    for (const [background, ink] of [
      ['#101216', '#ffffff'],
      ['#fafafa', '#15181f'],
    ] as const) {
      const { logo_dark_url: _, ...branding } = { ...layouts[0]!, background };
      expect(render(templates[0]!, branding).html).toMatch(
        new RegExp(`alt="Alder &amp; Finch"[^>]*;color:${ink}`),
      );
    }
  });
});
