// npm run bench fairness: what one account's backlog costs the others, over the real service into a sink of its own process.
// 1. B sends one mail a second, first with an empty queue, then while A has 50,000 queued: from 202 to the hand-over.
//    Goals: p99 with A's backlog at most twice that without, and under a second.
// 2. 1,000 accounts with 10 mails each drain beside one account with 10,000. Goal: at least 0.9 of its rate.
// SECONDS=0 or ROUNDS=0 leaves a part out. The relay answers each mail of part 1 after 20 ms, as relays do; in part 2 at once, so that the queue is what is measured.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createAccount } from '../src/accounts/accounts.ts';
import { addIdentity } from '../src/accounts/identities.ts';
import { createKey } from '../src/accounts/keys.ts';
import { parseMailbox } from '../src/addresses.ts';
import { systemClock } from '../src/clock.ts';
import { newIdBytes } from '../src/ids.ts';
import { createMetrics } from '../src/metrics.ts';
import { openBatcher } from '../src/sending/batch.ts';
import type { PackedSend } from '../src/sending/packed-send.ts';
import { writeHead } from '../src/sending/stored-head.ts';
import { openEmbedded } from '../src/store/embedded/open.ts';
import { migrate } from '../src/store/migrate.ts';
import { makePartitions } from '../src/store/partitions.ts';
import { openDatabase } from '../src/store/pool.ts';
import { quantile, show, summarise } from './support/rounds.ts';

const SECONDS = Number(process.env.SECONDS ?? 100);
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const BACKLOG = Number(process.env.BACKLOG ?? 50_000);
const ACCOUNTS = 1000;
const EACH = 10;
const ANSWERS_AFTER_MS = 20;
const PORT = 38_481;

if (process.argv[2] === 'sink') runSink();
else await bench();

async function bench(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sandmartin-bench-'));
  const embedded = await openEmbedded(join(folder, 'data'), { as: 'owner', log: () => undefined });
  const database = openDatabase(embedded.url, { connections: 4, onIdleError: () => undefined });
  await migrate(database);
  await makePartitions(database, Date.now());
  const batcher = openBatcher({
    database,
    metrics: createMetrics(),
    relayIsDown: () => false,
    onCommitted: () => undefined,
  });
  const sink = await startSink();
  const children: ChildProcess[] = [sink.child];

  const newAccount = async (): Promise<number> => {
    const wish = { name: 'Bench', plan: 'paid' as const };
    const account = await createAccount(database, {
      ...wish,
      dailyQuota: 2_000_000_000,
      ratePerSecond: 1_000_000,
    });
    return account.id;
  };
  const queue = (accountId: number, count: number): Promise<unknown> =>
    Promise.all(Array.from({ length: count }, () => batcher.add(packed(accountId))));
  const start = async (roles: string): Promise<ChildProcess> => {
    const child = spawn(process.execPath, ['bin/sandmartin.js', 'serve'], {
      env: {
        ...process.env,
        DATABASE_URL: embedded.url,
        RELAY_URL: `smtp://127.0.0.1:${sink.port}?tls=off`,
        PORT: String(PORT),
        FEEDBACK_PORT: '0',
        ROLES: roles,
        LOG_LEVEL: 'error',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    await once(child.stdout!, 'data');
    child.stdout!.resume();
    return child;
  };
  const stop = async (child: ChildProcess): Promise<void> => {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  };

  try {
    if (SECONDS > 0) await waiting();
    if (ROUNDS > 0) await draining();
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await database.close();
    await embedded.stop();
    rmSync(folder, { recursive: true, force: true });
  }

  async function waiting(): Promise<void> {
    sink.child.send({ answersAfterMs: ANSWERS_AFTER_MS });
    const service = await start('api,delivery');
    const b = await newAccount();
    await addIdentity(database, b, 'b@example.com', true);
    const { key } = await createKey(database, systemClock, {
      accountId: b,
      scopes: ['email:send'],
    });
    for (let warm = 0; warm < 20; warm++) await sendOne(key, wait(50));
    const empty = await latencies(key);
    report('empty queue', empty);
    await queue(await newAccount(), BACKLOG);
    const behind = await latencies(key);
    const [row] = await database.query<{ left: number }>(
      'SELECT count(*) AS left FROM due_messages',
    );
    report(`with ${BACKLOG} of another account, ${row!.left} of them left at the end`, behind);
    const ratio = quantile(behind, 0.99) / quantile(empty, 0.99);
    console.log(`  ratio of the p99: ${ratio.toFixed(2)} (goal ≤ 2), and < 1 s\n`);
    await stop(service);
    await database.query('DELETE FROM due_messages');
  }

  /** One mail a second. */
  async function latencies(key: string): Promise<number[]> {
    const found: number[] = [];
    for (let sent = 0; sent < SECONDS; sent++) found.push(await sendOne(key, wait(1000)));
    return found.sort((a, b) => a - b);
  }

  async function sendOne(key: string, pause: Promise<void>): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${PORT}/v1/send`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({
        from_email: 'b@example.com',
        to: ['b@example.net'],
        subject: 'One mail',
        text: 'Hello',
      }),
    });
    const acceptedMs = nowMs();
    if (answer.status !== 202) throw new Error(await answer.text());
    const { id } = (await answer.json()) as { id: string };
    const cameMs = await sink.came(id);
    await pause;
    return Math.max(0, cameMs - acceptedMs);
  }

  async function draining(): Promise<void> {
    sink.child.send({ answersAfterMs: 0 });
    const many: number[] = [];
    while (many.length < ACCOUNTS) many.push(await newAccount());
    const one = many[0]!;
    const ways = {
      one: () => queue(one, ACCOUNTS * EACH),
      many: () => Promise.all(many.map((account) => queue(account, EACH))),
    };
    const rates: Record<keyof typeof ways, number[]> = { one: [], many: [] };
    for (let round = 0; round <= ROUNDS; round++) {
      // Who goes first takes turns too: what a round leaves behind is the next one's burden.
      const order = round % 2 === 0 ? (['one', 'many'] as const) : (['many', 'one'] as const);
      for (const name of order) {
        await ways[name]();
        await database.query('VACUUM ANALYZE due_messages');
        const drained = sink.drained(ACCOUNTS * EACH);
        const worker = await start('delivery');
        const rate = await drained;
        // The first round is for the caches.
        if (round > 0) rates[name].push(rate);
        await stop(worker);
      }
    }
    const ratios = rates.many.map((rate, round) => rate / rates.one[round]!);
    console.log('Draining 10,000 mails, mails a second');
    console.log(`  one account                ${show(summarise(rates.one), 0)}`);
    console.log(`  1,000 accounts, 10 each    ${show(summarise(rates.many), 0)}`);
    console.log(`  ratio ${show(summarise(ratios))} (goal ≥ 0.9)`);
  }
}

function report(title: string, sorted: number[]): void {
  const at = (q: number) => `${quantile(sorted, q).toFixed(1)} ms`;
  console.log(`202 to hand-over, ${title}\n  p50 ${at(0.5)}, p99 ${at(0.99)}, most ${at(1)}`);
}

function packed(accountId: number): PackedSend {
  const mailbox = (text: string) => {
    const found = parseMailbox(text);
    if ('fault' in found) throw new Error(text);
    return found;
  };
  const head = writeHead({
    from: mailbox('a@example.com'),
    to: [mailbox('a@example.net')],
    cc: [],
    replyTo: null,
    headers: [],
    attachments: [],
  });
  const html = `<html><body>${'<p>A paragraph of an ordinary mail.</p>'.repeat(70)}</body></html>`;
  return {
    id: newIdBytes(Date.now()),
    accountId,
    keyId: null,
    door: 'rest',
    from: 'a@example.com',
    envelope: ['a@example.net'],
    recipientCount: 1,
    subject: 'Many mails',
    tags: null,
    template: null,
    templateVersion: null,
    brandingVersion: null,
    head,
    html,
    text: 'A paragraph of an ordinary mail.',
    attachments: null,
    size: html.length + 200,
    class: 'normal',
    idempotency: null,
    keyCap: null,
  };
}

/** The same for all processes of a machine. */
function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

interface Arrived {
  id?: string;
  count: number;
  atMs: number;
}

async function startSink() {
  const child = fork(fileURLToPath(import.meta.url), ['sink'], { execArgv: process.execArgv });
  const [port] = (await once(child, 'message')) as [number];
  const awaited = new Map<string, (atMs: number) => void>();
  const early = new Map<string, number>();
  let onCount = (_arrived: Arrived) => {};
  child.on('message', (arrived: Arrived) => {
    onCount(arrived);
    if (arrived.id === undefined) return;
    const waiting = awaited.get(arrived.id);
    if (waiting === undefined) early.set(arrived.id, arrived.atMs);
    else waiting(arrived.atMs);
    awaited.delete(arrived.id);
  });
  return {
    child,
    port,
    came: (id: string): Promise<number> => {
      const already = early.get(id);
      if (already !== undefined) return Promise.resolve(already);
      return new Promise((resolve) => awaited.set(id, resolve));
    },
    /** Mails a second, from the first tenth to the last. */
    drained: (total: number): Promise<number> =>
      new Promise((resolve) => {
        let from: Arrived | undefined;
        let base: number | undefined;
        onCount = (arrived) => {
          base ??= arrived.count - 1;
          const count = arrived.count - base;
          if (from === undefined && count >= total / 10) from = { ...arrived, count };
          if (count < total) return;
          onCount = () => {};
          resolve(((count - from!.count) / (arrived.atMs - from!.atMs)) * 1000);
        };
      }),
  };
}

/** Takes every mail, tells when those of B came and how many there were. */
function runSink(): void {
  const end = Buffer.from('\r\n.\r\n');
  let answersAfterMs = 0;
  let count = 0;
  process.on('message', (told: { answersAfterMs: number }) => {
    answersAfterMs = told.answersAfterMs;
  });
  const server = createServer((socket: Socket) => {
    let inData = false;
    let id: string | undefined;
    let rest: Buffer = Buffer.alloc(0);
    socket.setNoDelay(true);
    socket.write('220 sink\r\n');
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let answer = '';
      for (;;) {
        if (inData) {
          const at = rest.indexOf(end);
          if (at < 0) break;
          rest = rest.subarray(at + end.length);
          inData = false;
          count++;
          if (id !== undefined || count % 50 === 0) {
            process.send!({ id, count, atMs: nowMs() });
          }
          setTimeout(() => socket.write('250 2.0.0 Ok: queued as 4XyZ12abcD\r\n'), answersAfterMs);
        } else {
          const at = rest.indexOf(10);
          if (at < 0) break;
          const line = rest.toString('latin1', 0, at);
          rest = rest.subarray(at + 1);
          const verb = line.slice(0, 4).toUpperCase();
          if (verb === 'MAIL') id = undefined;
          if (line.includes('b@example.net')) id = envelopeId;
          if (verb === 'MAIL') envelopeId = /ENVID=(\S+)/.exec(line)?.[1];
          if (verb === 'EHLO')
            answer += '250-sink\r\n250-PIPELINING\r\n250-DSN\r\n250 8BITMIME\r\n';
          else if (verb === 'DATA') {
            inData = true;
            answer += '354 go\r\n';
          } else if (verb === 'QUIT') {
            socket.end('221 bye\r\n');
            return;
          } else answer += '250 2.1.0 Ok\r\n';
        }
      }
      if (answer !== '') socket.write(answer);
    });
    let envelopeId: string | undefined;
  });
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as { port: number }).port));
  process.once('disconnect', () => process.exit());
}
