// npm run bench smtp: emails accepted per second by SMTP beside the same email by POST /v1/send,
// into the same process and the same PostgreSQL, and beside a bare smtp-server that drops
// everything. In alternating rounds of one run. The goal is at least 0.5 of POST /v1/send.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../tests/support/process.ts';
import { cpuMicroseconds } from './support/cpu.ts';
import { sendRequest } from './support/http-rounds.ts';
import { openInstallation, type Served } from './support/installation.ts';
import { judge } from './support/results.ts';
import { show, summarise } from './support/rounds.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 8);
const SECONDS = Number(process.env.SECONDS ?? 2);
const CONNECTIONS = Number(process.env.CONNECTIONS ?? 64);

const installation = await openInstallation();
const { folder } = installation;

const html = `<html><body>${'<p>A paragraph of an ordinary email, with some words in it.</p>\r\n'.repeat(42)}</body></html>`;
const text = 'A paragraph of an ordinary email, with some words in it.\r\n'.repeat(6);
const { key } = await installation.account(['email:send']);
const files = writeFiles();

const smtpPort = String(await freePort());
const service = await installation.serve('api', { SMTP_PORT: smtpPort });
const bare = await startBare();
const connections = String(CONNECTIONS);
const loads = {
  'POST /v1/send': load('http-load', [String(service.port), connections, files.request], service),
  SMTP: load('smtp-load', [smtpPort, connections, files.email, key], service),
  'a bare smtp-server that drops everything': load(
    'smtp-load',
    [String(bare.port), connections, files.email, key],
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
  for (const server of [service, bare]) await server.stop();
  await installation.close();
}

interface Round {
  rate: number;
  p50: number;
  p99: number;
  nodeUs: number;
}

function load(program: string, args: string[], { child: server }: Served) {
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

async function startBare(): Promise<Served> {
  const port = await freePort();
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', 'bench/support/bare-smtp.ts', String(port)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await once(child.stdout!, 'data');
  return { port, child, stop: () => stop(child) };
}

/** The same email as a request and as MIME. */
function writeFiles(): { request: string; email: string } {
  const [request, email] = [join(folder, 'request'), join(folder, 'email')];
  const from = 'Acme <hello@example.com>';
  const subject = 'An ordinary email';
  const sent = { from_email: from, to: ['ada@example.net'], subject, html, text };
  writeFileSync(request, sendRequest(key, sent));
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
