// On a real Citus: every statement of an email's way is one task on one node. Citus counts what its
// planner sent to one shard and to several, on each server; what a process does by the clock
// (looking at all queues, metrics) does not grow with the emails, so that two loads tell one from
// the other.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { TEST_SCOPES } from '../../src/accounts/scopes.ts';
import { unfenced } from '../../src/mcp/fence.ts';
import { OPERATIONS } from '../../src/operations/all.ts';
import { systemClock } from '../../src/process/clock.ts';
import { openDatabase } from '../../src/store/pool.ts';
import { callTool } from '../mcp/support.ts';
import { readSamples } from '../operations/samples.ts';
import { isOperators, startWorld, viaRest } from '../operations/world.ts';
import {
  type CitusDatabase,
  createCitusDatabase,
  startCluster,
  type TestCluster,
  whyNoCitus,
} from '../support/citus.ts';
import { databaseUrl } from '../support/global-setup.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';
import { accountsOfBothNodes } from './accounts.ts';

const why = whyNoCitus();
if (why !== undefined) console.info(`tests/citus/one-task is skipped: ${why}`);

/**
 * What is about all accounts, and asked by the clock, by operators or for an email of the service
 * itself.
 */
const OF_ALL_ACCOUNTS = [
  // Metrics.
  /^SELECT count\(\*\) FILTER \(WHERE d.state <> 'set aside'\) AS depth/,
  /^SELECT count\(\*\) AS depth, extract/,
  // The account that may send as SYSTEM_SENDER.
  /^SELECT a.id FROM accounts a JOIN identities i/,
];

describe.skipIf(why !== undefined)('on Citus', { timeout: 240_000 }, () => {
  let cluster: TestCluster;
  let own: CitusDatabase;
  let service: TestService;
  let accounts: TestAccount[];
  const start = (env: Record<string, string> = {}) =>
    startTestService(env, { on: { ...own, drop: async () => undefined } });
  beforeAll(async () => {
    cluster = await startCluster();
    own = await createCitusDatabase(cluster, 'counted');
    service = await start();
    accounts = (await accountsOfBothNodes(own.database, service, cluster)).flat();
  }, 240_000);
  afterAll(async () => {
    await service?.stop();
    await own?.database.close();
    cluster?.stop();
  });

  it('accepting, claiming, recording and the timeline ask one shard each', async () => {
    const keys = accounts.map(({ key }) => key);
    await walk(4, keys);
    const few = await during(() => walk(8, keys));
    const many = await during(() => walk(80, keys));
    expect(many.one).toBeGreaterThan(5 * few.one);
    expect(many.severalOnNodes).toBe(0);
    // On the coordinator only what the clock asks for, however many emails go.
    expect(many.several / many.ms).toBeLessThanOrEqual((2 * few.several) / few.ms);
  });

  it('so does telling agents who gets no copy', async () => {
    await own.database.query(
      `INSERT INTO suppressions (account_id, address, reason)
       SELECT unnest($1::bigint[]), 'gone@example.net', 'manual'`,
      [accounts.map(({ id }) => id)],
    );
    const told: unknown[] = [];
    const { one, severalOnNodes } = await during(async () => {
      const calls = accounts.map(({ key }) =>
        callTool(service, key, 'send_email', anEmail({ to: ['gone@example.net'] })),
      );
      for (const { content } of await Promise.all(calls)) told.push(unfenced(content.suppressed));
    });
    expect(told).toEqual(accounts.map(() => ['gone@example.net']));
    expect(one).toBeGreaterThan(0);
    expect(severalOnNodes).toBe(0);
  });

  it('so does taking what the sandbox captures while no relay can be reached', async () => {
    await service.stop();
    service = await start({ RELAY_URL: 'smtp://127.0.0.1:1' });
    const keys: string[] = [];
    for (const { id } of accounts) {
      const wish = { accountId: id, scopes: TEST_SCOPES, limits: { sandboxOnly: true } };
      keys.push((await createKey(own.database, systemClock, wish)).key);
    }
    const captured = await during(() => walk(8, keys));
    expect(captured.one).toBeGreaterThan(0);
    expect(captured.severalOnNodes).toBe(0);
  });

  it('so does whatever an account asks for', async () => {
    const world = await startWorld({}, { on: { ...own, drop: async () => undefined } });
    const samples = await readSamples();
    const before = across().map((statements) => statements.length);
    const failed: string[] = [];
    for (const operation of OPERATIONS.filter((it) => !isOperators(it))) {
      const { name } = operation;
      const input = await samples[name]!.input(world, world.ada);
      const { status, body } = await viaRest(world.service, operation, input, world.ada);
      if (status >= 400) failed.push(`${name}: ${status} ${JSON.stringify(body)}`);
    }
    await world.stop();
    expect(failed).toEqual([]);
    const found = new Set(across().flatMap((statements, at) => statements.slice(before[at])));
    expect([...found].filter((it) => !OF_ALL_ACCOUNTS.some((one) => one.test(it)))).toEqual([]);
  });

  /** Of each server. */
  const across = (): string[][] =>
    [cluster.coordinator, ...cluster.nodes].map((server) => server.acrossShards());

  /** Emails through all keys, one after the other, until each timeline shows its report. */
  async function walk(count: number, keys: readonly string[]): Promise<void> {
    for (let n = 0; n < count; n++) {
      const key = keys[n % keys.length]!;
      const { status, body } = await service.send(key, {
        from_email: 'shop@example.com',
        to: ['delivered@simulator.example'],
        subject: 'Hello',
        text: 'Hello',
      });
      expect(status).toBe(202);
      await until(async () => {
        const message = (await service.get(key, `/v1/messages/${body.id}`)).body;
        return message.status === 'delivered';
      });
    }
  }

  /** What the planners of all servers did meanwhile. */
  async function during(work: () => Promise<void>) {
    const before = await counted();
    const beganMs = performance.now();
    await work();
    const ms = performance.now() - beganMs;
    const after = await counted();
    const [coordinator, ...nodes] = after.map((now, server) => ({
      one: now.one - before[server]!.one,
      several: now.several - before[server]!.several,
    }));
    return {
      ms,
      one: coordinator!.one + nodes.reduce((sum, node) => sum + node.one, 0),
      several: coordinator!.several,
      severalOnNodes: nodes.reduce((sum, node) => sum + node.several, 0),
    };
  }

  /** The coordinator first. */
  async function counted(): Promise<{ one: number; several: number }[]> {
    return await Promise.all(
      [cluster.coordinator, ...cluster.nodes].map(async ({ url }) => {
        const server = openDatabase(databaseUrl(url, 'counted'), {
          connections: 1,
          onIdleError: () => undefined,
        });
        const [row] = await server.query<{ one: number; several: number }>(
          `SELECT query_execution_single_shard AS one, query_execution_multi_shard AS several
           FROM citus_stat_counters WHERE name = 'counted'`,
        );
        await server.close();
        return row!;
      }),
    );
  }
});
