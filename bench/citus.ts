// npm run bench citus: what a mail costs on a Citus of a coordinator and two nodes beside the same PostgreSQL without it, from the
// send to the relay's report that it was delivered: CPU of the service (with relay and load in it) and of all servers. In
// alternating rounds on one machine; the goal is at most 1.6 times the cost. Needs Citus (scripts/citus-build.sh).
import { readConfig } from '../src/config.ts';
import { createLog } from '../src/log.ts';
import { startService } from '../src/main.ts';
import { openDatabase } from '../src/store/pool.ts';
import { createCitusDatabase, startCluster, whyNoCitus } from '../tests/support/citus.ts';
import { makeAccount, type TestAccount } from '../tests/support/service.ts';
import { cpuBetween, snapshotTree } from './support/cpu.ts';
import { judge } from './support/results.ts';
import { summarise } from './support/rounds.ts';

const why = whyNoCitus();
if (why !== undefined) {
  process.stdout.write(`skipped: ${why}\n`);
  process.exit(0);
}

const ROUNDS = Number(process.env.ROUNDS ?? 6);
const MAILS = Number(process.env.MAILS ?? 600);
const ACCOUNTS = 8;
const AT_A_TIME = 64;
const html = `<html><body>${'<p>A paragraph of an ordinary mail, with some words in it.</p>'.repeat(42)}</body></html>`;

const cluster = await startCluster();
const ways = [];
for (const way of ['plain', 'citus'] as const) ways.push(await openWay(way));
const ratios: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const costs = new Map<string, Cost>();
  for (const { name, run } of round % 2 === 0 ? ways : ways.toReversed()) {
    const cost = await run();
    costs.set(name, cost);
    if (round === 0) continue;
    process.stdout.write(
      `${name}: ${Math.round(cost.service)} µs service + ${Math.round(cost.servers)} µs servers a mail, ${Math.round(cost.rate)} mails/s\n`,
    );
  }
  // The first warms up.
  if (round > 0) ratios.push(total(costs.get('citus')!) / total(costs.get('plain')!));
}
judge('CPU per mail, Citus beside plain', summarise(ratios), { goal: 1.6, better: 'lower' });
for (const { close } of ways) await close();
cluster.stop();

interface Cost {
  service: number;
  servers: number;
  rate: number;
}

function total({ service, servers }: Cost): number {
  return service + servers;
}

async function openWay(name: 'plain' | 'citus') {
  const { url, database } =
    name === 'citus' ? await createCitusDatabase(cluster, 'bench_citus') : await plainDatabase();
  const env = { PORT: '0', FEEDBACK_PORT: '0', LOG_LEVEL: 'error', DATABASE_URL: url };
  const service = await startService(readConfig(env), createLog('error'));
  const accounts: TestAccount[] = [];
  const wish = { ratePerSecond: 100_000, dailyQuota: 1_000_000 };
  while (accounts.length < ACCOUNTS) accounts.push(await makeAccount(database, wish));
  const servers = [cluster.coordinator, ...cluster.nodes];
  const processes = () => new Map(servers.flatMap((server) => [...snapshotTree(server.pid())]));

  return {
    name,
    async run(): Promise<Cost> {
      const before = { own: process.cpuUsage(), servers: processes(), atMs: performance.now() };
      let left = MAILS;
      const one = async () => {
        while (left > 0) await sendOne(accounts[left-- % ACCOUNTS]!);
      };
      await Promise.all(Array.from({ length: AT_A_TIME }, one));
      await drained();
      const { user, system } = process.cpuUsage(before.own);
      return {
        service: (user + system) / MAILS,
        servers: cpuBetween(before.servers, processes()) / MAILS,
        rate: (MAILS * 1000) / (performance.now() - before.atMs),
      };
    },
    async close() {
      await service.stop();
      await database.close();
    },
  };

  async function sendOne({ key }: TestAccount): Promise<void> {
    const answer = await fetch(`${service.apiUrl}/v1/send`, {
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
        `SELECT EXISTS (SELECT FROM messages WHERE status < 'delivered') AS open`,
      );
      if (!row!.open) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function plainDatabase() {
  const quiet = { connections: 4, onIdleError: () => undefined };
  const server = openDatabase(cluster.coordinator.url, quiet);
  await server.query('CREATE DATABASE bench_plain');
  await server.close();
  const url = cluster.coordinator.url.replace(/\/postgres$/, '/bench_plain');
  return { url, database: openDatabase(url, quiet) };
}
