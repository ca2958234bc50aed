// What was answered with 202 is never lost: not when the API dies, not when a worker dies, not when
// PostgreSQL dies.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate, readMigrations } from '../../src/store/migrate.ts';
import { openDatabase } from '../../src/store/pool.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { runCommand, type ServiceProcess, startProcess } from '../support/process.ts';
import { anEmail, makeAccount, request } from '../support/service.ts';
import { type SmtpSink, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';

/** Sends until told to stop; keeps the ids that were answered with 202. */
function sendUntil(urls: () => string[], key: string) {
  const accepted: string[] = [];
  let stopped = false;
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (let number = client; !stopped; number++) {
      const all = urls();
      const url = all[number % all.length]!;
      const answer = await request(`${url}/v1/send`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify(anEmail({ subject: `${client} ${number}` })),
      }).catch(() => undefined);
      if (answer?.status === 202) accepted.push(answer.body.id);
    }
  });
  return {
    accepted,
    async stop() {
      stopped = true;
      await Promise.all(clients);
    },
  };
}

let test: TestDatabase;
let sink: SmtpSink;
beforeAll(async () => {
  test = await createTestDatabase();
  sink = await startSink();
});
afterAll(async () => {
  await sink.stop();
  await test.drop();
});

it.concurrent('kill -9 of API and worker under load: every accepted email is handed over', async () => {
  const env = { DATABASE_URL: test.url, RELAY_URL: sink.url };
  const { key } = await makeAccount(test.database);
  const start = () => startProcess({ ...env, ROLES: 'api,delivery' });
  let first: ServiceProcess = await start();
  const second = await start();
  const load = sendUntil(() => [first.url, second.url], key);
  try {
    await until(() => load.accepted.length > 100);
    await first.end('SIGKILL');
    await until(() => load.accepted.length > 200);
    first = await start();
    await until(() => load.accepted.length > 300);
    await load.stop();
    // The dead worker's lease ends after a minute; here it ends now. The living renew theirs.
    await test.database.query(
      `UPDATE delivery_leases SET held_until = now() WHERE held_until < now() + interval '57 seconds'`,
    );
    await until(() => {
      const handedOver = new Set(sink.emails.map((taken) => taken.envelopeId));
      return load.accepted.every((id) => handedOver.has(id));
    });
    // A repeat after the crash carries the same Message-ID.
    for (const taken of sink.emails) {
      expect(taken.raw).toContain(`Message-ID: <${taken.envelopeId}@example.com>`);
    }
  } finally {
    await load.stop();
    await first.end('SIGTERM');
    await second.end('SIGTERM');
  }
});

it.concurrent('kill -9 of the embedded PostgreSQL and of the service: every acknowledged email is there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandmartin-kill-'));
  const env = { DATA_DIR: join(folder, 'data'), ROLES: 'api' };
  let service = await startProcess(env);
  try {
    const key = /sm_live_\w+/.exec(service.output())![0];
    const accepted: string[] = [];
    const send = async () => {
      const answer = await request(`${service.url}/v1/send`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify(anEmail({ from_email: 'a@demo.example' })),
      }).catch(() => undefined);
      if (answer?.status === 202) accepted.push(answer.body.id);
      return answer?.status;
    };
    await Promise.all(Array.from({ length: 50 }, send));
    expect(accepted).toHaveLength(50);
    process.kill(postmasterOf(env.DATA_DIR), 'SIGKILL');
    // It comes back by itself, and sends are accepted again.
    await until(async () => (await send()) === 202);
    await service.end('SIGKILL');
    service = await startProcess(env);
    const listed = await runCommand(['message', 'list', '--limit', '1000', '--json'], env);
    const ids = new Set((JSON.parse(listed.stdout) as { id: string }[]).map((it) => it.id));
    for (const id of accepted) expect(ids.has(id)).toBe(true);
  } finally {
    await service.end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  }
});

function postmasterOf(dataDir: string): number {
  const file = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).find((entry) =>
    entry.endsWith('postmaster.pid'),
  );
  return Number(readFileSync(join(dataDir, file!), 'utf8').split('\n')[0]);
}

it.concurrent('ten processes migrate an empty database at once', async () => {
  const empty = await createTestDatabase({ empty: true });
  const pools = Array.from({ length: 10 }, () =>
    openDatabase(empty.url, { connections: 1, onIdleError: () => undefined }),
  );
  const applied = await Promise.all(pools.map((pool) => migrate(pool)));
  expect(applied.flat().sort()).toEqual(
    readMigrations()
      .map(({ version }) => version)
      .sort(),
  );
  await Promise.all(pools.map((pool) => pool.close()));
  await empty.drop();
});
