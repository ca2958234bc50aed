// A worker that is told to stop gives back what it has not begun, at once; even without the relay
// or the database it ends in time.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { openEmbedded } from '../../src/store/embedded/open.ts';
import { openDatabase } from '../../src/store/pool.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { anEmail, makeAccount, request, type TestAccount } from '../support/service.ts';
import { startSink } from '../support/smtp-sink.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

let test: TestDatabase;
let account: TestAccount;
let api: ServiceProcess;
beforeAll(async () => {
  test = await createTestDatabase();
  account = await makeAccount(test.database);
  api = await startProcess({ DATABASE_URL: test.url, ROLES: 'api', RELAY_DOWN: 'queue' });
});
afterAll(async () => {
  await api.end('SIGTERM');
  await test.drop();
});

const sendTo = async (url: string, key: string) =>
  (
    await request(`${url}/v1/send`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(anEmail()),
    })
  ).body.id as string;
const states = async (): Promise<Record<string, number>> =>
  Object.fromEntries(
    (
      await test.database.query<{ state: string; n: number }>(
        'SELECT state, count(*) AS n FROM due_messages GROUP BY state',
      )
    ).map(({ state, n }) => [state, n]),
  );

/** A relay that takes emails whole and never answers. */
async function hangingRelay(): Promise<{ url: string; came: () => number }> {
  let came = 0;
  const sink = await startSink({
    onEmail: () => {
      came++;
      return new Promise<void>(() => undefined);
    },
  });
  onTestFinished(() => sink.stop());
  return { url: sink.url, came: () => came };
}

it('while the relay hangs: what was not begun is ready again before the process has ended', async () => {
  const relay = await hangingRelay();
  const worker = await startProcess({
    DATABASE_URL: test.url,
    RELAY_URL: relay.url,
    RELAY_CONNECTIONS: '2',
    ROLES: 'delivery',
  });
  await Promise.all(Array.from({ length: 10 }, () => sendTo(api.url, account.key)));
  await until(async () => relay.came() === 2 && (await states())['in hand'] === 10);
  const ended = worker.end('SIGTERM');
  await until(async () => (await states()).ready === 8);
  // At once, and not when it has waited for the two.
  expect(worker.child.exitCode).toBe(null);
  expect(await ended).toBe(0);
  // The two in the middle of it: nobody knows, so they wait for their next attempt. No lease is
  // left.
  expect(await states()).toEqual({ ready: 8, waiting: 2 });
  expect(await test.database.query('SELECT FROM delivery_leases')).toEqual([]);
  expect(await test.database.query('SELECT FROM due_messages WHERE attempts > 0')).toHaveLength(2);
  await test.database.query('DELETE FROM due_messages');
});

it('while the database is away: it ends within its ten seconds and says what was left', async () => {
  const door = await startTcpProxy(test.url);
  onTestFinished(() => door.close());
  const relay = await hangingRelay();
  const worker = await startProcess({
    DATABASE_URL: door.url,
    RELAY_URL: relay.url,
    RELAY_CONNECTIONS: '2',
    ROLES: 'delivery',
  });
  await Promise.all(Array.from({ length: 6 }, () => sendTo(api.url, account.key)));
  await until(() => relay.came() === 2);
  await door.shut();
  const begun = performance.now();
  await worker.end('SIGTERM');
  expect(performance.now() - begun).toBeLessThan(15_000);
  expect(worker.output()).toContain('stopped before everything was recorded');
  await test.database.query('DELETE FROM due_messages');
});

it('kill -9 of the service with the embedded database: the next start goes on at once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandmartin-own-lease-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const hanging = await hangingRelay();
  const env = { DATA_DIR: join(folder, 'data'), RELAY_DOWN: 'queue' };
  const killed = await startProcess({ ...env, RELAY_URL: hanging.url });
  const guest = await openEmbedded(env.DATA_DIR, { as: 'guest', log: () => undefined });
  const database = openDatabase(guest.url, { connections: 1, onIdleError: () => undefined });
  const { key } = await makeAccount(database);
  await database.close();
  await guest.stop();
  const ids = await Promise.all(Array.from({ length: 10 }, () => sendTo(killed.url, key)));
  await until(() => hanging.came() > 0);
  await killed.end('SIGKILL');
  const sink = await startSink();
  onTestFinished(() => sink.stop());
  const next = await startProcess({ ...env, RELAY_URL: sink.url });
  try {
    // A lease lasts a minute; this is well before its end.
    await until(() => new Set(sink.emails.map((it) => it.envelopeId)).size === ids.length, 40_000);
  } finally {
    await next.end('SIGTERM');
  }
});
