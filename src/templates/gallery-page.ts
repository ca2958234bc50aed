// The page of the gallery: a list of all templates, and one of them as it is chosen to be seen. It
// loads each email by its path, so the same page works from the service and from a folder. Before
// it: gallery.ts.
import { createHash } from 'node:crypto';
import type { SystemTemplate } from './catalog.ts';
import { categories } from './categories.ts';
import { LAYOUTS } from './layouts.ts';

type Shown = Pick<SystemTemplate, 'slug' | 'category' | 'name' | 'description'>;

const CHOICES: Record<string, readonly (readonly [value: string, label: string])[]> = {
  layout: LAYOUTS.map((name) => [name, name[0]!.toUpperCase() + name.slice(1)] as const),
  scheme: [
    ['light', 'Light'],
    ['dark', 'Dark'],
  ],
  width: [
    ['600', '600'],
    ['375', '375'],
  ],
  part: [
    ['html', 'Email'],
    ['text', 'Text'],
    ['source', 'Source'],
  ],
};

const STYLE = `
:root{--ink:#15181f;--mute:#626b7a;--line:#e3e6eb;--ground:#fff;--wash:#f4f5f7;color-scheme:light dark}
@media (prefers-color-scheme:dark){:root{--ink:#f4f5f7;--mute:#9aa2af;--line:#2d313a;--ground:#1a1d23;--wash:#101216}}
*{box-sizing:border-box}
body{margin:0;font:15px/1.5 -apple-system,BlinkMacSystemFont,Segoe UI,Roboto,Helvetica,Arial,sans-serif;color:var(--ink);background:var(--wash)}
header{position:sticky;top:0;z-index:1;display:flex;flex-wrap:wrap;gap:10px 20px;align-items:center;padding:12px 24px;background:var(--ground);border-bottom:1px solid var(--line)}
form{display:flex;flex-wrap:wrap;gap:10px}
h1{margin:0 auto 0 0;font-size:16px;font-weight:600}
fieldset{display:flex;gap:2px;margin:0;padding:2px;border:0;border-radius:8px;background:var(--wash)}
legend{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
label span{display:block;padding:4px 12px;border-radius:6px;font-size:14px;color:var(--mute);cursor:pointer}
input{position:absolute;opacity:0}
input:checked+span{background:var(--ground);color:var(--ink);box-shadow:0 1px 2px #0003}
input:focus-visible+span{outline:2px solid #4f46e5}
main{display:grid;grid-template-columns:250px minmax(0,1fr);min-height:calc(100vh - 57px)}
nav{position:sticky;top:57px;height:calc(100vh - 57px);overflow:auto;padding:12px 12px 40px;background:var(--ground);border-right:1px solid var(--line)}
nav h2{margin:16px 12px 4px;font-size:13px;font-weight:600;color:var(--mute);text-transform:capitalize}
nav a{display:block;padding:4px 12px;border-radius:6px;color:var(--ink);text-decoration:none}
nav a:hover{background:var(--wash)}
nav a[aria-current]{background:var(--wash);font-weight:600}
section{padding:24px}
section h2{margin:0;font-size:20px}
section p{margin:2px 0 16px;color:var(--mute)}
iframe{display:block;max-width:100%;border:1px solid var(--line);border-radius:10px;background:#fff}
@media (max-width:760px){main{display:block}nav{position:static;height:auto;max-height:30vh;border:0;border-bottom:1px solid var(--line)}section{padding:16px 8px}}
`;

/** Every choice is in the URL after the #, so a view can be shared. */
const SCRIPT = `
const form = document.querySelector('form');
const frame = document.querySelector('iframe');
const links = [...document.querySelectorAll('nav a')];
const chosen = (name) => form.elements[name].value;
function show() {
  const slug = decodeURIComponent(location.hash.slice(1));
  const link = links.find((one) => one.dataset.slug === slug) || links[0];
  for (const one of links) one.removeAttribute('aria-current');
  link.setAttribute('aria-current', 'page');
  document.querySelector('section h2').textContent = link.textContent;
  document.querySelector('section p').textContent = link.title;
  const part = chosen('part');
  const name = link.dataset.slug;
  frame.title = link.textContent;
  frame.width = part === 'html' ? Number(chosen('width')) + 2 : 900;
  frame.height = 900;
  frame.src = part === 'html' ? name + '.' + chosen('layout') + '.' + chosen('scheme') + '.html'
    : part === 'text' ? name + '.txt' : name + '.source.txt';
}
frame.addEventListener('load', () => {
  // From a folder, browsers let no page read another; then the frame scrolls.
  try { frame.height = frame.contentDocument.documentElement.scrollHeight + 2; } catch {}
});
form.addEventListener('change', show);
addEventListener('hashchange', show);
show();
`;

const hashOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Of the page itself: nothing but its own script, and frames from here. */
export const PAGE_POLICY = `default-src 'none'; script-src ${hashOf(SCRIPT)}; style-src ${hashOf(STYLE)}; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export function galleryPage(templates: readonly Shown[]): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${templates.length} email templates</title>
<style>${STYLE}</style>
</head>
<body>
<header><h1>${templates.length} email templates</h1><form>${Object.keys(CHOICES).map(choice).join('')}</form></header>
<main><nav aria-label="Templates">${categories.map((name) => listed(name, templates)).join('')}</nav>
<section><h2></h2><p></p><iframe title="Email"></iframe></section></main>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

function choice(name: string): string {
  const options = CHOICES[name]!.map(
    ([value, label], index) =>
      `<label><input type="radio" name="${name}" value="${value}"${index === 0 ? ' checked' : ''}><span>${label}</span></label>`,
  );
  return `<fieldset><legend>${name}</legend>${options.join('')}</fieldset>`;
}

function listed(category: string, templates: readonly Shown[]): string {
  const links = templates
    .filter((template) => template.category === category)
    .map(
      ({ slug, name, description }) =>
        `<a href="#${slug}" data-slug="${slug}" title="${escaped(description)}">${escaped(name)}</a>`,
    );
  return `<h2>${category}</h2>${links.join('')}`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
