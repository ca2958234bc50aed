// npm run bench citus: what an email costs on a Citus of a coordinator and two nodes beside the
// same PostgreSQL without it, from the send to the record of its hand-over: CPU of the service and
// of each server, bytes on disk and in the WAL. Accepted as fast as it comes and drained into a
// sink, in alternating rounds on one machine; the other service is stopped meanwhile. The goal is
// at most 1.6 times the cost. Needs Citus (scripts/citus-build.sh). docs/scale.md is computed from
// it (scripts/describe-scale.ts).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../src/store/migrate.ts';
import { openDatabase } from '../src/store/pool.ts';
import {
  createCitusDatabase,
  startCluster,
  type TestServer,
  whyNoCitus,
} from '../tests/support/citus.ts';
import { freePort } from '../tests/support/process.ts';
import { makeAccount, type TestAccount } from '../tests/support/service.ts';
import { cpuBetween, cpuMicroseconds, snapshotTree } from './support/cpu.ts';
import { openLoad, sendRequest } from './support/loads.ts';
import { serving, startService } from './support/processes.ts';
import { judge, SKIPPED, single, skip } from './support/results.ts';
import { summarise } from './support/rounds.ts';
import { COSTS } from './support/scale.ts';
import { startSink } from './support/timing-sink.ts';

const why = whyNoCitus();
if (why !== undefined) {
  skip(why);
  process.exit(SKIPPED);
}

const ROUNDS = Number(process.env.ROUNDS ?? 6);
const SECONDS = Number(process.env.SECONDS ?? 3);
const ACCOUNTS = 8;
const CONNECTIONS = 64;
const PORT = await freePort();
const CONTENT = {
  subject: 'Hello',
  html: `<html><body>${'<p>A paragraph of an ordinary email, with some words in it.</p>'.repeat(42)}</body></html>`,
};

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-bench-'));
const cluster = await startCluster();
const sink = await startSink();
const ways = [];
for (const way of ['plain', 'citus'] as const) ways.push(await openWay(way));
const measured: Map<string, Cost>[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const costs = new Map<string, Cost>();
  for (const { name, run } of round % 2 === 0 ? ways : ways.toReversed()) {
    const cost = await run();
    costs.set(name, cost);
    process.stdout.write(
      `${name}: ${Math.round(cost.service)} µs service + ${Math.round(cost.first + cost.nodes)} µs servers an email, ${cost.emails} emails, ${Math.round(cost.rate)} a second\n`,
    );
  }
  measured.push(costs);
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
sink.child.kill();
cluster.stop();
rmSync(folder, { recursive: true });

interface Cost {
  service: number;
  /** Of the one server, or the coordinator. */
  first: number;
  nodes: number;
  emails: number;
  rate: number;
}

function total({ service, first, nodes }: Cost): number {
  return service + first + nodes;
}

async function openWay(name: 'plain' | 'citus') {
  const { url, database } =
    name === 'citus' ? await createCitusDatabase(cluster, 'bench_citus') : await plainDatabase();
  const accounts: TestAccount[] = [];
  const wish = { ratePerSecond: 100_000, dailyQuota: 100_000_000 };
  while (accounts.length < ACCOUNTS) accounts.push(await makeAccount(database, wish));
  const requests = accounts.map(({ key }) =>
    sendRequest(key, { from_email: 'shop@example.com', to: ['ada@example.net'], ...CONTENT }),
  );
  const processesOf = (...servers: TestServer[]) =>
    new Map(servers.flatMap((server) => [...snapshotTree(server.pid())]));
  const walAtFirst = await walWritten();

  return {
    name,
    async run(): Promise<Cost> {
      const child = startService({
        ...{ DATABASE_URL: url, RELAY_URL: `smtp://127.0.0.1:${sink.port}?tls=off` },
        ...{ PORT: String(PORT), ROLES: 'api,delivery', LOG_LEVEL: 'error' },
      });
      const service = await serving(child, PORT);
      const load = openLoad(PORT, requests, { connections: CONNECTIONS, folder });
      try {
        // Connections, plans and what the compiler learns: on a slow machine a second of it is not
        // enough, and the slower way would pay for it with fewer emails.
        await load.round(SECONDS);
        await drained();
        const [first, nodes] = [processesOf(cluster.coordinator), processesOf(...cluster.nodes)];
        const before = { own: cpuMicroseconds(child.pid!), atMs: performance.now() };
        const { answered: emails } = await load.round(SECONDS);
        await drained();
        return {
          service: (cpuMicroseconds(child.pid!) - before.own) / emails,
          first: cpuBetween(first, processesOf(cluster.coordinator)) / emails,
          nodes: cpuBetween(nodes, processesOf(...cluster.nodes)) / emails,
          emails,
          rate: (emails * 1000) / (performance.now() - before.atMs),
        };
      } finally {
        await load.close();
        await service.stop();
      }
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
    close: () => database.close(),
  };

  /**
   * Handed over and recorded. Asked of one account after the other, which costs next to nothing.
   */
  async function drained(): Promise<void> {
    for (const { id } of accounts) {
      for (;;) {
        const [row] = await database.query<{ open: boolean }>(
          'SELECT EXISTS (SELECT FROM due_messages WHERE account_id = $1) AS open',
          [id],
        );
        if (!row!.open) break;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }
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
  const database = openDatabase(url, quiet);
  await migrate(database);
  return { url, database };
}
