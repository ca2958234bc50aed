// Backups of the embedded database, by the programs that people run: beside a service that goes on
// sending, and the one that an upgrade takes by itself before it changes anything.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { openEmbedded } from '../../src/store/embedded/open.ts';
import { readMigrations } from '../../src/store/migrate.ts';
import { openDatabase } from '../../src/store/pool.ts';
import { runCommand, type ServiceProcess, startProcess } from '../support/process.ts';
import { anEmail, request } from '../support/service.ts';
import { until } from '../support/until.ts';
import { factsOf, loadFixture } from './upgrade-fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-embedded-backup-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const BACKUP_PASSPHRASE = 'a passphrase for the test';

async function start(env: Record<string, string>): Promise<ServiceProcess> {
  const service = await startProcess(env);
  onTestFinished(async () => void (await service.end('SIGTERM')));
  return service;
}

async function run(args: string[], env: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await runCommand(args, env);
  expect([stderr, code]).toEqual([expect.anything(), 0]);
  return stdout;
}

async function story({ url }: ServiceProcess, key: string, id: string) {
  const { status, body } = await request(`${url}/v1/messages/${id}`, {
    headers: { 'x-api-key': key },
  });
  expect([id, status]).toEqual([id, 200]);
  return body;
}

it('beside a running service: what was accepted before it is in it, and the service goes on', async () => {
  const before = { DATA_DIR: join(folder, 'before') };
  const service = await start(before);
  const [key] = await until(() => /sm_(live|test)_\w{40}/.exec(service.output()));
  const send = async (): Promise<string> => {
    const { status, body } = await request(`${service.url}/v1/send`, {
      method: 'POST',
      headers: { 'x-api-key': key!, 'content-type': 'application/json' },
      body: JSON.stringify(anEmail({ from_email: 'hello@demo.example' })),
    });
    expect(status).toBe(202);
    return body.id;
  };
  const stories = new Map<string, unknown>();
  for (const id of await Promise.all(Array.from({ length: 20 }, send))) {
    stories.set(
      id,
      await until(async () => {
        const told = await story(service, key!, id);
        return told.status === 'delivered' && told;
      }),
    );
  }
  let sending = true;
  let sentMeanwhile = 0;
  const traffic = (async () => {
    for (; sending; sentMeanwhile++) await send();
  })();
  const file = join(folder, 'beside.backup');
  await run(['backup', file], { ...before, BACKUP_PASSPHRASE });
  sending = false;
  await traffic;
  expect(sentMeanwhile).toBeGreaterThan(0);
  // The command was a guest: the service still has its database.
  await send();
  expect(await service.end('SIGTERM')).toBe(0);

  const after = { DATA_DIR: join(folder, 'after') };
  await run(['restore', file], { ...after, BACKUP_PASSPHRASE });
  const restored = await start(after);
  for (const [id, told] of stories) expect(await story(restored, key!, id)).toEqual(told);
});

it('an upgrade takes one before it changes a DATA_DIR of an earlier version', async () => {
  const facts = factsOf('0.1.0');
  const SECRET_KEY = facts.secretKey;
  // Rows of weeks ago are not to be cleared away.
  const kept = { SECRET_KEY, RETENTION_DAYS: '3650', CONTENT_RETENTION_DAYS: '3650' };
  const old = { DATA_DIR: join(folder, 'old'), ...kept };
  await withDataOf(old.DATA_DIR, (database) => loadFixture(database, '0.1.0'));
  async function tellsWhatItTold(service: ServiceProcess) {
    for (const [id, { types }] of Object.entries<{ types: string[] }>(facts.stories)) {
      const { events } = await story(service, facts.keys.main, id);
      const told = events.map(({ type }: { type: string }) => type);
      expect(told.slice(0, types.length)).toEqual(types);
    }
  }

  const service = await start({ ...old, LOG_LEVEL: 'info' });
  const backups = join(old.DATA_DIR, 'backups');
  const [name, ...rest] = readdirSync(backups);
  expect(name).toMatch(/^before-upgrade-.*\.backup$/);
  expect(rest).toEqual(['passphrase']);
  expect(service.output()).toContain(`backing up to ${join(backups, name!)} before the upgrade`);
  await tellsWhatItTold(service);
  await service.end('SIGTERM');
  const latest = readMigrations().at(-1)!.version;
  expect(await versionsOf(old.DATA_DIR)).toContain(latest);

  // Nothing had been changed when it was taken: it is of the schema of then.
  const manifest = gunzipSync(readFileSync(join(backups, name!))).toString('latin1');
  expect(/"migrations":\[[^\]]*\]/.exec(manifest)?.[0]).toBe('"migrations":[1]');
  const passphrase = readFileSync(join(backups, 'passphrase'), 'utf8');
  const report = JSON.parse(
    await run(['restore', join(backups, name!), '--json'], {
      ...{ DATA_DIR: join(folder, 'back'), SECRET_KEY, BACKUP_PASSPHRASE: passphrase },
    }),
  );
  expect(report).toMatchObject({ stranded: [] });
  const again = await start({ DATA_DIR: join(folder, 'back'), ...kept });
  await tellsWhatItTold(again);

  // Now it is up to date, so a later start takes none.
  await (await start(old)).end('SIGTERM');
  expect(readdirSync(backups)).toHaveLength(2);
  expect(existsSync(join(folder, 'back/backups'))).toBe(false);
});

/** Without the service. */
async function withDataOf<Result>(
  dataDir: string,
  work: (database: ReturnType<typeof openDatabase>) => Promise<Result>,
): Promise<Result> {
  const embedded = await openEmbedded(dataDir, { as: 'owner', log: () => undefined });
  const database = openDatabase(embedded.url, { connections: 1, onIdleError: () => undefined });
  try {
    return await work(database);
  } finally {
    await database.close();
    await embedded.stop();
  }
}

const versionsOf = (dataDir: string): Promise<number[]> =>
  withDataOf(dataDir, async (database) => {
    const rows = await database.query<{ version: number }>('SELECT version FROM schema_migrations');
    return rows.map(({ version }) => version);
  });
