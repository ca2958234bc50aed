// npm run bench accept-template: sends from a template accepted per second beside sends of the very
// same email as inline content. In alternating rounds over one API process and one PostgreSQL; the
// order confirmation with its sample. The goal is a ratio of at least 0.6: rendering takes several
// times the CPU of everything else in a send, and gets it from another core.
// Run: npm run bench accept-template; ROUNDS, SECONDS (of a round) and CONNECTIONS are read from
// the environment
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { catalogFolder, loadCatalog } from '../src/templates/catalog.ts';
import { makeHere } from '../src/templates/making.ts';
import { createRenderer } from '../src/templates/rendering.ts';
import { openSystemResolution } from '../src/templates/resolution.ts';
import { openInstallation } from './support/installation.ts';
import { judge } from './support/results.ts';
import { show, summarise } from './support/rounds.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 10);
const SECONDS = Number(process.env.SECONDS ?? 2);
const CONNECTIONS = process.env.CONNECTIONS ?? '64';
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
const inline = openLoad('inline', { subject, html: html.toString(), text: text.toString() });
const template = openLoad('template', { template: SLUG, variables });

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
  for (const { child } of [inline, template]) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  await service.stop();
  await installation.close();
}

function openLoad(name: string, content: object) {
  const file = join(installation.folder, name);
  const body = Buffer.from(
    JSON.stringify({ from_email: 'hello@example.com', to: ['ada@example.net'], ...content }),
  );
  const head = `POST /v1/send HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  writeFileSync(file, Buffer.concat([Buffer.from(head), body]));
  const words = [String(service.port), CONNECTIONS, file];
  const args = ['--import', 'tsx', 'bench/support/http-load.ts', ...words];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const figures: Record<string, number[]> = {
    'per second': [],
    'latency p50, ms': [],
    'latency p99, ms': [],
    'CPU each, Node, µs': [],
  };
  return {
    name,
    child,
    figures,
    async round(): Promise<number> {
      const used = installation.meter(service);
      child.stdin!.write(`${JSON.stringify({ seconds: SECONDS })}\n`);
      const { answered, failed, p50, p99 } = JSON.parse((await answers.next()).value as string);
      const { node } = used();
      if (failed > 0) throw new Error(`${failed} sends were not answered with 202`);
      const values = [answered / SECONDS, p50, p99, node / answered];
      for (const [index, list] of Object.values(figures).entries()) list.push(values[index]!);
      return answered / SECONDS;
    },
  };
}
