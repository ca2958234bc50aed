// The disk of the embedded database is full or read-only: the cause is named everywhere, and the
// service recovers.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/pool.ts';
import { newFolder } from '../store/embedded-support.ts';
import { runCommand, type ServiceProcess, startProcess } from '../support/process.ts';
import { anEmail, makeAccount, request } from '../support/service.ts';
import { until } from '../support/until.ts';

const disk = newFolder(afterAll);
const mounted = mountDisk();
if (!mounted) console.log('skipped: a small file system can only be mounted by root (tmpfs)');
const env = { DATA_DIR: join(disk, 'data') };
const ballast = join(disk, 'ballast');

function mountDisk(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=300m,mode=755', 'tmpfs', disk]);
    return true;
  } catch {
    return false;
  }
}

describe.runIf(mounted)('a disk of 300 MB', () => {
  let service: ServiceProcess;
  let key: string;
  beforeAll(async () => {
    service = await startProcess(env);
    const { port, password } = JSON.parse(
      readFileSync(join(env.DATA_DIR, 'postgres/connection.json'), 'utf8'),
    );
    const url = `postgres://sandmartin:${password}@127.0.0.1:${port}/sandmartin`;
    const database = openDatabase(url, { connections: 1, onIdleError: () => undefined });
    ({ key } = await makeAccount(database));
    await database.close();
  });
  afterAll(async () => {
    await service?.end('SIGTERM');
    execFileSync('umount', ['-l', disk]);
  });

  const send = () =>
    request(`${service.url}/v1/send`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(
        anEmail({ to: ['delivered@sandbox.localhost'], text: 'x'.repeat(400_000) }),
      ),
    });
  const ready = () => request(`${service.url}/readyz`);
  function fill(): void {
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(ballast, Buffer.alloc(bavail * bsize - 1024 * 1024));
  }

  it('full: sends, /readyz and doctor name it; with room again all goes on by itself', async () => {
    expect((await send()).status).toBe(202);
    expect((await ready()).status).toBe(200);
    fill();
    const refused = await until(async () => {
      const answer = await send();
      return answer.status !== 202 && answer;
    });
    expect(refused.status).toBe(503);
    expect(refused.body.detail).toContain('The disk of the database is full');
    expect(refused.headers.get('retry-after')).toBe('30');
    const notReady = await ready();
    expect(notReady.status).toBe(503);
    expect(notReady.body.detail).toContain('disk of the database is full');
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toContain('sandmartin_trouble{kind="disk-full"} 1');
    const { stdout } = await runCommand(['doctor', '--json'], env);
    const findings: { check: string; ok: boolean; detail: string }[] = JSON.parse(stdout);
    const storage = findings.find(({ check }) => check === 'storage');
    expect(storage).toMatchObject({ ok: false, detail: expect.stringContaining('disk') });

    rmSync(ballast);
    await until(async () => (await send()).status === 202);
    await until(async () => (await ready()).status === 200);
  });

  it('read-only: the start says so and what to do, also where the folder does not exist yet', async () => {
    const other = join(disk, 'other');
    mkdirSync(other);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro,size=1m', 'tmpfs', other]);
    for (const folder of [other, join(other, 'not', 'there')]) {
      const { code, stderr } = await runCommand(['serve'], { DATA_DIR: folder, PORT: '0' });
      expect(code).toBe(1);
      expect(stderr).toContain('mounted read-only');
      expect(stderr).toContain('DATA_DIR');
    }
    execFileSync('umount', [other]);
  });
});
