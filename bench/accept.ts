// npm run bench accept: sends accepted per second beside one prepared INSERT of the same email per
// transaction at 16 clients. In alternating rounds over the same PostgreSQL: one API process (one
// thread of JavaScript), two of them, the INSERTs, and a bare node:http server that does nothing at
// all, for comparison. Goals: one process keeps up with the INSERTs, and two accept as many per
// second of CPU, theirs and PostgreSQL's, as one. Then all again as if the disk took 1 ms more to
// sync.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { openInstallation } from './support/installation.ts';
import { type Load, openLoad, sendRequest } from './support/loads.ts';
import { findPgbench, NO_PGBENCH, runPgbench } from './support/pgbench.ts';
import { type Served, serveBare } from './support/processes.ts';
import { judge, skip } from './support/results.ts';
import { show, summarise } from './support/rounds.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 10);
const SECONDS = Number(process.env.SECONDS ?? 2);
const CONNECTIONS = Number(process.env.CONNECTIONS ?? 64);

const FIGURES: [what: string, figure: keyof Round, digits: number][] = [
  ['per second', 'rate', 0],
  ['latency p50, ms', 'p50', 1],
  ['latency p99, ms', 'p99', 1],
  ['CPU each, Node, µs', 'nodeUs', 0],
  ['CPU each, PostgreSQL, µs', 'postgresUs', 0],
  ['mean batch size', 'batch', 1],
];

const installation = await openInstallation();
const { database, folder } = installation;

const html = `<html><body>${'<p>A paragraph of an ordinary email, with some words in it.</p>'.repeat(42)}</body></html>`;
const text = 'A paragraph of an ordinary email, with some words in it.\n'.repeat(6);
const { key } = await installation.account(['email:send']);
const email = {
  from_email: 'Acme <hello@example.com>',
  to: ['ada@example.net'],
  ...{ subject: 'An ordinary email', html, text, tags: ['bench'] },
};
const request = sendRequest(key, email);

const servers = [await installation.serve('api'), await installation.serve('api')];
const bareServer = await serveBare('bare-http');
const one = openArrangement('sends, one API process', servers.slice(0, 1));
const two = openArrangement('sends, two API processes', servers);
const bare = openArrangement('requests, a bare node:http server that only answers', [bareServer]);
const arrangements = [one, two, bare];
const baseline = await openBaseline();

try {
  // Until the optimising compiler has seen it all.
  for (let warm = 0; warm < 5; warm++) await two.round();
  await bare.round();
  await baseline.round();
  await compare('As the disk is:', arrangements, ROUNDS);
  // A leader sleeps before it flushes: what a disk with slower syncs would do.
  await database.query('ALTER SYSTEM SET commit_delay = 1000');
  await database.query('ALTER SYSTEM SET commit_siblings = 0');
  await database.query('SELECT pg_reload_conf()');
  await compare('With 1 ms more for every sync:', [one, two], Math.ceil(ROUNDS / 2));
} finally {
  for (const { load } of arrangements) await load.close();
  for (const server of [...servers, bareServer]) await server.stop();
  await installation.close();
}

async function compare(title: string, among: Arrangement[], rounds: number): Promise<void> {
  process.stdout.write(`\n${title}\n`);
  for (let round = 1; round <= rounds; round++) {
    const rates: string[] = [];
    for (const { name, round } of among) rates.push(`${(await round()).rate.toFixed(0)} ${name}`);
    rates.push(`${(await baseline.round()).toFixed(0)} ${baseline.name}`);
    process.stdout.write(`  round ${round}, per second: ${rates.join(', ')}\n`);
  }
  const inserts = baseline.rates.slice(-rounds);
  process.stdout.write(`\n${baseline.name}\n`);
  report('per second', summarise(inserts), 0);
  for (const arrangement of among) {
    const measured = arrangement.rounds.slice(-rounds);
    process.stdout.write(`\n${arrangement.name}\n`);
    judge(
      `${arrangement.name} : ${baseline.name} (${title})`,
      summarise(measured.map(({ rate }, index) => rate / inserts[index]!)),
      arrangement === one ? { goal: 1 } : {},
    );
    for (const [what, figure, digits] of FIGURES) {
      const summary = summarise(measured.map((round) => round[figure]));
      if (Number.isFinite(summary.median)) report(what, summary, digits);
    }
  }
  const cpuOf = ({ nodeUs, postgresUs }: Round) => nodeUs + postgresUs;
  const [alone, both] = [one.rounds.slice(-rounds), two.rounds.slice(-rounds)];
  judge(
    `sends per second of CPU, two API processes : one (${title})`,
    summarise(alone.map((it, n) => cpuOf(it) / cpuOf(both[n]!))),
    { goal: 1 },
  );
}

function report(what: string, figures: ReturnType<typeof summarise>, digits?: number): void {
  process.stdout.write(`  ${what.padEnd(32)} ${show(figures, digits)}\n`);
}

interface Round {
  rate: number;
  p50: number;
  p99: number;
  nodeUs: number;
  postgresUs: number;
  batch: number;
}

interface Arrangement {
  name: string;
  load: Load;
  rounds: Round[];
  round: () => Promise<Round>;
}

/** The same number of connections, spread over these servers. */
function openArrangement(name: string, over: Served[]): Arrangement {
  const ports = over.map((server) => server.port);
  const load = openLoad(ports, [request], { connections: CONNECTIONS, folder });
  const rounds: Round[] = [];
  return {
    name,
    load,
    rounds,
    round: async () => {
      const batchesBefore = await countBatches(over);
      const used = installation.meter(...over);
      const { answered, p50, p99 } = await load.round(SECONDS);
      const { node, postgres } = used();
      const batches = (await countBatches(over)) - batchesBefore;
      const round = {
        rate: answered / SECONDS,
        p50,
        p99,
        nodeUs: node / answered,
        postgresUs: postgres / answered,
        batch: answered / batches,
      };
      rounds.push(round);
      return round;
    },
  };
}

async function countBatches(over: Served[]): Promise<number> {
  let count = 0;
  for (const { port, child } of over) {
    if (child === bareServer.child) continue;
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    count += Number(/^sandmartin_accept_batch_size_count (\S+)/m.exec(metrics)?.[1]);
  }
  return count;
}

/**
 * The same email as one row of one table, sent as parameters of one prepared INSERT per
 * transaction: with pgbench where it is installed, else over 16 bare connections.
 */
async function openBaseline(): Promise<{
  name: string;
  rates: number[];
  round: () => Promise<number>;
}> {
  await database.query(
    `CREATE TABLE bench_emails (
       account_id bigint, id uuid PRIMARY KEY, from_email text, recipients text[], subject text, tags text[],
       html text STORAGE EXTERNAL, text text STORAGE EXTERNAL) WITH (toast_tuple_target = 8160)`,
  );
  const row = {
    from: 'hello@example.com',
    recipients: '{ada@example.net}',
    subject: 'An ordinary email',
    tags: '{bench}',
    html,
    text,
  };
  const rates: number[] = [];
  const pgbench = findPgbench();
  if (pgbench !== undefined) {
    const script = join(folder, 'insert.sql');
    const variables = Object.keys(row).map((name) => `:${name}`);
    writeFileSync(
      script,
      `INSERT INTO bench_emails VALUES (1, gen_random_uuid(), ${variables});\n`,
    );
    const plan = { scripts: [script], variables: row, clients: 16, seconds: SECONDS };
    return {
      name: 'INSERTs by pgbench, 16 clients',
      rates,
      round: async () => {
        rates.push(runPgbench(pgbench, installation.url, plan));
        return rates.at(-1)!;
      },
    };
  }
  skip(NO_PGBENCH, 'by pgbench');
  const clients = Array.from({ length: 16 }, () => new pg.Client(installation.url));
  await Promise.all(clients.map((client) => client.connect()));
  const values = Object.values(row);
  return {
    name: 'INSERTs over 16 bare pg connections',
    rates,
    round: async () => {
      const end = performance.now() + SECONDS * 1000;
      let count = 0;
      await Promise.all(
        clients.map(async (client) => {
          while (performance.now() < end) {
            await client.query({
              name: 'insert',
              text: 'INSERT INTO bench_emails VALUES (1, gen_random_uuid(), $1, $2, $3, $4, $5, $6)',
              values,
            });
            count++;
          }
        }),
      );
      rates.push(count / SECONDS);
      return rates.at(-1)!;
    },
  };
}
