// npm run bench templates: order emails rendered per second on one core, from the compiled
// catalogue.
// The email has ten lines, as in the comparisons of Jinja2 engines. The goal is 3,000 a second for
// subject and HTML; the text, which is derived only when a sender gives none, is reported apart,
// and so are tracking and everything around the render itself. What languages cost is measured
// beside the same template with its words written into it, which must print the same bytes.
// ROUNDS (10) and MS (300, of a round) are read from the environment.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { htmlToPlainText } from '../src/html/plain-text.ts';
import { escapeText } from '../src/jinja/index.ts';
import { systemClock } from '../src/process/clock.ts';
import { createLog } from '../src/process/log.ts';
import { createMetrics } from '../src/process/metrics.ts';
import { brandingContext, changeBranding } from '../src/templates/branding.ts';
import { defaultBranding } from '../src/templates/branding-fields.ts';
import { catalogFolder, loadCatalog, ownCatalogFiles, textsFor } from '../src/templates/catalog.ts';
import {
  compileEmail,
  type EmailTemplate,
  emailContext,
  emailEnvironment,
  renderEmail,
} from '../src/templates/email-template.ts';
import { type Making, makeHere, openMaking } from '../src/templates/making.ts';
import { createRenderBudget } from '../src/templates/render-budget.ts';
import { missingVariables } from '../src/templates/variables.ts';
import { openPool } from '../src/threads/pool.ts';
import type { ServiceJobs } from '../src/threads/worker.ts';
import { WORKER_FILE } from '../src/threads/worker-file.ts';
import { insertTracking } from '../src/tracking/insert.ts';
import { judge } from './support/results.ts';
import { show, summarise } from './support/rounds.ts';
import { withWordsWrittenIn } from './support/words-written-in.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 10);
const ROUND_MS = Number(process.env.MS ?? 300);

const started = performance.now();
const catalog = loadCatalog(catalogFolder);
const { templates } = catalog;
const loadMs = performance.now() - started;

const order = templates.get('order-confirmation')!;
const lines = order.sample.items as unknown[];
const variables = {
  ...order.sample,
  items: Array.from({ length: 10 }, (_, index) => lines[index % lines.length]),
};
const account = changeBranding(defaultBranding, {
  brand_name: 'Alder & Finch',
  primary_color: '#2f5d50',
  support_email: 'care@alderfinch.example',
  privacy_policy_url: 'https://alderfinch.example/privacy',
});
const branding = brandingContext(account);
const texts = textsFor(catalog, order.messages, [order.html]);
const { html } = render();
const inGerman = writtenIn('de');
if (render('de-AT').html !== render('de-AT', inGerman).html) throw new Error('other words');
// It has no types; it is here only to be compared with.
const { compile } = (await import('html-to-text' as string)) as {
  compile: (options: object) => (html: string) => string;
};
const libraryText = compile({ wordwrap: 76 });

console.log(
  `${templates.size} templates read, checked and compiled in ${loadMs.toFixed(0)} ms; ` +
    `the order email has ${Buffer.byteLength(html)} bytes of HTML\n`,
);

const trackingUrl = `https://t.example/c/${'x'.repeat(120)}`;
const ways: Record<string, () => unknown> = {
  'subject and HTML': () => render(),
  'subject and HTML, for de-AT': () => render('de-AT'),
  'the same, with its words written into the template': () => render('de-AT', inGerman),
  'subject, HTML and text': () => htmlToPlainText(render().html),
  'text alone': () => htmlToPlainText(html),
  'text by html-to-text': () => libraryText(html),
  'links and pixel put in (without signing)': () =>
    insertTracking(html, { linkUrl: () => trackingUrl, pixelUrl: trackingUrl }).charCodeAt(0),
  'finding the template, checking variables, context': resolve,
  'colours of a branding (once per branding version)': () => brandingContext(account),
};
const results = new Map(Object.keys(ways).map((name) => [name, [] as number[]]));
for (const way of Object.values(ways)) measure(way, 1000);
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, way] of Object.entries(ways)) results.get(name)!.push(measure(way, ROUND_MS));
}

for (const [name, micros] of results) {
  const summary = summarise(micros);
  const perSecond = Math.round(1e6 / summary.median).toLocaleString('en');
  console.log(`${name.padEnd(52)} ${show(summary, 1).padEnd(22)} µs of CPU, ${perSecond} a second`);
}
const inThreads = await measureThreads();
console.log(
  `${'the same in threads, 64 at a time, both sides'.padEnd(52)} ${show(inThreads.cpu, 1).padEnd(22)} µs of CPU, ` +
    `${show(inThreads.ratio)} times as much (goal ≤ 1.2); ${show(inThreads.main, 1)} µs of the main thread`,
);
console.log('');
judge('an order email, in threads : on the main thread', inThreads.ratio, {
  goal: 1.2,
  better: 'lower',
});
const [translated, written] = [
  results.get('subject and HTML, for de-AT')!,
  results.get('the same, with its words written into the template')!,
];
judge(
  'an order email in a language : with its words written into the template',
  summarise(translated.map((micros, round) => micros / written[round]!)),
  { goal: 1.15, better: 'lower' },
);
judge(
  'order emails a second on one core',
  summarise(results.get('subject and HTML')!.map((micros) => 1e6 / micros)),
  { goal: 3000, unit: 'a second', digits: 0 },
);

function render(wanted?: string, template = order.compiled): { subject: string; html: string } {
  const language = texts.language({ wanted, standard: undefined });
  const email = renderEmail(template, emailContext(variables, branding, language));
  // Reading a character makes V8 join the pieces, which sending needs anyway.
  email.html.charCodeAt(0);
  return email;
}

/**
 * The order email as it was before it had languages: layout, macros and template with the words of
 * one.
 */
function writtenIn(locale: string): EmailTemplate {
  const messageOf = (key: string) => {
    const message = order.messages[locale]![key] ?? catalog.common[locale]![key];
    if (message === undefined) throw new Error(`there is no message "${key}"`);
    return message;
  };
  const written = (source: string) => withWordsWrittenIn(source, { messageOf, escape: escapeText });
  const plain = (source: string) => withWordsWrittenIn(source, { messageOf, escape: (it) => it });
  const shared = ['layout.html', 'macros.html'].map((file): [string, string] => {
    const source = readFileSync(join(catalogFolder, file), 'utf8');
    return [file, written(source)];
  });
  const { slug, subject, preheader, html } = order;
  return compileEmail(emailEnvironment(new Map(shared)), {
    slug,
    subject: plain(subject),
    preheader: plain(preheader),
    html: written(html),
  });
}

function resolve(): unknown {
  const template = templates.get('order-confirmation')!;
  const missing = missingVariables(template.variables, variables);
  const language = texts.language({ wanted: undefined, standard: undefined });
  return missing.length === 0 && emailContext(variables, branding, language);
}

/**
 * What a service does with a template: order, thread, bytes. Beside it, in turns, the same work
 * without a thread.
 */
async function measureThreads() {
  const pool = openPool<ServiceJobs>({
    file: WORKER_FILE,
    given: ownCatalogFiles(),
    threads: 2,
    log: createLog('warn'),
    metrics: createMetrics(),
  });
  const threaded = openMaking(
    {
      make: (order, as) => pool.run('make-mail', order, as),
      check: (order, as) => pool.run('check-template', order, as),
      writeText: (html, as) => pool.run('write-text', html, as),
      lint: (email, as) => pool.run('lint-email', email, as),
    },
    createRenderBudget(systemClock),
  );
  const here = makeHere(catalog);
  const email = {
    slug: order.slug,
    template: null,
    branding: { key: 'branding', value: branding },
    variables,
  };
  const whose = { share: 'bench', ratePerSecond: 1_000_000 };
  const run = async (making: Making, emails: number) => {
    const before = process.cpuUsage();
    const loop = performance.eventLoopUtilization();
    let left = emails;
    const sender = async () => {
      while (left-- > 0) await making.make(email, whose);
    };
    await Promise.all(Array.from({ length: 64 }, sender));
    const { user, system } = process.cpuUsage(before);
    const { active } = performance.eventLoopUtilization(loop);
    return { cpu: (user + system) / emails, main: (active * 1000) / emails };
  };
  for (const making of [here, threaded, threaded]) await run(making, 4000);
  const [cpu, main, ratio]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    const [beside, own] = [await run(here, 1000), await run(threaded, 1000)];
    cpu.push(own.cpu);
    main.push(own.main);
    ratio.push(own.cpu / beside.cpu);
  }
  await pool.close();
  return { cpu: summarise(cpu), main: summarise(main), ratio: summarise(ratio) };
}

/**
 * Microseconds of CPU per call. CPU time counts, not the clock: other processes on the machine slow
 * only the clock.
 */
function measure(way: () => unknown, cpuMs: number): number {
  let calls = 0;
  let used = 0;
  const start = process.cpuUsage();
  while (used < cpuMs * 1000) {
    for (let i = 0; i < 20; i++) way();
    calls += 20;
    const { user, system } = process.cpuUsage(start);
    used = user + system;
  }
  return used / calls;
}
