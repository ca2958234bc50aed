// From one PostgreSQL major to another, as people do it: a backup with the old, a restore with the
// new. Shown with Debian's PostgreSQL and the included one.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openDatabase } from '../../src/store/pool.ts';
import { freePort, runCommand, startProcess } from '../support/process.ts';
import { anEmail, makeAccount, request } from '../support/service.ts';
import { until } from '../support/until.ts';

const DEBIAN = '/usr/lib/postgresql';
const majors = existsSync(DEBIAN) ? readdirSync(DEBIAN).filter((name) => Number(name) < 18) : [];
const old = majors.find((major) => existsSync(join(DEBIAN, major, 'bin/initdb')));
if (old === undefined)
  console.warn(`skipped: ${DEBIAN} has no PostgreSQL older than 18 (apt-get install postgresql)`);

it.skipIf(old === undefined)(`what PostgreSQL ${old} held, the embedded one holds`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandmartin majors-'));
  chmodSync(folder, 0o755); // another user runs PostgreSQL in it
  const server = await startOld(folder);
  const database = openDatabase(server.url, { connections: 2, onIdleError: () => undefined });
  const env = { DATABASE_URL: server.url };
  const told = new Map<string, unknown>();
  const story = (url: string, key: string, id: string) =>
    request(`${url}/v1/messages/${id}`, { headers: { 'x-api-key': key } });

  const before = await startProcess(env);
  const { key } = await makeAccount(database);
  for (let n = 0; n < 5; n++) {
    const { body } = await request(`${before.url}/v1/send`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(anEmail({ subject: `Größe ${n} 注文` })),
    });
    await until(async () => (await story(before.url, key, body.id)).body.status === 'delivered');
    told.set(body.id, (await story(before.url, key, body.id)).body);
  }
  const file = join(folder, 'all.backup');
  const backup = await runCommand(['backup', file], {
    ...env,
    BACKUP_PASSPHRASE: 'twelve or more',
  });
  expect(backup).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('rows') });
  await before.end('SIGTERM');
  await database.close();
  await server.stop();

  const embedded = { DATA_DIR: join(folder, 'data') };
  const restore = await runCommand(['restore', file], {
    ...embedded,
    BACKUP_PASSPHRASE: 'twelve or more',
  });
  expect(restore).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringContaining('Start the service.'),
  });
  const after = await startProcess(embedded);
  for (const [id, before] of told) expect((await story(after.url, key, id)).body).toEqual(before);
  await after.end('SIGTERM');

  // A data folder of another major is left alone, and the way is told.
  const version = join(embedded.DATA_DIR, 'postgres/data/PG_VERSION');
  const major = readFileSync(version, 'utf8');
  writeFileSync(version, '17\n');
  const refused = await runCommand(['account', 'list'], embedded);
  expect(refused.stderr).toMatch(/PostgreSQL 17.*sandmartin backup FILE.*sandmartin restore FILE/);
  writeFileSync(version, major);
  rmSync(folder, { recursive: true });
});

async function startOld(folder: string): Promise<{ url: string; stop(): Promise<void> }> {
  const data = join(folder, 'old');
  mkdirSync(data, { mode: 0o700 });
  const user = process.getuid?.() === 0 ? debianUser() : undefined;
  if (user !== undefined) chownSync(data, user.uid, user.gid);
  const asUser = { cwd: '/', ...user };
  const bin = join(DEBIAN, old!, 'bin');
  const made = ['-D', data, '-U', 'sandmartin', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
  execFileSync(join(bin, 'initdb'), made, { ...asUser, stdio: 'ignore' });
  const port = await freePort();
  const settings = {
    port,
    unix_socket_directories: '',
    listen_addresses: '127.0.0.1',
    fsync: 'off',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn(join(bin, 'postgres'), ['-D', data, ...args], {
    ...asUser,
    stdio: 'ignore',
  });
  const url = `postgres://sandmartin@127.0.0.1:${port}/postgres`;
  const asking = openDatabase(url, { connections: 1, onIdleError: () => undefined });
  await until(() => asking.query('SELECT 1'));
  await asking.close();
  return {
    url,
    async stop() {
      server.kill('SIGINT');
      await once(server, 'exit');
    },
  };
}

/** PostgreSQL refuses to run as root; the package brings a user. */
function debianUser(): { uid: number; gid: number } {
  const ask = (flag: string) =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: ask('-u'), gid: ask('-g') };
}
