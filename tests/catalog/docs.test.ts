// The documentation of templates is complete: the catalogue is fresh, and every macro, field, block
// and meaning is described.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeCatalog } from '../../scripts/describe-catalog.ts';
import { brandingContext } from '../../src/templates/branding.ts';
import { brandingFields, defaultBranding } from '../../src/templates/branding-fields.ts';
import { catalog, catalogFolder } from '../support/catalog.ts';

const docs = readFileSync(new URL('../../docs/templates.md', import.meta.url), 'utf8');
const read = (file: string) => readFileSync(join(catalogFolder, file), 'utf8');

it('lists the catalogue as it is', async () => {
  await expect(describeCatalog(catalog)).toMatchFileSnapshot('../../docs/template-catalogue.md');
});

it('describes every macro with its arguments', () => {
  // Those that begin with _ are the file's own: Jinja2 does not export them.
  const macros = [...read('macros.html').matchAll(/\{%-? macro ((?!_)\w+\(.*?\)) -?%\}/g)].map(
    ([, one]) => one!,
  );
  expect(macros.length).toBeGreaterThan(20);
  expect(macros.filter((macro) => !docs.includes(macro))).toEqual([]);
});

it('describes every block of the layout', () => {
  for (const [, block] of read('layout.html').matchAll(/\{% block (\w+) %\}/g))
    expect(docs).toContain(`| \`${block}\` |`);
});

it('describes every branding field and derived colour', () => {
  for (const field of brandingFields) expect(docs).toContain(`| \`${field}\` |`);
  const derived = Object.keys(brandingContext(defaultBranding)).filter(
    (name) => name.endsWith('_color') || name.endsWith('_dark'),
  );
  for (const name of derived) expect(docs).toMatch(new RegExp(`\`(branding\\.)?${name}\``));
});

it('describes every meaning a table can have in plain text', () => {
  const used = new Set(
    [...(read('macros.html') + read('layout.html')).matchAll(/data-text="(\w+)"/g)].map(
      ([, one]) => one!,
    ),
  );
  for (const meaning of used) expect(docs).toContain(`\`${meaning}\``);
});
