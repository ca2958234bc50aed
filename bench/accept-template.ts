// npm run bench accept-template: sends from a template accepted per second beside sends of the very
// same email as inline content. In alternating rounds over one API process and one PostgreSQL; the
// order confirmation with its sample. The goal is a ratio of at least 0.6: rendering takes several
// times the CPU of everything else in a send, and gets it from another core.
// Run: npm run bench accept-template; ROUNDS, SECONDS (of a round) and CONNECTIONS are read from
// the environment
import { catalogFolder, loadCatalog } from '../src/templates/catalog.ts';
import { makeHere } from '../src/templates/making.ts';
import { createRenderer } from '../src/templates/rendering.ts';
import { openSystemResolution } from '../src/templates/resolution.ts';
import { openInstallation } from './support/installation.ts';
import { openLoad, sendRequest } from './support/loads.ts';
import { judge } from './support/results.ts';
import { show, summarise } from './support/rounds.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 10);
const SECONDS = Number(process.env.SECONDS ?? 2);
const CONNECTIONS = Number(process.env.CONNECTIONS ?? 64);
const GOAL = 0.6;
const SLUG = 'order-confirmation';

const installation = await openInstallation();
const { key } = await installation.account(['email:send']);
const catalog = loadCatalog(catalogFolder);
// The pictures at an address, as a shop has them: those of the sample would travel with the email.
const variables = JSON.parse(
  JSON.stringify(catalog.templates.get(SLUG)!.sample).replaceAll('alderfinch.', 'shop.'),
);
const render = createRenderer(openSystemResolution(catalog), makeHere(catalog));
const { subject, html, text } = await render(0, { slug: SLUG, variables });
const service = await installation.serve('api');
const inline = load('inline', { subject, html: html.toString(), text: text.toString() });
const template = load('template', { template: SLUG, variables });

try {
  for (let warm = 0; warm < 4; warm++) for (const load of [inline, template]) await load.round();
  const ratios: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const [beside, own] = [await inline.round(), await template.round()];
    ratios.push(own / beside);
    process.stdout.write(
      `  round ${round}, per second: ${own.toFixed(0)} template, ${beside.toFixed(0)} inline\n`,
    );
  }
  const ratio = summarise(ratios);
  for (const { name, figures } of [inline, template]) {
    process.stdout.write(`\n${name}, ${html.length + text.length} bytes of HTML and text\n`);
    for (const [what, values] of Object.entries(figures)) {
      process.stdout.write(`  ${what.padEnd(24)} ${show(summarise(values.slice(-ROUNDS)), 1)}\n`);
    }
  }
  judge('sends from a template : the same email inline', ratio, { goal: GOAL });
} finally {
  for (const { close } of [inline, template]) await close();
  await service.stop();
  await installation.close();
}

function load(name: string, content: object) {
  const email = { from_email: 'hello@example.com', to: ['ada@example.net'], ...content };
  const over = { connections: CONNECTIONS, folder: installation.folder };
  const { round, close } = openLoad(service.port, [sendRequest(key, email)], over);
  const figures: Record<string, number[]> = {
    'per second': [],
    'latency p50, ms': [],
    'latency p99, ms': [],
    'CPU each, Node, µs': [],
  };
  return {
    name,
    figures,
    close,
    async round(): Promise<number> {
      const used = installation.meter(service);
      const { answered, p50, p99 } = await round(SECONDS);
      const { node } = used();
      const values = [answered / SECONDS, p50, p99, node / answered];
      for (const [index, list] of Object.values(figures).entries()) list.push(values[index]!);
      return answered / SECONDS;
    },
  };
}
