// npm run bench start: how long `sandmartin serve` takes until it answers, in a new folder and in
// one that it knows, and the memory of the service with its own PostgreSQL: idle, under load, and a
// while after. Goals: warm under 2 s, idle under 140 MB. Idle is half a minute after the start:
// what starting took, Node gives back when it has seen for ten seconds that nothing happens.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { judge, single } from './support/results.ts';
import { summarise } from './support/rounds.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const PORT = 38_481;
const SENDS = 1000;
/** As many a second as the first account of an installation may send. */
const A_SECOND = 100;
const IDLE_AFTER_MS = 30_000;

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-bench-'));
let output = '';
let running: ChildProcess | undefined;

try {
  const cold = await started(join(folder, 'data'));
  await stop(cold.child);
  const warm: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { child, seconds } = await started(join(folder, 'data'));
    warm.push(seconds);
    await stop(child);
  }
  judge('start in a new folder', single(cold.seconds), { unit: 's', better: 'lower' });
  judge('start in a known folder', summarise(warm), { goal: 2, unit: 's', better: 'lower' });

  const { child } = await started(join(folder, 'fresh'));
  const atStart = residentMb(child);
  await wait(IDLE_AFTER_MS);
  const idle = residentMb(child);
  const key = /sm_live_\w+/.exec(output)![0];
  let loaded = 0;
  for (let sent = 0; sent < SENDS; sent += 50) {
    await Promise.all([
      ...Array.from({ length: 50 }, () => send(key)),
      wait((50 / A_SECOND) * 1000 + 20),
    ]);
    loaded = Math.max(loaded, residentMb(child));
  }
  await wait(IDLE_AFTER_MS);
  const memory = { better: 'lower', unit: 'MB', digits: 0 } as const;
  judge('memory of the service, just started', single(atStart), memory);
  judge('memory of the service, idle', single(idle), { ...memory, goal: 140 });
  judge('memory of the service, under load', single(loaded), memory);
  judge('memory of the service, 30 s after', single(residentMb(child)), memory);
  await stop(child);
} finally {
  running?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}

async function started(data: string): Promise<{ child: ChildProcess; seconds: number }> {
  output = '';
  const begun = performance.now();
  const child = spawn(process.execPath, ['bin/sandmartin.js', 'serve'], {
    env: {
      ...process.env,
      DATA_DIR: data,
      PORT: String(PORT),
      FEEDBACK_PORT: '0',
      LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running = child;
  child.stdout!.on('data', (chunk) => {
    output += chunk;
  });
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${PORT}/readyz`).catch(() => undefined);
    if (answer?.status === 200) break;
    if (child.exitCode !== null) throw new Error('the service did not start');
    await wait(5);
  }
  return { child, seconds: (performance.now() - begun) / 1000 };
}

async function send(key: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${PORT}/v1/send`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
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
function residentMb({ pid }: ChildProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024;
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  await once(child, 'exit');
}
