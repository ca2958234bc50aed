// npm run bench accept: sends accepted per second beside one prepared INSERT of the same mail per transaction at 16 clients.
// Both over the same PostgreSQL in alternating rounds; the goal is a ratio of at least 0.8.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { createAccount } from '../src/accounts/accounts.ts';
import { addIdentity } from '../src/accounts/identities.ts';
import { createKey } from '../src/accounts/keys.ts';
import { systemClock } from '../src/clock.ts';
import { openEmbedded } from '../src/store/embedded.ts';
import { migrate } from '../src/store/migrate.ts';
import { openDatabase } from '../src/store/pool.ts';
import { cpuBetween, cpuMicroseconds, snapshotTree } from './support/cpu.ts';
import { show, summarise } from './support/rounds.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 10);
const SECONDS = 2;
const CONNECTIONS = 64;
const PORT = 38_471;

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-bench-'));
const embedded = await openEmbedded(join(folder, 'data'), { as: 'owner', log: () => undefined });
const database = openDatabase(embedded.url, { connections: 4, onIdleError: () => undefined });
await migrate(database);

const html = `<html><body>${'<p>A paragraph of an ordinary mail, with some words in it.</p>'.repeat(42)}</body></html>`;
const text = 'A paragraph of an ordinary mail, with some words in it.\n'.repeat(6);
const requestFile = join(folder, 'request');
writeFileSync(requestFile, await makeRequest());

const server = spawn(process.execPath, ['bin/sandmartin.js', 'serve'], {
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
await Promise.race([
  once(server.stdout!, 'data'),
  once(server, 'exit').then(() => {
    throw new Error('the server did not start');
  }),
]);
const load = spawn(
  process.execPath,
  ['--import', 'tsx', 'bench/support/http-load.ts', String(PORT), String(CONNECTIONS), requestFile],
  { stdio: ['pipe', 'pipe', 'inherit'] },
);
const answers = createInterface({ input: load.stdout! })[Symbol.asyncIterator]();
const postmaster = Number(
  readFileSync(findFile(join(folder, 'data'), 'postmaster.pid'), 'utf8').split('\n')[0],
);
const baseline = await openBaseline();

interface Round {
  rate: number;
  p50: number;
  p99: number;
  nodeUs: number;
  postgresUs: number;
}

async function acceptRound(): Promise<Round> {
  const before = { node: cpuMicroseconds(server.pid!), postgres: snapshotTree(postmaster) };
  load.stdin!.write(`${JSON.stringify({ seconds: SECONDS })}\n`);
  const { answered, failed, p50, p99 } = JSON.parse((await answers.next()).value as string);
  if (failed > 0) throw new Error(`${failed} sends were not answered with 202`);
  return {
    rate: answered / SECONDS,
    p50,
    p99,
    nodeUs: (cpuMicroseconds(server.pid!) - before.node) / answered,
    postgresUs: cpuBetween(before.postgres, snapshotTree(postmaster)) / answered,
  };
}

try {
  // Until the optimising compiler has seen it all.
  for (let warm = 0; warm < 5; warm++) await acceptRound();
  await baseline.round();
  const rounds: Round[] = [];
  const inserts: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const accept = await acceptRound();
    const insert = await baseline.round();
    rounds.push(accept);
    inserts.push(insert);
    process.stdout.write(
      `round ${round + 1}: ${accept.rate.toFixed(0)} sends/s, ${insert.toFixed(0)} inserts/s\n`,
    );
  }
  const of = (pick: (round: Round) => number) => summarise(rounds.map(pick));
  const batch = await meanBatchSize();
  process.stdout.write(
    `${[
      '',
      `sends accepted per second        ${show(
        of((round) => round.rate),
        0,
      )}`,
      `${baseline.name.padEnd(32)} ${show(summarise(inserts), 0)}`,
      `ratio (goal ≥ 0.8)               ${show(summarise(rounds.map((round, index) => round.rate / inserts[index]!)))}`,
      `latency p50 / p99, ms            ${show(
        of((round) => round.p50),
        1,
      )} / ${show(
        of((round) => round.p99),
        1,
      )}`,
      `CPU per send, Node, µs           ${show(
        of((round) => round.nodeUs),
        0,
      )}`,
      `CPU per send, PostgreSQL, µs     ${show(
        of((round) => round.postgresUs),
        0,
      )}`,
      `mean batch size                  ${batch.toFixed(1)}`,
    ].join('\n')}\n`,
  );
} finally {
  await stop(load);
  await stop(server);
  await database.close();
  await embedded.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function makeRequest(): Promise<Buffer> {
  const account = await createAccount(database, {
    name: 'bench',
    plan: 'paid',
    dailyQuota: 2_000_000_000,
    ratePerSecond: 1_000_000,
  });
  await addIdentity(database, account.id, 'example.com', true);
  const { key } = await createKey(database, systemClock, {
    accountId: account.id,
    scopes: ['email:send'],
  });
  const body = Buffer.from(
    JSON.stringify({
      from_email: 'Acme <hello@example.com>',
      to: ['ada@example.net'],
      subject: 'An ordinary mail',
      html,
      text,
      tags: ['bench'],
    }),
  );
  return Buffer.concat([
    Buffer.from(
      `POST /v1/send HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
    ),
    body,
  ]);
}

/** pgbench where it is installed, else the same over 16 bare connections. */
async function openBaseline(): Promise<{ name: string; round: () => Promise<number> }> {
  await database.query(
    `CREATE TABLE bench_mails (account_id bigint, id uuid PRIMARY KEY, html bytea STORAGE EXTERNAL, text bytea STORAGE EXTERNAL) WITH (toast_tuple_target = 8160)`,
  );
  const pgbench = findPgbench();
  if (pgbench !== undefined) {
    const script = join(folder, 'insert.sql');
    writeFileSync(
      script,
      `INSERT INTO bench_mails VALUES (1, gen_random_uuid(), '\\x${Buffer.from(html).toString('hex')}', '\\x${Buffer.from(text).toString('hex')}');\n`,
    );
    const args = [
      '-n',
      '-M',
      'prepared',
      '-c',
      '16',
      '-j',
      '2',
      '-T',
      String(SECONDS),
      '-f',
      script,
      embedded.url,
    ];
    return {
      name: 'pgbench INSERTs per second',
      round: async () => {
        const out = execFileSync(pgbench, args, {
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        return Number(/tps = ([\d.]+)/.exec(out)?.[1]);
      },
    };
  }
  const clients = Array.from({ length: 16 }, () => new pg.Client(embedded.url));
  await Promise.all(clients.map((client) => client.connect()));
  const values = [Buffer.from(html), Buffer.from(text)];
  return {
    name: 'bare pg INSERTs per second',
    round: async () => {
      const end = performance.now() + SECONDS * 1000;
      let count = 0;
      await Promise.all(
        clients.map(async (client) => {
          while (performance.now() < end) {
            await client.query({
              name: 'insert',
              text: 'INSERT INTO bench_mails VALUES (1, gen_random_uuid(), $1, $2)',
              values,
            });
            count++;
          }
        }),
      );
      return count / SECONDS;
    },
  };
}

function findPgbench(): string | undefined {
  const folders = (process.env.PATH ?? '').split(':');
  const debian = '/usr/lib/postgresql';
  if (existsSync(debian)) {
    folders.push(...readdirSync(debian).map((version) => join(debian, version, 'bin')));
  }
  return folders.map((it) => join(it, 'pgbench')).find((file) => existsSync(file));
}

async function meanBatchSize(): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${PORT}/metrics`)).text();
  const read = (name: string) =>
    Number(new RegExp(`^sandmartin_accept_batch_size_${name} (\\S+)`, 'm').exec(metrics)?.[1]);
  return read('sum') / read('count');
}

function findFile(under: string, name: string): string {
  const found = readdirSync(under, { recursive: true, encoding: 'utf8' }).find((entry) =>
    entry.endsWith(`/${name}`),
  );
  return join(under, found ?? name);
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  await once(child, 'exit');
}
