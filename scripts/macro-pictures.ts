// npx tsx scripts/macro-pictures.ts: draws the macros that docs/templates.md shows, each into
// docs/macros/NAME.png, in a browser.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brandingContext, changeBranding } from '../src/templates/branding.ts';
import { defaultBranding } from '../src/templates/branding-fields.ts';
import { showCarried } from '../src/templates/carried-file.ts';
import { catalogFolder, loadCatalog } from '../src/templates/catalog.ts';
import { makeHere } from '../src/templates/making.ts';
import { openBrowser } from '../tests/support/browser.ts';

const PICTURES = 'https://alderfinch.example/pictures';
const examples: Record<string, string> = {
  image: `ui.image('${PICTURES}/harbour.png', 'The harbour at night', 510)`,
  hero: `ui.hero('${PICTURES}/harbour.png', 'The harbour at night', 'Strings by the Harbour', 'Friday, 4 September, 20:00')`,
  product: `ui.product('Hara table lamp', '£129.00', '${PICTURES}/lamp.png', 'Oak, linen shade')`,
  qr: "ui.qr('SBH-8841-QF', '', 140, 'SBH-8841-QF')",
  date_tile:
    "ui.date_tile('2026-06-20', 'Window table', ['Saturday, 20 June 2026, 19:30', '2 hours · 4 people'])",
  file_tile: "ui.file_tile('Spring lookbook, final.pdf', '8.4 MB · Can comment')",
  stats:
    "ui.stats([{'value': '1,284', 'label': 'emails sent', 'change': '12% more', 'trend': 'up'}, {'value': '61%', 'label': 'opened', 'change': 'no change'}, {'value': '3', 'label': 'bounced', 'change': '5 fewer', 'trend': 'down', 'tone': 'success'}])",
  rating: "ui.rating('https://x.example', 'Poor', 'Excellent', 'stars')",
  avatar: "ui.person('Keiko Mori', 'Alder & Finch')",
  map_link: "ui.map_link('Where', ['Restaurante Maré', 'Rua da Bica 31', '1200-054 Lisboa'])",
  progress: "ui.progress(95, '47,512 of 50,000 monthly emails', 'warning')",
  badge:
    "ui.badge('Calm') ~ ui.badge('Success', 'success') ~ ui.badge('Warning', 'warning') ~ ui.badge('Danger', 'danger')",
};

const folder = fileURLToPath(new URL('../docs/macros', import.meta.url));
mkdirSync(folder, { recursive: true });
const catalog = loadCatalog(catalogFolder);
const making = makeHere(catalog);
const branding = changeBranding(defaultBranding, {
  primary_color: '#2f5d50',
  accent_color: '#f2b56b',
  button_radius: 10,
  layout: 'letter',
});
const browser = await openBrowser();
if ('skipped' in browser) throw new Error(browser.skipped);
const page = await browser.newPage({ viewport: { width: 660, height: 400 } });
for (const [name, call] of Object.entries(examples)) {
  const html = `{% extends "layout.html" %}{% import "macros.html" as ui with context %}{% block content %}<div id="it">{{ ${call} }}</div>{% endblock %}`;
  const email = await making.make(
    {
      ...{ slug: 'picture', variables: {} },
      template: { key: null, value: { subject: name, preheader: '', html, text: null } },
      branding: { key: null, value: brandingContext(branding) },
    },
    { share: 'pictures', ratePerSecond: 1000 },
  );
  await page.setContent(showCarried(Buffer.from(email.html).toString(), email.files));
  await page.locator('#it').screenshot({ path: join(folder, `${name}.png`) });
}
await browser.close();
