// npm run bench smtp: emails accepted per second by SMTP beside the same email by POST /v1/send,
// into the same process and the same PostgreSQL, and beside a bare smtp-server that drops
// everything. In alternating rounds of one run. The goal is at least 0.5 of POST /v1/send.
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
import { cpuMicroseconds } from './support/cpu.ts';
import { judge } from './support/results.ts';
import { show, summarise } from './support/rounds.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 8);
const SECONDS = Number(process.env.SECONDS ?? 2);
const CONNECTIONS = Number(process.env.CONNECTIONS ?? 64);
const PORT = 38_481;

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-bench-'));
const embedded = await openEmbedded(join(folder, 'data'), { as: 'owner', log: () => undefined });
const database = openDatabase(embedded.url, { connections: 2, onIdleError: () => undefined });
await migrate(database);

const html = `<html><body>${'<p>A paragraph of an ordinary email, with some words in it.</p>\r\n'.repeat(42)}</body></html>`;
const text = 'A paragraph of an ordinary email, with some words in it.\r\n'.repeat(6);
const key = await makeKey();
const files = writeFiles();

const service = await start(['bin/sandmartin.js', 'serve'], {
  ...{ DATABASE_URL: embedded.url, PORT: String(PORT), SMTP_PORT: String(PORT + 1) },
  ...{ FEEDBACK_PORT: '0', ROLES: 'api', LOG_LEVEL: 'warn' },
});
const bare = await start(['--import', 'tsx', 'bench/support/bare-smtp.ts', String(PORT + 2)]);
const loads = {
  'POST /v1/send': load('http-load', [String(PORT), String(CONNECTIONS), files.request], service),
  SMTP: load('smtp-load', [String(PORT + 1), String(CONNECTIONS), files.email, key], service),
  'a bare smtp-server that drops everything': load(
    'smtp-load',
    [String(PORT + 2), String(CONNECTIONS), files.email, key],
    bare,
  ),
};

try {
  for (let warm = 0; warm < 3; warm++) for (const { round } of Object.values(loads)) await round();
  for (const { rounds } of Object.values(loads)) rounds.length = 0;
  for (let n = 1; n <= ROUNDS; n++) {
    const rates: string[] = [];
    for (const [name, { round }] of Object.entries(loads)) {
      rates.push(`${(await round()).rate.toFixed(0)} ${name}`);
    }
    process.stdout.write(`  round ${n}, per second: ${rates.join(', ')}\n`);
  }
  const sends = loads['POST /v1/send'].rounds;
  for (const [name, { rounds }] of Object.entries(loads)) {
    process.stdout.write(`\n${name}\n`);
    const of = (figure: keyof Round) => summarise(rounds.map((it) => it[figure]));
    const ratio = summarise(rounds.map(({ rate }, index) => rate / sends[index]!.rate));
    if (rounds !== sends)
      judge(`${name} : POST /v1/send`, ratio, name === 'SMTP' ? { goal: 0.5 } : {});
    process.stdout.write(`  ${'per second'.padEnd(24)} ${show(of('rate'), 0)}\n`);
    process.stdout.write(`  ${'latency p50, ms'.padEnd(24)} ${show(of('p50'), 1)}\n`);
    process.stdout.write(`  ${'latency p99, ms'.padEnd(24)} ${show(of('p99'), 1)}\n`);
    process.stdout.write(`  ${'CPU each, Node, µs'.padEnd(24)} ${show(of('nodeUs'), 0)}\n`);
    // Steadier than the rate where other programs use the machine too.
    const cost = summarise(rounds.map(({ nodeUs }, index) => nodeUs / sends[index]!.nodeUs));
    process.stdout.write(`  ${'CPU : POST /v1/send'.padEnd(24)} ${show(cost, 2)} ×\n`);
  }
} finally {
  for (const { child } of Object.values(loads)) await stop(child);
  for (const child of [service, bare]) await stop(child);
  await database.close();
  await embedded.stop();
  rmSync(folder, { recursive: true, force: true });
}

interface Round {
  rate: number;
  p50: number;
  p99: number;
  nodeUs: number;
}

function load(program: string, args: string[], server: ChildProcess) {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', `bench/support/${program}.ts`, ...args],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const answers = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const rounds: Round[] = [];
  const round = async (): Promise<Round> => {
    const before = cpuMicroseconds(server.pid!);
    child.stdin!.write(`${JSON.stringify({ seconds: SECONDS })}\n`);
    const { answered, failed, p50, p99 } = JSON.parse((await answers.next()).value as string);
    if (failed > 0) throw new Error(`${failed} emails were refused`);
    const nodeUs = (cpuMicroseconds(server.pid!) - before) / answered;
    rounds.push({ rate: answered / SECONDS, p50, p99, nodeUs });
    return rounds.at(-1)!;
  };
  return { child, rounds, round };
}

async function start(args: string[], env: Record<string, string> = {}): Promise<ChildProcess> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await Promise.race([
    once(child.stdout!, 'data'),
    once(child, 'exit').then(() => {
      throw new Error(`${args.at(-1)} did not start`);
    }),
  ]);
  return child;
}

async function makeKey(): Promise<string> {
  const { id } = await createAccount(database, {
    ...{ name: 'bench', plan: 'paid' as const },
    dailyQuota: 2_000_000_000,
    ratePerSecond: 1_000_000,
  });
  await addIdentity(database, id, 'example.com', true);
  return (await createKey(database, systemClock, { accountId: id, scopes: ['email:send'] })).key;
}

/** The same email as a request and as MIME. */
function writeFiles(): { request: string; email: string } {
  const [request, email] = [join(folder, 'request'), join(folder, 'email')];
  const from = 'Acme <hello@example.com>';
  const subject = 'An ordinary email';
  const json = JSON.stringify({ from_email: from, to: ['ada@example.net'], subject, html, text });
  writeFileSync(
    request,
    `POST /v1/send HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n${json}`,
  );
  const parts = [
    `Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n${text}`,
    `Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n${html}`,
  ];
  writeFileSync(
    email,
    [
      ...[`From: ${from}`, 'To: ada@example.net', `Subject: ${subject}`],
      ...['Message-ID: <1@app.example>', 'Date: Mon, 16 Nov 2026 10:00:00 +0000'],
      ...['MIME-Version: 1.0', 'Content-Type: multipart/alternative; boundary="--_NmP-1"', ''],
      ...parts.map((part) => `----_NmP-1\r\n${part}`),
      '----_NmP-1--\r\n',
    ].join('\r\n'),
  );
  return { request, email };
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  await once(child, 'exit');
}
