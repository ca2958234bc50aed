// npm run bench webhooks: deliveries per second to a local HTTPS receiver beside the same number of
// bare undici POSTs, goal ≥ 0.5;
// and how long events of one endpoint take while another, dead one has 10,000 due rows, goal ≤ 2 ×
// at p95.
// Everything a delivery is counts: taking the rows, signing, posting, and the outcome committed.
// The receiver is a process of its own.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { systemClock } from '../src/process/clock.ts';
import { createLog } from '../src/process/log.ts';
import { createMetrics } from '../src/process/metrics.ts';
import { openSecret } from '../src/roles/secrets.ts';
import { openEmbedded } from '../src/store/embedded/open.ts';
import { migrate } from '../src/store/migrate.ts';
import { makePartitions } from '../src/store/partitions.ts';
import { openDatabase } from '../src/store/pool.ts';
import { addressGuard, guardedAgent } from '../src/webhooks/address-guard.ts';
import { createEndpoint } from '../src/webhooks/endpoint.ts';
import { eventIdOf } from '../src/webhooks/event-body.ts';
import { startWebhookWorker } from '../src/webhooks/worker.ts';
import { createAuthority } from '../tests/support/https-receiver.ts';
import { newAccount, newEvents } from '../tests/webhooks/webhook-support.ts';
import { cpuBetween, snapshotTree } from './support/cpu.ts';
import { judge } from './support/results.ts';
import { quantile, show, summarise } from './support/rounds.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const ENDPOINTS = 16;
/** Rounds of some seconds: the worker looks for new rows ten times a second. */
const EACH = 500;
const TOTAL = ENDPOINTS * EACH;
/** What the worker has on its way at a time: four for each endpoint. */
const IN_FLIGHT = ENDPOINTS * 4;
const BACKLOG = 10_000;

/**
 * The receiver: answers 200, remembers when each event came; /hang takes requests and says nothing.
 */
async function receive(): Promise<void> {
  const authority = createAuthority();
  let came: Record<string, number> = {};
  const server = createServer(authority.issue(), (incoming, response) => {
    incoming.resume();
    if (incoming.url === '/hang') return;
    incoming.on('end', () => {
      came[String(incoming.headers['x-sm-event-id'])] = Date.now();
      response.end('ok');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.on('message', () => {
    process.send!(came);
    came = {};
  });
  process.send!({ ca: authority.ca, port: (server.address() as { port: number }).port });
}

if (process.argv[2] === 'receiver') await receive();
else await bench();

async function bench(): Promise<void> {
  const receiver = fork(import.meta.filename, ['receiver'], { execArgv: ['--import', 'tsx'] });
  const [{ ca, port }] = (await once(receiver, 'message')) as [{ ca: string; port: number }];
  const folder = mkdtempSync(join(tmpdir(), 'sandmartin-bench-'));
  const embedded = await openEmbedded(folder, { as: 'owner', log: () => undefined });
  const database = openDatabase(embedded.url, { connections: 8, onIdleError: () => undefined });
  await migrate(database);
  await makePartitions(database, Date.now());
  const postmaster = Number(
    readFileSync(findFile(folder, 'postmaster.pid'), 'utf8').split('\n')[0],
  );

  const guard = addressGuard(['127.0.0.0/8']);
  const agent = guardedAgent(guard, { ca });
  const bare = new Agent({ connect: { ca } });
  const { vault } = await openSecret(database, undefined);
  const deps = { guard, clock: systemClock, vault };
  const worker = startWebhookWorker({
    database,
    vault,
    clock: systemClock,
    log: createLog('error'),
    metrics: createMetrics(),
    agent,
  });
  const url = (path: string) => `https://127.0.0.1:${port}${path}`;
  const hooked = async (path: string): Promise<number> => {
    const account = await newAccount(database);
    await createEndpoint(database, account, { url: url(path) }, deps);
    return account;
  };

  async function deliveries(accounts: number[]): Promise<Round> {
    await database.transaction(async (client) => {
      for (const account of accounts) await newEvents(client, account, EACH);
    });
    const before = { node: process.cpuUsage(), postgres: snapshotTree(postmaster) };
    const startedMs = performance.now();
    while ((await database.query('SELECT FROM webhook_due LIMIT 1')).length > 0) await wait(5);
    const seconds = (performance.now() - startedMs) / 1000;
    const { user, system } = process.cpuUsage(before.node);
    return {
      rate: TOTAL / seconds,
      nodeUs: (user + system) / TOTAL,
      postgresUs: cpuBetween(before.postgres, snapshotTree(postmaster)) / TOTAL,
    };
  }

  async function barePosts(body: Buffer): Promise<Round> {
    const before = process.cpuUsage();
    const startedMs = performance.now();
    let begun = 0;
    const headers = { 'content-type': 'application/json' };
    await Promise.all(
      Array.from({ length: IN_FLIGHT }, async () => {
        while (begun < TOTAL) {
          const path = `/${begun++ % ENDPOINTS}`;
          const answer = await request(url(path), {
            method: 'POST',
            body,
            headers,
            dispatcher: bare,
          });
          await answer.body.text();
        }
      }),
    );
    const seconds = (performance.now() - startedMs) / 1000;
    const { user, system } = process.cpuUsage(before);
    return { rate: TOTAL / seconds, nodeUs: (user + system) / TOTAL, postgresUs: 0 };
  }

  try {
    await compareRates();
    await compareLatencies();
  } finally {
    await worker.stop();
    await Promise.all([agent.destroy(), bare.destroy()]);
    receiver.kill();
    await database.close();
    await embedded.stop();
    rmSync(folder, { recursive: true, force: true });
  }

  async function compareRates(): Promise<void> {
    const accounts: number[] = [];
    for (let n = 0; n < ENDPOINTS; n++) accounts.push(await hooked(`/${n}`));
    const body = Buffer.from(JSON.stringify({ event_type: 'delivery', payload: 'x'.repeat(350) }));
    await deliveries(accounts);
    await barePosts(body);
    const ours: Round[] = [];
    const theirs: Round[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      ours.push(await deliveries(accounts));
      theirs.push(await barePosts(body));
      process.stdout.write(
        `round ${round}: ${ours.at(-1)!.rate.toFixed(0)} deliveries/s, ${theirs.at(-1)!.rate.toFixed(0)} bare POSTs/s\n`,
      );
    }
    await cameBy(receiver);
    const of = (rounds: Round[], pick: (round: Round) => number) => summarise(rounds.map(pick));
    process.stdout.write(
      `${[
        '',
        `deliveries per second           ${show(
          of(ours, (it) => it.rate),
          0,
        )}`,
        `bare undici POSTs per second    ${show(
          of(theirs, (it) => it.rate),
          0,
        )}`,
        `CPU a delivery, Node, µs        ${show(
          of(ours, (it) => it.nodeUs),
          0,
        )}   bare ${show(
          of(theirs, (it) => it.nodeUs),
          0,
        )}`,
        `CPU a delivery, PostgreSQL, µs  ${show(
          of(ours, (it) => it.postgresUs),
          0,
        )}`,
        '',
      ].join('\n')}\n`,
    );
    judge(
      'webhook deliveries : bare undici POSTs',
      summarise(ours.map((it, n) => it.rate / theirs[n]!.rate)),
      { goal: 0.5 },
    );
  }

  /** An endpoint alone, then beside each of the dead ones, in every round. */
  async function compareLatencies(): Promise<void> {
    const account = await hooked('/well');
    const dead = { 'refuses connections': 'https://127.0.0.1:1999/', hangs: url('/hang') };
    const alone: number[] = [];
    const beside = new Map(Object.keys(dead).map((name) => [name, [] as number[]]));
    for (let round = 0; round < ROUNDS; round++) {
      alone.push(await p95(account));
      for (const [name, path] of Object.entries(dead)) {
        const other = await newAccount(database);
        await createEndpoint(database, other, { url: path }, deps);
        for (let n = 0; n < BACKLOG; n += 1000) await newEvents(database, other, 1000);
        beside.get(name)!.push(await p95(account));
        const [left] = await database.query<{ rows: number }>(
          'SELECT count(*) AS rows FROM webhook_due',
        );
        if (left!.rows < BACKLOG) throw new Error(`only ${left!.rows} rows were due`);
        await database.query('DELETE FROM webhook_due WHERE account_id = $1', [other]);
      }
    }
    process.stdout.write(`p95 of an endpoint, alone, ms: ${show(summarise(alone), 0)}\n`);
    for (const [name, times] of beside) {
      process.stdout.write(
        `p95 beside one that ${name} with ${BACKLOG} due rows, ms: ${show(summarise(times), 0)}\n`,
      );
      const ratio = summarise(times.map((ms, round) => ms / alone[round]!));
      judge(`p95 of an endpoint, beside one that ${name} : alone`, ratio, {
        ...{ goal: 2, better: 'lower' },
      });
    }
  }

  /** Of 100 events, 10 ms apart: from their commit to their arrival. */
  async function p95(account: number): Promise<number> {
    const committed: number[] = [];
    await cameBy(receiver);
    const [now] = await database.query<{ at: Date }>('SELECT clock_timestamp() AS at');
    for (let n = 0; n < 100; n++) {
      await newEvents(database, account, 1);
      committed.push(Date.now());
      await wait(10);
    }
    const ids = await database.query<{ id: string }>(
      'SELECT id FROM events WHERE account_id = $1 AND at >= $2 ORDER BY at',
      [account, now!.at],
    );
    const came: Record<string, number> = {};
    while (Object.keys(came).length < ids.length) {
      Object.assign(came, await cameBy(receiver));
      await wait(5);
    }
    const took = ids.map(({ id }, n) => Math.max(0, came[eventIdOf(id)]! - committed[n]!));
    return quantile(
      took.sort((a, b) => a - b),
      0.95,
    );
  }
}

interface Round {
  rate: number;
  nodeUs: number;
  postgresUs: number;
}

/** When each event came, since the last time this was asked. */
async function cameBy(receiver: ChildProcess): Promise<Record<string, number>> {
  receiver.send('when');
  const [came] = (await once(receiver, 'message')) as [Record<string, number>];
  return came;
}

function findFile(under: string, name: string): string {
  const found = readdirSync(under, { recursive: true, encoding: 'utf8' }).find((entry) =>
    entry.endsWith(`/${name}`),
  );
  return join(under, found ?? name);
}
