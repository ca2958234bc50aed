// Composing and handing over one 3.6 KB email: our composer and SMTP client beside nodemailer's and
// beside a client that only writes ready bytes, all into the same sink in a process of its own.
// Noise here lasts seconds, so the ways take turns for ten rounds and what counts is the median of
// the ratios within a round.
// ROUNDS (10) and SECONDS (1.5, of a round) are read from the environment.
import { type ChildProcess, fork } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { createTransport } from 'nodemailer';
import { type Mailbox, parseMailbox } from '../src/addresses.ts';
import { composeEmail, emailChunks, type OutgoingEmail } from '../src/mail/compose.ts';
import { signEmail } from '../src/mail/dkim.ts';
import { createRelay } from '../src/smtp/relay.ts';
import { handBareBytes } from './support/bare-smtp-client.ts';
import { listenSmtp } from './support/lean-smtp.ts';
import { judge } from './support/results.ts';
import { summarise } from './support/rounds.ts';

const CONNECTIONS = 10;
const IN_FLIGHT = 64;
const SAMPLE = content();
const emailDate = new Date();

if (process.argv[2] === 'sink') await runSink();
else await main();

async function main(): Promise<void> {
  const rounds = Number(process.env.ROUNDS ?? 10);
  const ms = Number(process.env.SECONDS ?? 1.5) * 1000;
  const size = emailChunks(composeEmail(outgoing(0))).reduce((sum, chunk) => sum + chunk.length, 0);
  console.log(
    `Node ${process.version}, ${cpus().length} cores; the email has ${size} bytes on the wire\n`,
  );

  const composers: Way[] = [
    {
      name: 'composer',
      run: (until) => repeat(until, 1, async (n) => void emailChunks(composeEmail(outgoing(n)))),
    },
    { name: 'nodemailer composer', run: (until) => repeat(until, 1, nodemailerCompose) },
  ];
  print('Composing', await takeTurns(composers, rounds, ms / 3), [
    ['composer', 'nodemailer composer'],
  ]);

  const { child, port } = await startSink();
  const url = `smtp://127.0.0.1:${port}?tls=off`;
  const relay = createRelay({
    url,
    name: 'bench.example',
    maxConnections: CONNECTIONS,
    maxEmailsPerConnection: 1e9,
  });
  const pool = createTransport({
    host: '127.0.0.1',
    port,
    ignoreTLS: true,
    pool: true,
    maxConnections: CONNECTIONS,
    maxMessages: Infinity,
  });
  const ready = emailChunks(composeEmail(outgoing(0)));
  const keyOf = {
    ed25519: generateKeyPairSync('ed25519').privateKey,
    rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  };
  const signedBy = (algorithm: 'ed25519' | 'rsa') => async (n: number) => {
    const email = composeEmail(outgoing(n));
    const key = {
      domain: 'example.com',
      selector: 's',
      algorithm: `${algorithm}-sha256` as const,
      privateKey: keyOf[algorithm],
    };
    await hand(emailChunks(email, await signEmail(email, [key], emailDate)), n);
  };
  const hand = async (chunks: Buffer[], n: number) => {
    const envelope = {
      from: 'bounce@b.example',
      recipients: [`jane${n}@example.org`],
      envelopeId: `msg_${n}`,
      smtputf8: false,
    };
    const { recipients } = await relay.hand(envelope, chunks);
    if (recipients[0]!.result !== 'accepted') throw new Error(recipients[0]!.text);
  };
  const ways: Way[] = [
    {
      name: 'compose + hand over',
      run: (until) =>
        repeat(until, IN_FLIGHT, (n) => hand(emailChunks(composeEmail(outgoing(n))), n)),
    },
    {
      name: 'hand over ready bytes',
      run: (until) => repeat(until, IN_FLIGHT, (n) => hand(ready, n)),
    },
    {
      name: 'compose + Ed25519 + hand over',
      run: (until) => repeat(until, IN_FLIGHT, signedBy('ed25519')),
    },
    {
      name: 'compose + RSA-2048 + hand over',
      run: (until) => repeat(until, IN_FLIGHT, signedBy('rsa')),
    },
    {
      name: 'nodemailer pool',
      run: (until) =>
        repeat(until, IN_FLIGHT, async (n) => void (await pool.sendMail(nodemailerMail(n)))),
    },
    {
      name: 'bare bytes',
      run: (until) => {
        const more = () => performance.now() < until;
        return handBareBytes(port, Buffer.concat(ready), { connections: CONNECTIONS, more });
      },
    },
  ];
  print('Handing over', await takeTurns(ways, rounds, ms), [
    ['compose + hand over', 'nodemailer pool'],
    ['compose + hand over', 'bare bytes'],
    ['hand over ready bytes', 'bare bytes'],
    ['compose + Ed25519 + hand over', 'compose + hand over'],
    ['compose + RSA-2048 + hand over', 'compose + hand over'],
  ]);
  await relay.close();
  pool.close();
  child.kill();
}

interface Way {
  name: string;
  /** Works until the clock (performance.now) says so; returns the number of emails. */
  run: (until: number) => Promise<number>;
}
interface Figures {
  perSecond: number[];
  cpuMicros: number[];
}

async function takeTurns(ways: Way[], rounds: number, ms: number): Promise<Map<string, Figures>> {
  const figures = new Map<string, Figures>(
    ways.map(({ name }) => [name, { perSecond: [], cpuMicros: [] }]),
  );
  for (const { run } of ways) await run(performance.now() + Math.min(ms, 700));
  for (let round = 0; round < rounds; round++) {
    for (const { name, run } of ways) {
      const start = performance.now();
      const cpu = process.cpuUsage();
      const emails = await run(start + ms);
      const used = process.cpuUsage(cpu);
      figures.get(name)!.perSecond.push((emails / (performance.now() - start)) * 1000);
      figures.get(name)!.cpuMicros.push((used.user + used.system) / emails);
    }
  }
  return figures;
}

function print(title: string, figures: Map<string, Figures>, ratios: [string, string][]): void {
  console.log(`${title.padEnd(32)} emails/s (range)           CPU µs an email`);
  for (const [name, { perSecond, cpuMicros }] of figures) {
    const range = `${median(perSecond).toFixed(0)} (${Math.min(...perSecond).toFixed(0)}–${Math.max(...perSecond).toFixed(0)})`;
    console.log(`  ${name.padEnd(30)} ${range.padEnd(26)} ${median(cpuMicros).toFixed(0)}`);
  }
  for (const [one, other] of ratios) {
    const each = figures
      .get(one)!
      .perSecond.map((value, round) => value / figures.get(other)!.perSecond[round]!);
    judge(`${one} : ${other}`, summarise(each));
  }
  console.log('');
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
}

async function repeat(
  until: number,
  inFlight: number,
  one: (n: number) => Promise<void>,
): Promise<number> {
  let count = 0;
  const worker = async () => {
    while (performance.now() < until) await one(count++);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return count;
}

function content(): { text: Buffer; html: Buffer } {
  let html = '<!doctype html>\n<html><body>\n<table>\n';
  while (html.length < 2100)
    html += '  <tr><td class="item">Blue shoes – size 42</td><td>€ 59.90</td></tr>\n';
  let text = 'Hello Jane,\n\nthank you for your order.\n\n';
  while (text.length < 700) text += '1 x Blue shoes, size 42                 EUR 59.90\n';
  return { text: Buffer.from(text), html: Buffer.from(`${html}</table>\n</body></html>\n`) };
}

function outgoing(n: number): OutgoingEmail {
  return {
    messageId: `<01JABCDEFGHJKMNPQRSTVW${n}@mail.example>`,
    date: emailDate,
    from: parseMailbox('Shop <shop@example.com>') as Mailbox,
    to: [parseMailbox(`Jane Doe <jane${n}@example.org>`) as Mailbox],
    cc: [],
    subject: 'Your order – thank you',
    text: [SAMPLE.text],
    html: [SAMPLE.html],
    ownHeaders: [['X-SM-Id', `msg_${n}`]],
    headers: [['X-Campaign', 'autumn']],
    attachments: [],
  };
}

function nodemailerMail(n: number) {
  return {
    messageId: `<01JABCDEFGHJKMNPQRSTVW${n}@mail.example>`,
    date: emailDate,
    from: 'Shop <shop@example.com>',
    to: `Jane Doe <jane${n}@example.org>`,
    subject: 'Your order – thank you',
    text: SAMPLE.text,
    html: SAMPLE.html,
    headers: { 'X-SM-Id': `msg_${n}`, 'X-Campaign': 'autumn' },
    envelope: { from: 'bounce@b.example', to: [`jane${n}@example.org`] },
  };
}

function nodemailerCompose(n: number): Promise<void> {
  const MailComposer = createRequire(import.meta.url)('nodemailer/lib/mail-composer');
  return new Promise((resolve, reject) => {
    new MailComposer(nodemailerMail(n))
      .compile()
      .build((error: Error | null) => (error ? reject(error) : resolve()));
  });
}

async function startSink(): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(fileURLToPath(import.meta.url), ['sink'], { execArgv: process.execArgv });
  const port = await new Promise<number>((resolve) =>
    child.once('message', (message) => resolve(message as number)),
  );
  return { child, port };
}

/** Takes every email and forgets it. */
async function runSink(): Promise<void> {
  process.send!(await listenSmtp(() => 0));
  process.once('disconnect', () => process.exit());
}
