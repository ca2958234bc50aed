// The database is silent: its packets are lost, or it was frozen. Nobody hangs, and everything
// resumes when it answers again.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readUuid } from '../../src/ids.ts';
import { PATIENCE } from '../../src/store/connection.ts';
import { type EmbeddedDatabase, openEmbedded } from '../../src/store/embedded/open.ts';
import { type Database, openDatabase } from '../../src/store/pool.ts';
import { newFolder } from '../store/embedded-support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import {
  type Answer,
  anEmail,
  makeAccount,
  request,
  startTestService,
} from '../support/service.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

const A_FEW_SECONDS = 8000;
const sandboxEmail = (changes = {}) => anEmail({ to: ['delivered@sandbox.localhost'], ...changes });

const post = (url: string, key: string, body: unknown): Promise<Answer> =>
  request(url, {
    method: 'POST',
    headers: {
      'x-api-key': key,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(body),
  });

/** What every door says, and how long the slowest took to say it. */
async function knock(url: string, key: string): Promise<{ answers: Answer[]; tookMs: number }> {
  const startedAtMs = performance.now();
  const answers = await Promise.all([
    post(`${url}/v1/send`, key, sandboxEmail()),
    post(`${url}/v1/send`, key, sandboxEmail({ html: 'x'.repeat(100_000) })),
    request(`${url}/v1/messages/msg_01M7F9YK9MACMZ8QYEY8YNPTTC`, { headers: { 'x-api-key': key } }),
    post(`${url}/mcp`, key, { jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    request(`${url}/readyz`),
  ]);
  return { answers, tookMs: performance.now() - startedAtMs };
}

async function expectRefusals(url: string, key: string): Promise<void> {
  const { answers, tookMs } = await knock(url, key);
  const [send, large, read, mcp, ready] = answers.map((answer) => answer.status);
  expect([send, large, read, ready]).toEqual([503, 503, 503, 503]);
  expect([200, 503]).toContain(mcp); // a key is trusted for a second, and the list of tools is at hand
  for (const answer of answers.slice(0, 3)) {
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(answer.body.detail).toContain('database');
  }
  expect(answers.at(-1)!.body.detail).toContain('does not answer');
  expect(tookMs).toBeLessThan(A_FEW_SECONDS);
}

async function countMessages(database: Database): Promise<number> {
  const [row] = await database.query<{ n: number }>('SELECT count(*)::int AS n FROM messages');
  return row!.n;
}

describe('packets go nowhere', () => {
  let test: TestDatabase;
  let door: TcpProxy;
  beforeAll(async () => {
    test = await createTestDatabase();
    door = await startTcpProxy(test.url);
  });
  afterAll(async () => {
    await door.close();
    await test.drop();
  });

  it('a connection that leaves a statement unanswered is given up and replaced, others are not', async () => {
    const patience = { ...PATIENCE.calls, answerMs: 500 };
    const options = { connections: 2, onIdleError: () => undefined, patience };
    const database = openDatabase(door.url, options);
    const hanging = database.query('SELECT pg_sleep(30)').catch((error: Error) => error.message);
    expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(await hanging).toMatch(/did not answer/);
    expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    // It does not keep its place at the server.
    await until(async () => {
      const rows = await test.database.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'SELECT pg_sleep%'`,
      );
      return rows.length === 0;
    });
    await database.close();
  });

  it('the server ends what takes it too long, as one who waits for a lock', async () => {
    const patience = { ...PATIENCE.calls, statementMs: 400, lockMs: 200 };
    const options = { connections: 2, onIdleError: () => undefined, patience };
    const database = openDatabase(test.url, options);
    await expect(database.query('SELECT pg_sleep(30)')).rejects.toThrow('statement timeout');
    await test.database.transaction(async (client) => {
      await client.query('LOCK TABLE due_messages');
      await expect(database.query('SELECT FROM due_messages')).rejects.toThrow('lock timeout');
    });
    await database.close();
  });

  it('every door answers 503 within seconds, and all of them work again once packets flow', async () => {
    const service = await startTestService({ DATABASE_URL: door.url }, { on: test });
    const { key } = await service.account();
    expect((await service.send(key, sandboxEmail())).status).toBe(202);
    const accepted = await countMessages(test.database);
    door.swallow();
    await expectRefusals(service.url, key);
    const { answers, tookMs } = await knock(service.url, key);
    expect(answers.map((answer) => answer.status)).toEqual([503, 503, 503, 503, 503]);
    // It is known by now: nobody waits as long as it takes to find out.
    expect(tookMs).toBeLessThan(PATIENCE.heartbeat.answerMs);
    expect(await (await fetch(`${service.url}/metrics`)).text()).toContain(
      'sandmartin_trouble{kind="away"} 1',
    );
    // As long as a batch may take: what is stuck in the swamp comes through, too late.
    const swallowedAtMs = performance.now();
    await until(() => performance.now() - swallowedAtMs > 5500);
    await door.open();
    const { body } = await until(async () => {
      const answer = await service.send(key, sandboxEmail());
      return answer.status === 202 && answer;
    }, A_FEW_SECONDS);
    expect((await request(`${service.url}/readyz`)).status).toBe(200);
    await until(
      async () => (await service.get(key, `/v1/messages/${body.id}`)).body.status === 'delivered',
    );
    expect(await countMessages(test.database)).toBe(accepted + 1);
    await service.stop();
  });

  it('SIGTERM meanwhile: the process ends by itself within seconds', async () => {
    const service = await startProcess({ DATABASE_URL: door.url });
    door.swallow();
    const startedAtMs = performance.now();
    const code = await service.end('SIGTERM');
    // On a busy machine its ten seconds may be over before the silence is noticed: it says so.
    if (code !== 0) expect(service.output()).toContain('Not everything could be finished');
    expect(performance.now() - startedAtMs).toBeLessThan(15_000);
    await door.open();
  });
});

describe('PostgreSQL is frozen', () => {
  const folder = newFolder(afterAll);
  let server: EmbeddedDatabase;
  let database: Database;
  let service: ServiceProcess;
  let key: string;
  beforeAll(async () => {
    server = await openEmbedded(folder, { as: 'owner', log: () => undefined });
    service = await startProcess({ DATABASE_URL: server.url });
    database = openDatabase(server.url, { connections: 2, onIdleError: () => undefined });
    ({ key } = await makeAccount(database));
  });
  afterAll(async () => {
    await service?.end('SIGTERM');
    await database?.close();
    await server?.stop();
  });

  const postmaster = (): number =>
    Number(readFileSync(join(folder, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0]);
  /** The postmaster first, so that it starts no more. */
  function signalAll(signal: 'SIGSTOP' | 'SIGCONT'): void {
    process.kill(postmaster(), signal);
    const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(postmaster())]);
    for (const pid of children.toString().split('\n').filter(Boolean)) {
      try {
        process.kill(Number(pid), signal);
      } catch {
        // It ended in between.
      }
    }
  }

  it('what was answered 202 is there; of what was answered 503 at most what was just being written', async () => {
    const accepted: string[] = [];
    let refused = 0;
    let sending = true;
    const senders = [1, 2, 3, 4].map(async () => {
      while (sending) {
        const { status, body } = await post(`${service.url}/v1/send`, key, sandboxEmail());
        if (status === 202) accepted.push(body.id);
        else {
          expect(status).toBe(503);
          refused++;
        }
      }
    });
    for (let round = 0; round < 2; round++) {
      const before = accepted.length;
      await until(() => accepted.length > before + 20);
      signalAll('SIGSTOP');
      const frozenAtMs = performance.now();
      try {
        await until(() => refused > 20, A_FEW_SECONDS);
        await expectRefusals(service.url, key);
        await until(() => performance.now() - frozenAtMs > 5500);
      } finally {
        signalAll('SIGCONT');
      }
      const atThaw = accepted.length;
      await until(() => accepted.length > atThaw, A_FEW_SECONDS);
      refused = 0;
    }
    sending = false;
    await Promise.all(senders);
    const rows = await database.query<{ id: string }>('SELECT id FROM messages');
    const stored = new Set(rows.map(({ id }) => id));
    const lost = accepted.filter((id) => !stored.has(readUuid('msg_', id)!));
    console.log(`accepted ${accepted.length}, lost ${lost.length}, stored ${stored.size}`);
    expect(lost).toEqual([]);
    expect(stored.size - accepted.length).toBeLessThanOrEqual(senders.length);
  });

  it('the whole machine stood still while an answer was awaited: nobody is told that the database is away', async () => {
    const waited = service.output().length;
    await until(
      async () => (await post(`${service.url}/v1/send`, key, sandboxEmail())).status === 202,
    );
    signalAll('SIGSTOP');
    const frozenAtMs = performance.now();
    const frozenFor = (ms: number) => until(() => performance.now() - frozenAtMs > ms);
    // By now it has asked: it does so every second.
    await frozenFor(1500);
    service.child.kill('SIGSTOP');
    await frozenFor(4500);
    service.child.kill('SIGCONT');
    signalAll('SIGCONT');
    expect((await post(`${service.url}/v1/send`, key, sandboxEmail())).status).toBe(202);
    expect(service.output().slice(waited)).not.toContain('the database does not answer');
  });
});
