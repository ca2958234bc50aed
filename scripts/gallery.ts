// npm run gallery: writes .artifacts/gallery/index.html, one page with every system template, for people to look at.
// It needs no server: each mail stands in a frame of its own, in three brandings, light or dark, phone or desktop, HTML or text.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { htmlToPlainText } from '../src/html/plain-text.ts';
import { brandingContext, changeBranding } from '../src/templates/branding.ts';
import { defaultBranding } from '../src/templates/branding-fields.ts';
import { loadCatalog } from '../src/templates/catalog.ts';
import { categories } from '../src/templates/categories.ts';
import { mailContext, renderMail } from '../src/templates/mail-template.ts';

const brandings = {
  Defaults: { brand_name: 'Sandmartin' },
  'Alder & Finch': {
    brand_name: 'Alder & Finch',
    primary_color: '#2f5d50',
    accent_color: '#f2b56b',
    button_radius: 10,
    support_email: 'care@alderfinch.example',
    support_url: 'https://help.alderfinch.example',
    footer_html: 'Alder &amp; Finch Ltd, 3 Orchard Yard, Bath BA1 2QR',
    privacy_policy_url: 'https://alderfinch.example/privacy',
    terms_url: 'https://alderfinch.example/terms',
  },
  Meridian: {
    brand_name: 'Meridian',
    primary_color: '#4f46e5',
    accent_color: '#c7d2fe',
    button_radius: 24,
    support_url: 'https://meridian.example/help',
    privacy_policy_url: 'https://meridian.example/privacy',
  },
};

const root = fileURLToPath(new URL('..', import.meta.url));
const { templates } = loadCatalog(join(root, 'catalog'));
const mails = [...templates.values()].map((template) => ({
  slug: template.slug,
  category: template.category,
  name: template.name,
  description: template.description,
  renders: Object.values(brandings).map((fields) => {
    const branding = brandingContext(changeBranding(defaultBranding, fields));
    const mail = renderMail(template.compiled, mailContext(template.sample, branding));
    return { ...mail, text: htmlToPlainText(mail.html) };
  }),
}));

// "</script>" inside a mail would end the data; mails have none, but a name might.
const data = JSON.stringify({ brandings: Object.keys(brandings), categories, mails }).replaceAll(
  '</',
  '<\\/',
);
const folder = join(root, '.artifacts/gallery');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'index.html'), page(data, mails.length));
process.stdout.write(`${mails.length} templates: ${join(folder, 'index.html')}\n`);

function page(json: string, count: number): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${count} system templates</title>
<style>
:root{--ink:#15181f;--mute:#626b7a;--line:#e3e6eb;--ground:#ffffff;--wash:#f4f5f7}
*{box-sizing:border-box}
body{margin:0;font:15px/1.5 -apple-system,BlinkMacSystemFont,Segoe UI,Roboto,Helvetica,Arial,sans-serif;color:var(--ink);background:var(--ground)}
header{position:sticky;top:0;z-index:1;display:flex;flex-wrap:wrap;gap:12px 24px;align-items:center;padding:14px 28px;background:var(--ground);border-bottom:1px solid var(--line)}
header h1{margin:0;font-size:16px;font-weight:600}
fieldset{display:flex;gap:2px;margin:0;padding:2px;border:0;border-radius:8px;background:var(--wash)}
legend{position:absolute;width:1px;height:1px;overflow:hidden}
label{cursor:pointer}
label span{display:block;padding:4px 12px;border-radius:6px;font-size:14px;color:var(--mute)}
input{position:absolute;opacity:0}
input:checked+span{background:var(--ground);color:var(--ink);box-shadow:0 1px 2px #0002}
input:focus-visible+span{outline:2px solid #4f46e5}
main{display:grid;grid-template-columns:240px 1fr}
nav{position:sticky;top:59px;height:calc(100vh - 59px);overflow:auto;padding:20px 16px 40px 28px;border-right:1px solid var(--line)}
nav h2{margin:16px 0 4px;font-size:13px;font-weight:600;color:var(--mute);text-transform:capitalize}
nav a{display:block;padding:3px 0;color:var(--ink);text-decoration:none}
nav a:hover{text-decoration:underline}
#mails{display:flex;flex-wrap:wrap;gap:40px;padding:28px;background:var(--wash)}
article{scroll-margin-top:80px}
article h3{margin:0;font-size:16px}
article p{margin:2px 0 10px;max-width:60ch;font-size:14px;color:var(--mute)}
article p b{font-weight:500;color:var(--ink)}
iframe,pre{display:block;border:1px solid var(--line);border-radius:10px;background:#fff}
pre{margin:0;padding:24px;font:13px/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre-wrap}
@media (max-width:800px){main{display:block}nav{display:none}}
</style>
</head>
<body>
<header><h1>${count} system templates</h1><form id="controls"></form></header>
<main><nav></nav><div id="mails"></div></main>
<script type="application/json" id="data">${json}</script>
<script>
const { brandings, categories, mails } = JSON.parse(document.getElementById('data').textContent);
const choices = { branding: brandings, colours: ['Light', 'Dark'], width: ['Desktop', 'Phone'], part: ['HTML', 'Text'] };
const controls = document.getElementById('controls');
controls.style = 'display:flex;flex-wrap:wrap;gap:12px';
for (const [name, options] of Object.entries(choices)) {
  const set = controls.appendChild(document.createElement('fieldset'));
  set.innerHTML = '<legend>' + name + '</legend>' + options.map((option, index) =>
    '<label><input type="radio" name="' + name + '" value="' + index + '"' + (index ? '' : ' checked') + '><span>' + option.replace('&', '&amp;') + '</span></label>').join('');
}
const nav = document.querySelector('nav');
const holder = document.getElementById('mails');
for (const category of categories) {
  nav.insertAdjacentHTML('beforeend', '<h2>' + category + '</h2>');
  for (const mail of mails.filter((one) => one.category === category)) {
    nav.insertAdjacentHTML('beforeend', '<a href="#' + mail.slug + '">' + mail.name + '</a>');
    holder.insertAdjacentHTML('beforeend', '<article id="' + mail.slug + '"><h3>' + mail.name + '</h3><p>' + mail.description + '<br><b></b></p><div></div></article>');
  }
}
function chosen(name) { return Number(new FormData(controls).get(name)); }
function show(article) {
  const mail = mails.find((one) => one.slug === article.id);
  const render = mail.renders[chosen('branding')];
  const width = chosen('width') ? 375 : 700;
  article.querySelector('b').textContent = render.subject;
  const slot = article.querySelector('div');
  slot.style.width = width + 'px';
  article.style.maxWidth = width + 'px';
  if (chosen('part')) {
    const text = document.createElement('pre');
    text.textContent = render.text;
    slot.replaceChildren(text);
    return;
  }
  // A frame cannot be told to prefer dark, so its rules are made to hold always or never.
  const scheme = '@media (prefers-color-scheme:dark)';
  const frame = document.createElement('iframe');
  frame.title = mail.name;
  frame.width = width;
  frame.height = 700;
  frame.sandbox = 'allow-same-origin';
  frame.srcdoc = render.html.replace(scheme, chosen('colours') ? '@media all' : '@media not all');
  frame.onload = () => { frame.height = frame.contentDocument.documentElement.scrollHeight + 2; };
  slot.replaceChildren(frame);
}
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) { seen.unobserve(entry.target); show(entry.target); }
}, { rootMargin: '1200px' });
function refresh() { for (const article of holder.children) { article.querySelector('div').style.minHeight = '400px'; seen.unobserve(article); seen.observe(article); } }
controls.addEventListener('change', refresh);
refresh();
</script>
</body>
</html>
`;
}
