// The commands of docs/performance.md that make a profile, as they stand there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { blockOf, ROOT, substituted } from '../support/docs.ts';
import { freePort } from '../support/process.ts';

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-profile-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('write a profile of the service when it is stopped', async () => {
  const typed = substituted(blockOf('docs/performance.md', 'LOG_LEVEL=error node'), {
    '=profiles': `=${folder}`,
  });
  const [start, stop] = typed.split('\n');
  const test = await createTestDatabase();
  // It is stopped when it said that it runs: the line comes from this test.
  const child = spawn('bash', ['-c', `${start}\nread _\n${stop}\nwait $pid`], {
    cwd: ROOT,
    env: {
      ...process.env,
      DATABASE_URL: test.url,
      BASE_URL: '',
      PORT: String(await freePort()),
      FEEDBACK_PORT: '0',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    let said = '';
    while (!said.includes('Sandmartin is running')) said += (await once(child.stdout, 'data'))[0];
    child.stdin.write('\n');
    expect(await ended).toEqual([0, null]);
    const [profile] = readdirSync(folder);
    expect(JSON.parse(readFileSync(join(folder, profile!), 'utf8')).nodes.length).toBeGreaterThan(
      100,
    );
  } finally {
    child.stdin.end();
    await test.drop();
  }
});
