// Every template in Chromium, in each layout, at the width of a phone and of a desktop client,
// light and dark: nothing is wider than the window, and small text is readable. In `npm test` the
// layouts take turns over widths and colours. With PICTURES=card or PICTURES=all (all layouts)
// there are pictures for people to look at, in .artifacts/screenshots.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { sampleIn } from '../../src/templates/samples.ts';
import { announceSkip, closeWindows, openBrowser } from '../support/browser.ts';
import {
  catalog,
  fullBranding,
  inEveryLayout,
  inLayouts,
  layouts,
  render,
  templates,
} from '../support/catalog.ts';

const { PICTURES } = process.env;
const folder = fileURLToPath(new URL('../../.artifacts/screenshots', import.meta.url));
const opened = await openBrowser();
if ('skipped' in opened) announceSkip(opened.skipped);

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" width="150" height="32"><circle cx="16" cy="16" r="14" fill="#2f5d50"/>' +
  '<text x="40" y="22" font-family="Georgia" font-size="18" fill="#222">Alder &amp; Finch</text></svg>';

/** Longer than any line, without a place to break. */
const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';

describe.skipIf('skipped' in opened)('in a browser', async () => {
  if ('skipped' in opened) return;
  const browser: Browser = opened;
  // One page for all: opening a window costs more than drawing an email.
  const page: Page = await browser.newPage();
  await page.route('**/*', (route) =>
    route.request().url().includes('/logo')
      ? route.fulfill({ contentType: 'image/svg+xml', body: logo })
      : route.abort(),
  );
  mkdirSync(folder, { recursive: true });
  afterAll(() => closeWindows(browser));

  const picture = async (name: string): Promise<void> => {
    if (PICTURES === undefined) return;
    await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  };

  for (const [scheme, colorScheme] of (['light', 'dark'] as const).entries()) {
    for (const [size, width] of [375, 700].entries()) {
      const shown = PICTURES === undefined ? inLayouts(2 * scheme + size) : inEveryLayout;
      it(`nothing overflows or is hard to read at ${width} px, ${colorScheme}`, async () => {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        for (const { template, branding } of shown) {
          const what = `${template.slug}-${branding.layout}`;
          await page.setContent(render(template, branding).html);
          expect(await overflow(page), what).toEqual([]);
          // At least 4.5 to 1.
          expect(await page.evaluate(faintText), what).toEqual([]);
          const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
          expect(ground).toBe(colorScheme === 'dark' ? 'rgb(16, 18, 22)' : 'rgb(238, 241, 236)');
          if (branding.layout === 'card' || PICTURES === 'all') {
            await picture(`${what}-${width}-${colorScheme}`);
          }
        }
      });
    }
  }

  it('nothing overflows with very long words, nor from right to left', async () => {
    await page.setViewportSize({ width: 375, height: 900 });
    for (const template of templates) {
      const words = lengthen(template.sample);
      for (const [index, variables] of [
        words,
        { ...template.sample, lang: 'ar', dir: 'rtl' },
        words,
      ].entries()) {
        await page.setContent(render(template, layouts[index]!, variables).html);
        expect(await overflow(page), template.slug).toEqual([]);
      }
    }
  });

  it('nothing overflows and no word is broken in German, which has long ones, nor in Arabic, from right to left', async () => {
    await page.emulateMedia({ colorScheme: 'light' });
    for (const width of [375, 600]) {
      await page.setViewportSize({ width, height: 900 });
      for (const locale of ['de', 'ar']) {
        for (const template of templates) {
          const sample = sampleIn(catalog.phrases, template.sample, [locale]);
          await page.setContent(render(template, fullBranding, sample, locale).html);
          expect(await overflow(page), `${template.slug}, ${locale}`).toEqual([]);
          expect(await page.evaluate(brokenWords), `${template.slug}, ${locale}`).toEqual([]);
          await picture(`${template.slug}-${width}-${locale}`);
        }
      }
    }
  });
});

/** Prices and codes are never that long; everything else may be. */
function lengthen(value: unknown, key = ''): Record<string, unknown> {
  const change = (inner: unknown, name: string): unknown => {
    if (Array.isArray(inner)) return inner.map((item) => change(item, name));
    if (typeof inner === 'object' && inner !== null) {
      return Object.fromEntries(Object.entries(inner).map(([k, v]) => [k, change(v, k)]));
    }
    return typeof inner === 'string' && !/price|amount|total|tax|shipping|discount|value/.test(name)
      ? `${inner}${long}`
      : inner;
  };
  return change(value, key) as Record<string, unknown>;
}

/** The elements that reach beyond the window, if the page can be scrolled sideways. */
function overflow(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width && document.body.scrollWidth <= width) return [];
    return [...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > width + 0.5)
      .map((element) => element.tagName + ': ' + element.textContent.slice(0, 40));
  })()`);
}

/**
 * Runs in the page: words and numbers that go on in the next line. Addresses of pages may: nobody
 * can tell where they should break.
 */
const brokenWords = `(() => {
  const broken = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    const node = walker.currentNode;
    for (const { 0: word, index } of node.textContent.matchAll(/[A-Z]+-\\d[\\w-]*|[^\\s\\u2013\\u2011-]+/g)) {
      if (/[/?=]/.test(word)) continue;
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      if (new Set([...range.getClientRects()].map(({ bottom }) => bottom)).size > 1) broken.push(word);
    }
  }
  return broken;
})()`;

/**
 * Runs in the page: texts, also those in place of images, whose contrast with the ground below them
 * is under 4.5.
 */
const faintText = `(() => {
  const parse = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const faint = [];
  const texts = [...document.images].map((image) => [image.alt, image]);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) texts.push([walker.currentNode.textContent, walker.currentNode.parentElement]);
  for (const [written, element] of texts) {
    const text = written.replace(/[\\s\\u00a0\\u034f\\u200c\\u2007]/g, '');
    if (!text || getComputedStyle(element).display === 'none' || element.offsetHeight < 5) continue;
    const [a, b] = [luminance(parse(getComputedStyle(element).color)), luminance(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faint.push(text.slice(0, 30) + ' ' + ratio.toFixed(2));
  }
  return faint;
})()`;
