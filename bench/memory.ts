// npm run bench memory: 100 concurrent requests of 20 MB. What the process takes over idle must
// stay below 1 GB; the rest waits.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judge, single } from './support/results.ts';

const REQUESTS = 100;
const BYTES = 20 * 1024 * 1024;
const PORT = 38_472;

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-bench-'));
const server = spawn(process.execPath, ['bin/sandmartin.js', 'serve'], {
  env: {
    ...process.env,
    DATA_DIR: join(folder, 'data'),
    PORT: String(PORT),
    FEEDBACK_PORT: '0',
    ROLES: 'api',
    LOG_LEVEL: 'warn',
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
let banner = '';
server.stdout!.on('data', (chunk) => {
  banner += chunk;
});
while (!banner.includes('Sandmartin is running')) await once(server.stdout!, 'data');
const key = /sm_live_\w+/.exec(banner)![0];
const url = `http://127.0.0.1:${PORT}/v1/send`;
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
  const idle = residentMb();
  let peak = idle;
  const watch = setInterval(() => {
    peak = Math.max(peak, residentMb());
  }, 20);
  const started = performance.now();
  const statuses = await Promise.all(
    Array.from({ length: REQUESTS }, async () => {
      const answer = await fetch(url, { method: 'POST', headers, body: large });
      await answer.text();
      return answer.status;
    }),
  );
  clearInterval(watch);
  const accepted = statuses.filter((status) => status === 202).length;
  process.stdout.write(
    `${[
      `${accepted} of ${REQUESTS} requests of 20 MB accepted in ${((performance.now() - started) / 1000).toFixed(1)} s`,
      `resident memory: idle ${idle.toFixed(0)} MB, peak ${peak.toFixed(0)} MB`,
    ].join('\n')}\n`,
  );
  judge('memory over idle', single(peak - idle), {
    goal: 1024,
    better: 'lower',
    unit: 'MB',
    digits: 0,
  });
  judge('large requests accepted', single(accepted / REQUESTS), { goal: 1 });
} finally {
  server.kill('SIGTERM');
  await once(server, 'exit');
  rmSync(folder, { recursive: true, force: true });
}

function residentMb(): number {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}
