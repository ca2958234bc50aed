// npm run bench batch: emails accepted per second in batches of 100, beside the same emails as
// single sends by as many callers, in alternating rounds over one API process and one PostgreSQL.
// The goal is a ratio of at least 4, for one caller and for eight. Beside it, without a goal:
// single sends by as many callers as the server can use. Its group commit makes batches of these by
// itself, so that only the cost of a call is saved there; writing an email costs PostgreSQL the
// same. ROUNDS and SECONDS (of a round) are read from the environment.
import { openInstallation } from './support/installation.ts';
import { openLoad, sendRequest } from './support/loads.ts';
import { judge } from './support/results.ts';
import { show, summarise } from './support/rounds.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 8);
const SECONDS = Number(process.env.SECONDS ?? 2);
const GOAL = 4;
const COUNT = 100;

const FIGURES: [what: string, figure: keyof Round, digits: number][] = [
  ['emails a second', 'rate', 0],
  ['latency of a call p50, ms', 'p50', 1],
  ['latency of a call p99, ms', 'p99', 1],
  ['CPU an email, Node, µs', 'nodeUs', 0],
  ['CPU an email, PostgreSQL, µs', 'postgresUs', 0],
];

const installation = await openInstallation();
const { key } = await installation.account(['email:send']);
const service = await installation.serve('api');

const html = `<html><body>${'<p>A paragraph of an ordinary email, with some words in it.</p>'.repeat(42)}</body></html>`;
const text = 'A paragraph of an ordinary email, with some words in it.\n'.repeat(6);
const email = (n: number) => ({
  from_email: 'Acme <hello@example.com>',
  to: [`person-${n}@example.net`],
  ...{ subject: 'An ordinary email', html, text, tags: ['bench'] },
});
const many = {
  ...{ from_email: 'Acme <hello@example.com>', subject: 'An ordinary email', html, text },
  ...{ tags: ['bench'], recipients: each((n) => ({ to: `person-${n}@example.net` })) },
};

const BATCH = '/v1/send/batch';
const singleByOne = load('single sends, one caller', '/v1/send', email(0), { callers: 1 });
const batchByOne = load('batches, one caller', BATCH, each(email), { callers: 1 });
const single = load('single sends, 8 callers', '/v1/send', email(0), { callers: 8 });
const batch = load('batches, 8 callers', BATCH, each(email), { callers: 8 });
const personal = load('one email for 100, 8 callers', BATCH, many, { callers: 8 });
const most = load('single sends, 64 callers', '/v1/send', email(0), { callers: 64 });
const loads = [singleByOne, batchByOne, single, batch, personal, most];

try {
  // They are all that the service does here; fewer callers find nothing new.
  for (let warm = 0; warm < 3; warm++)
    for (const { round } of [batch, personal, most]) await round();
  for (const { rounds } of loads) rounds.length = 0;
  for (let n = 1; n <= ROUNDS; n++) {
    for (const { round } of loads) await round();
    const rates = loads.map(({ name, rounds }) => `${rounds.at(-1)!.rate.toFixed(0)} ${name}`);
    process.stdout.write(`  round ${n}, emails a second: ${rates.join(', ')}\n`);
  }
  for (const { name, rounds } of loads) {
    process.stdout.write(`\n${name}\n`);
    for (const [what, figure, digits] of FIGURES) {
      const summary = summarise(rounds.map((round) => round[figure]));
      process.stdout.write(`  ${what.padEnd(32)} ${show(summary, digits)}\n`);
    }
  }
  compare('one caller', batchByOne, singleByOne, GOAL);
  compare('8 callers', batch, single, GOAL);
  compare('8 callers, one email for 100', personal, single, GOAL);
  compare('8 callers beside single sends by 64', batch, most);
} finally {
  for (const { close } of loads) await close();
  await service.stop();
  await installation.close();
}

function compare(what: string, batches: Load, singles: Load, goal?: number): void {
  const ratio = summarise(
    batches.rounds.map(({ rate }, round) => rate / singles.rounds[round]!.rate),
  );
  judge(`batches : single sends, ${what}`, ratio, goal === undefined ? {} : { goal });
}

function each<Item>(make: (n: number) => Item): Item[] {
  return Array.from({ length: COUNT }, (_, n) => make(n));
}

interface Round {
  rate: number;
  p50: number;
  p99: number;
  nodeUs: number;
  postgresUs: number;
}

type Load = ReturnType<typeof load>;

function load(name: string, path: string, content: object, { callers }: { callers: number }) {
  const over = { connections: callers, folder: installation.folder };
  const { round, close } = openLoad(service.port, [sendRequest(key, content, path)], over);
  const emails = path === '/v1/send' ? 1 : COUNT;
  const rounds: Round[] = [];
  return {
    ...{ name, rounds, close },
    async round(): Promise<void> {
      const used = installation.meter(service);
      const { answered, p50, p99 } = await round(SECONDS);
      const { node, postgres } = used();
      const count = answered * emails;
      rounds.push({
        ...{ rate: count / SECONDS, p50, p99 },
        nodeUs: node / count,
        postgresUs: postgres / count,
      });
    },
  };
}
