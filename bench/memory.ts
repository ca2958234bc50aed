// npm run bench memory: 100 concurrent requests of 20 MB. What the process takes over idle must
// stay below 1 GB; the rest waits. ROUNDS (3) is read from the environment.
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../tests/support/process.ts';
import { startService, stop } from './support/processes.ts';
import { judge } from './support/results.ts';
import { summarise } from './support/rounds.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 3);
const REQUESTS = 100;
const BYTES = 20 * 1024 * 1024;

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-bench-'));
const port = await freePort();
const server = startService({
  ...{ DATA_DIR: join(folder, 'data'), PORT: String(port), ROLES: 'api', LOG_LEVEL: 'warn' },
});
let banner = '';
server.stdout!.on('data', (chunk) => {
  banner += chunk;
});
while (!banner.includes('Sandmartin is running')) await once(server.stdout!, 'data');
const key = /sm_live_\w+/.exec(banner)![0];
const url = `http://127.0.0.1:${port}/v1/send`;
const headers = { 'x-api-key': key, 'content-type': 'application/json' };
const small = JSON.stringify({
  from_email: 'a@demo.example',
  to: ['b@example.net'],
  subject: 's',
  text: 't',
});
const large = JSON.stringify({
  ...(JSON.parse(small) as object),
  attachments: [
    {
      filename: 'a.bin',
      content_type: 'application/octet-stream',
      content_base64: 'A'.repeat(BYTES - 400 - ((BYTES - 400) % 4)),
    },
  ],
});

try {
  for (let warm = 0; warm < 200; warm++) {
    await (await fetch(url, { method: 'POST', headers, body: small })).text();
  }
  // What a round left behind is the next one's: idle is before all of them.
  const idle = residentMb();
  const over: number[] = [];
  const accepted: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    let peak = idle;
    const watch = setInterval(() => {
      peak = Math.max(peak, residentMb());
    }, 20);
    const started = performance.now();
    const statuses = await Promise.all(Array.from({ length: REQUESTS }, sendLarge));
    clearInterval(watch);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    accepted.push(statuses.filter((status) => status === 202).length / REQUESTS);
    over.push(peak - idle);
    process.stdout.write(
      `round ${round}: ${seconds} s, idle ${idle.toFixed(0)} MB, peak ${peak.toFixed(0)} MB\n`,
    );
  }
  const memory = { goal: 1024, better: 'lower', unit: 'MB', digits: 0 } as const;
  judge('memory over idle', summarise(over), memory);
  judge('large requests accepted', summarise(accepted), { goal: 1 });
} finally {
  await stop(server);
  rmSync(folder, { recursive: true, force: true });
}

async function sendLarge(): Promise<number> {
  const answer = await fetch(url, { method: 'POST', headers, body: large });
  await answer.text();
  return answer.status;
}

function residentMb(): number {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}
