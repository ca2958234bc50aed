// npm run bench citus: what an email costs on a Citus of a coordinator and two nodes beside the same PostgreSQL without it, from the
// send to the relay's report that it was delivered: CPU of the service (with relay and load in it) and of each server, bytes on
// disk and in the WAL. In alternating rounds on one machine; the goal is at most 1.6 times the cost. Needs Citus
// (scripts/citus-build.sh). docs/scale.md is computed from it (scripts/describe-scale.ts).
import { readConfig } from '../src/config.ts';
import { createLog } from '../src/log.ts';
import { startService } from '../src/main.ts';
import { openDatabase } from '../src/store/pool.ts';
import {
  createCitusDatabase,
  startCluster,
  type TestServer,
  whyNoCitus,
} from '../tests/support/citus.ts';
import { makeAccount, type TestAccount } from '../tests/support/service.ts';
import { cpuBetween, snapshotTree } from './support/cpu.ts';
import { judge, SKIPPED, single } from './support/results.ts';
import { summarise } from './support/rounds.ts';
import { COSTS } from './support/scale.ts';

const why = whyNoCitus();
if (why !== undefined) {
  process.stdout.write(`skipped: ${why}\n`);
  process.exit(SKIPPED);
}

const ROUNDS = Number(process.env.ROUNDS ?? 6);
const MAILS = Number(process.env.MAILS ?? 600);
const ACCOUNTS = 8;
const AT_A_TIME = 64;
const html = `<html><body>${'<p>A paragraph of an ordinary email, with some words in it.</p>'.repeat(42)}</body></html>`;

const cluster = await startCluster();
const ways = [];
for (const way of ['plain', 'citus'] as const) ways.push(await openWay(way));
const measured: Map<string, Cost>[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const costs = new Map<string, Cost>();
  for (const { name, run } of round % 2 === 0 ? ways : ways.toReversed()) {
    const cost = await run();
    costs.set(name, cost);
    if (round === 0) continue;
    process.stdout.write(
      `${name}: ${Math.round(cost.service)} µs service + ${Math.round(cost.first + cost.nodes)} µs servers an email, ${Math.round(cost.rate)} emails/s\n`,
    );
  }
  // The first warms up.
  if (round > 0) measured.push(costs);
}
const of = (way: string, what: (cost: Cost) => number) =>
  summarise(measured.map((costs) => what(costs.get(way)!)));
const inMicroseconds = { unit: 'µs', better: 'lower', digits: 0 } as const;
judge(
  'CPU per email, Citus beside plain',
  summarise(measured.map((costs) => total(costs.get('citus')!) / total(costs.get('plain')!))),
  { goal: 1.6, better: 'lower' },
);
judge(
  COSTS.plainService,
  of('plain', ({ service }) => service),
  inMicroseconds,
);
judge(
  COSTS.plainServer,
  of('plain', ({ first }) => first),
  inMicroseconds,
);
judge(
  COSTS.service,
  of('citus', ({ service }) => service),
  inMicroseconds,
);
judge(
  COSTS.nodes,
  of('citus', ({ nodes }) => nodes),
  inMicroseconds,
);
judge(
  COSTS.coordinator,
  of('citus', ({ first }) => first),
  inMicroseconds,
);
const { content, rest, wal } = await ways[1]!.bytes();
const inBytes = { unit: 'bytes', better: 'lower', digits: 0 } as const;
judge(COSTS.contentBytes, single(content), inBytes);
judge(COSTS.otherBytes, single(rest), inBytes);
judge(COSTS.walBytes, single(wal), inBytes);
for (const { close } of ways) await close();
cluster.stop();

interface Cost {
  service: number;
  /** Of the one server, or the coordinator. */
  first: number;
  nodes: number;
  rate: number;
}

function total({ service, first, nodes }: Cost): number {
  return service + first + nodes;
}

async function openWay(name: 'plain' | 'citus') {
  const { url, database } =
    name === 'citus' ? await createCitusDatabase(cluster, 'bench_citus') : await plainDatabase();
  const env = { PORT: '0', FEEDBACK_PORT: '0', LOG_LEVEL: 'error', DATABASE_URL: url };
  const service = await startService(readConfig(env), createLog('error'));
  const accounts: TestAccount[] = [];
  const wish = { ratePerSecond: 100_000, dailyQuota: 1_000_000 };
  while (accounts.length < ACCOUNTS) accounts.push(await makeAccount(database, wish));
  const processesOf = (...servers: TestServer[]) =>
    new Map(servers.flatMap((server) => [...snapshotTree(server.pid())]));
  const walAtFirst = await walWritten();

  return {
    name,
    async run(): Promise<Cost> {
      const first = processesOf(cluster.coordinator);
      const nodes = processesOf(...cluster.nodes);
      const before = { own: process.cpuUsage(), atMs: performance.now() };
      let left = MAILS;
      const one = async () => {
        while (left > 0) await sendOne(accounts[left-- % ACCOUNTS]!);
      };
      await Promise.all(Array.from({ length: AT_A_TIME }, one));
      await drained();
      const { user, system } = process.cpuUsage(before.own);
      return {
        service: (user + system) / MAILS,
        first: cpuBetween(first, processesOf(cluster.coordinator)) / MAILS,
        nodes: cpuBetween(nodes, processesOf(...cluster.nodes)) / MAILS,
        rate: (MAILS * 1000) / (performance.now() - before.atMs),
      };
    },
    /** Of an email, on the nodes. */
    async bytes() {
      const [row] = await database.query<{ content: number; rest: number; emails: number }>(
        `SELECT sum(citus_total_relation_size(inhrelid)) FILTER (WHERE inhparent = 'contents'::regclass)::float8 AS content,
                sum(citus_total_relation_size(inhrelid)) FILTER (WHERE inhparent <> 'contents'::regclass)::float8 AS rest,
                (SELECT count(*) FROM messages)::float8 AS emails
         FROM pg_inherits JOIN pg_class parent ON parent.oid = inhparent AND parent.relkind = 'p'`,
      );
      const { content, rest, emails } = row!;
      const wal = (await walWritten()) - walAtFirst;
      return { content: content / emails, rest: rest / emails, wal: wal / emails };
    },
    async close() {
      await service.stop();
      await database.close();
    },
  };

  async function sendOne({ key }: TestAccount): Promise<void> {
    const answer = await fetchAgain(`${service.apiUrl}/v1/send`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({
        from_email: 'shop@example.com',
        to: ['delivered@simulator.example'],
        subject: 'Hello',
        html,
      }),
    });
    if (answer.status !== 202) throw new Error(await answer.text());
    await answer.arrayBuffer();
  }

  /** Nothing is due and every report is in. */
  async function drained(): Promise<void> {
    for (;;) {
      const [row] = await database.query<{ open: boolean }>(
        `SELECT EXISTS (SELECT 1 FROM messages WHERE status < 'delivered') AS open`,
      );
      if (!row!.open) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** The connection was idle while the other one had its turn, and the service ends such. */
function fetchAgain(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, init).catch(() => fetch(url, init));
}

/** By the nodes, in bytes. */
async function walWritten(): Promise<number> {
  const each = cluster.nodes.map(async ({ url }) => {
    const server = openDatabase(url, { connections: 1, onIdleError: () => undefined });
    const [row] = await server.query<{ bytes: number }>(
      `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS bytes`,
    );
    await server.close();
    return row!.bytes;
  });
  return (await Promise.all(each)).reduce((sum, bytes) => sum + bytes, 0);
}

async function plainDatabase() {
  const quiet = { connections: 4, onIdleError: () => undefined };
  const server = openDatabase(cluster.coordinator.url, quiet);
  await server.query('CREATE DATABASE bench_plain');
  await server.close();
  const url = cluster.coordinator.url.replace(/\/postgres$/, '/bench_plain');
  return { url, database: openDatabase(url, quiet) };
}
