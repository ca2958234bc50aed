// npm run bench start: how long `sandmartin serve` takes until it answers, in a new folder and in
// one that it knows, and the memory of the service with its own PostgreSQL: idle, under load, and a
// while after. Goals: warm under 2 s, idle under 140 MB. Idle is half a minute after the start:
// what starting took, Node gives back when it has seen for ten seconds that nothing happens. Two
// that were under load rest beside two that were only started, and the starts are measured while
// they do. ROUNDS (3) is read from the environment.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../tests/support/process.ts';
import { startService, stop } from './support/processes.ts';
import { judge } from './support/results.ts';
import { summarise } from './support/rounds.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 3);
const SENDS = 1000;
/** As many a second as the first account of an installation may send. */
const A_SECOND = 100;
const IDLE_AFTER_MS = 30_000;

interface Started {
  child: ChildProcess;
  port: number;
  seconds: number;
  /** Of its banner. */
  key(): string;
}

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-bench-'));
const services: ChildProcess[] = [];

try {
  const loaded = [await started(join(folder, 'one')), await started(join(folder, 'other'))];
  const underLoad = await Promise.all(loaded.map(load));
  const resting: Started[] = [];
  const justStarted: number[] = [];
  for (const name of ['third', 'fourth']) {
    resting.push(await started(join(folder, name)));
    justStarted.push(residentMb(resting.at(-1)!));
  }
  const enough = wait(IDLE_AFTER_MS);
  const cold: number[] = [];
  const warm: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const data = join(folder, `fresh-${round}`);
    cold.push(await secondsToStart(data));
    warm.push(await secondsToStart(data));
  }
  await enough;
  const memory = {
    'just started': justStarted,
    idle: resting.map(residentMb),
    'under load': underLoad,
    '30 s after': loaded.map(residentMb),
  };

  const seconds = { unit: 's', better: 'lower' } as const;
  judge('start in a new folder', summarise(cold), seconds);
  judge('start in a known folder', summarise(warm), { ...seconds, goal: 2 });
  for (const [when, megabytes] of Object.entries(memory)) {
    judge(`memory of the service, ${when}`, summarise(megabytes), {
      ...{ better: 'lower', unit: 'MB', digits: 0 },
      ...(when === 'idle' && { goal: 140 }),
    });
  }
} finally {
  for (const child of services) await stop(child);
  rmSync(folder, { recursive: true, force: true });
}

async function secondsToStart(data: string): Promise<number> {
  const { child, seconds } = await started(data);
  await stop(child);
  return seconds;
}

/** The most that it took meanwhile, in MB. */
async function load(service: Started): Promise<number> {
  let most = 0;
  for (let sent = 0; sent < SENDS; sent += 50) {
    await Promise.all([
      ...Array.from({ length: 50 }, () => send(service)),
      wait((50 / A_SECOND) * 1000 + 20),
    ]);
    most = Math.max(most, residentMb(service));
  }
  return most;
}

async function started(data: string): Promise<Started> {
  const port = await freePort();
  let output = '';
  const begun = performance.now();
  const child = startService({ DATA_DIR: data, PORT: String(port), LOG_LEVEL: 'warn' });
  services.push(child);
  child.stdout!.on('data', (chunk) => {
    output += chunk;
  });
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (answer?.status === 200) break;
    if (child.exitCode !== null) throw new Error('the service did not start');
    await wait(5);
  }
  const seconds = (performance.now() - begun) / 1000;
  while (!output.includes('Sandmartin is running')) await wait(5);
  return { child, port, seconds, key: () => /sm_live_\w+/.exec(output)![0] };
}

async function send({ port, key }: Started): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/send`, {
    method: 'POST',
    headers: { 'x-api-key': key(), 'content-type': 'application/json' },
    body: JSON.stringify({
      from_email: 'hello@demo.example',
      to: ['ada@example.net'],
      subject: 'Hello',
      text: 'Hello',
    }),
  });
  if (answer.status !== 202) throw new Error(await answer.text());
  await answer.arrayBuffer();
}

/** Of the Node process; PostgreSQL has its own 32 MB and what the system caches. */
function residentMb({ child }: Started): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024;
}
