// npm run bench smtp: emails accepted per second by SMTP beside the same email by POST /v1/send,
// into the same process and the same PostgreSQL, and beside a bare smtp-server that drops
// everything. In alternating rounds of one run. The goal is at least 0.5 of POST /v1/send.
import { freePort } from '../tests/support/process.ts';
import { cpuMicroseconds } from './support/cpu.ts';
import { openInstallation } from './support/installation.ts';
import { type Load, openLoad, openSmtpLoad, sendRequest } from './support/loads.ts';
import { type Served, serveBare } from './support/processes.ts';
import { judge } from './support/results.ts';
import { show, summarise } from './support/rounds.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 8);
const SECONDS = Number(process.env.SECONDS ?? 2);
const CONNECTIONS = Number(process.env.CONNECTIONS ?? 64);
const FROM = 'Acme <hello@example.com>';
const SUBJECT = 'An ordinary email';

const installation = await openInstallation();

const html = `<html><body>${'<p>A paragraph of an ordinary email, with some words in it.</p>\r\n'.repeat(42)}</body></html>`;
const text = 'A paragraph of an ordinary email, with some words in it.\r\n'.repeat(6);
const { key } = await installation.account(['email:send']);
const email = { key, email: asMime() };
const request = sendRequest(key, {
  from_email: FROM,
  to: ['ada@example.net'],
  ...{ subject: SUBJECT, html, text },
});

const smtpPort = await freePort();
const service = await installation.serve('api', { SMTP_PORT: String(smtpPort) });
const bare = await serveBare('bare-smtp');
const over = { connections: CONNECTIONS, folder: installation.folder };
const loads = {
  'POST /v1/send': measured(openLoad(service.port, [request], over), service),
  SMTP: measured(openSmtpLoad(smtpPort, email, over), service),
  'a bare smtp-server that drops everything': measured(openSmtpLoad(bare.port, email, over), bare),
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
  for (const { load } of Object.values(loads)) await load.close();
  for (const server of [service, bare]) await server.stop();
  await installation.close();
}

interface Round {
  rate: number;
  p50: number;
  p99: number;
  nodeUs: number;
}

function measured(load: Load, { child: server }: Served) {
  const rounds: Round[] = [];
  const round = async (): Promise<Round> => {
    const before = cpuMicroseconds(server.pid!);
    const { answered, p50, p99 } = await load.round(SECONDS);
    const nodeUs = (cpuMicroseconds(server.pid!) - before) / answered;
    rounds.push({ rate: answered / SECONDS, p50, p99, nodeUs });
    return rounds.at(-1)!;
  };
  return { load, rounds, round };
}

function asMime(): string {
  const parts = [
    `Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n${text}`,
    `Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n${html}`,
  ];
  return [
    ...[`From: ${FROM}`, 'To: ada@example.net', `Subject: ${SUBJECT}`],
    ...['Message-ID: <1@app.example>', 'Date: Mon, 16 Nov 2026 10:00:00 +0000'],
    ...['MIME-Version: 1.0', 'Content-Type: multipart/alternative; boundary="--_NmP-1"', ''],
    ...parts.map((part) => `----_NmP-1\r\n${part}`),
    '----_NmP-1--\r\n',
  ].join('\r\n');
}
