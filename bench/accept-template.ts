// npm run bench accept-template: sends from a template accepted per second beside sends of the very
// same email as inline content. In alternating rounds over one API process and one PostgreSQL; the
// order confirmation with its sample. The goal is a ratio of at least 0.6: rendering takes several
// times the CPU of everything else in a send, and gets it from another core.
// Run: npm run bench accept-template; ROUNDS, SECONDS (of a round) and CONNECTIONS are read from
// the environment
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createAccount } from '../src/accounts/accounts.ts';
import { addIdentity } from '../src/accounts/identities.ts';
import { createKey } from '../src/accounts/keys.ts';
import { systemClock } from '../src/process/clock.ts';
import { openEmbedded } from '../src/store/embedded/open.ts';
import { migrate } from '../src/store/migrate.ts';
import { openDatabase } from '../src/store/pool.ts';
import { catalogFolder, loadCatalog } from '../src/templates/catalog.ts';
import { makeHere } from '../src/templates/making.ts';
import { createRenderer } from '../src/templates/rendering.ts';
import { openSystemResolution } from '../src/templates/resolution.ts';
import { cpuMicroseconds } from './support/cpu.ts';
import { judge } from './support/results.ts';
import { show, summarise } from './support/rounds.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 10);
const SECONDS = Number(process.env.SECONDS ?? 2);
const CONNECTIONS = process.env.CONNECTIONS ?? '64';
const PORT = 38_473;
const GOAL = 0.6;
const SLUG = 'order-confirmation';

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-bench-'));
const embedded = await openEmbedded(join(folder, 'data'), { as: 'owner', log: () => undefined });
const database = openDatabase(embedded.url, { connections: 4, onIdleError: () => undefined });
await migrate(database);
const key = await makeKey();
const catalog = loadCatalog(catalogFolder);
// The pictures at an address, as a shop has them: those of the sample would travel with the email.
const variables = JSON.parse(
  JSON.stringify(catalog.templates.get(SLUG)!.sample).replaceAll('alderfinch.', 'shop.'),
);
const render = createRenderer(openSystemResolution(catalog), makeHere(catalog));
const { subject, html, text } = await render(0, { slug: SLUG, variables });
const server = await startServer();
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
  for (const child of [inline.child, template.child, server]) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  await database.close();
  await embedded.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function makeKey(): Promise<string> {
  const account = await createAccount(database, {
    name: 'bench',
    plan: 'paid',
    dailyQuota: 2_000_000_000,
    ratePerSecond: 1_000_000,
  });
  await addIdentity(database, account.id, 'example.com', true);
  const wish = { accountId: account.id, scopes: ['email:send'] as const };
  return (await createKey(database, systemClock, wish)).key;
}

async function startServer(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['bin/sandmartin.js', 'serve'], {
    env: {
      ...process.env,
      DATABASE_URL: embedded.url,
      PORT: String(PORT),
      FEEDBACK_PORT: '0',
      ROLES: 'api',
      LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout!, 'data');
  return child;
}

function openLoad(name: string, content: object) {
  const file = join(folder, name);
  const body = Buffer.from(
    JSON.stringify({ from_email: 'hello@example.com', to: ['ada@example.net'], ...content }),
  );
  const head = `POST /v1/send HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  writeFileSync(file, Buffer.concat([Buffer.from(head), body]));
  const args = ['--import', 'tsx', 'bench/support/http-load.ts', String(PORT), CONNECTIONS, file];
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
      const before = cpuMicroseconds(server.pid!);
      child.stdin!.write(`${JSON.stringify({ seconds: SECONDS })}\n`);
      const { answered, failed, p50, p99 } = JSON.parse((await answers.next()).value as string);
      if (failed > 0) throw new Error(`${failed} sends were not answered with 202`);
      const cpu = (cpuMicroseconds(server.pid!) - before) / answered;
      const values = [answered / SECONDS, p50, p99, cpu];
      for (const [index, list] of Object.values(figures).entries()) list.push(values[index]!);
      return answered / SECONDS;
    },
  };
}
