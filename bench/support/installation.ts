// An installation to be measured: a PostgreSQL of its own, accounts that may send, a queue to be
// filled, and the service as processes. What it started ends with it.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pauseAccount } from '../../src/accounts/pause.ts';
import { EMAIL_SCOPES, type Scope } from '../../src/accounts/scopes.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { openBatcher } from '../../src/sending/batch.ts';
import { openEmbedded } from '../../src/store/embedded/open.ts';
import { migrate } from '../../src/store/migrate.ts';
import { makePartitions } from '../../src/store/partitions.ts';
import { type Database, openDatabase } from '../../src/store/pool.ts';
import { freePort } from '../../tests/support/process.ts';
import { makeAccount, type TestAccount } from '../../tests/support/service.ts';
import { cpuBetween, cpuMicroseconds, snapshotTree } from './cpu.ts';
import { packed } from './packed-email.ts';
import { type Served, serving, startService } from './processes.ts';

export interface Installation {
  url: string;
  /** Removed with it. */
  folder: string;
  database: Database;
  /** Without limits that a benchmark could reach; sends from example.com. */
  account(scopes?: readonly Scope[]): Promise<TestAccount>;
  queue(accountId: number, count: number, from?: string): Promise<void>;
  /** Emails are queued and held, until `release`. */
  hold(accountId: number, count: number, from?: string): Promise<void>;
  release(accountId: number): Promise<void>;
  /** Nothing is due any more. */
  drained(): Promise<void>;
  serve(roles: string, env?: Record<string, string>): Promise<Served>;
  /** What PostgreSQL and these processes use from now on, in µs of CPU. */
  meter(...of: Served[]): () => { node: number; postgres: number };
  close(): Promise<void>;
}

export async function openInstallation(): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), 'sandmartin-bench-'));
  const data = join(folder, 'data');
  const embedded = await openEmbedded(data, { as: 'owner', log: () => undefined });
  const database = openDatabase(embedded.url, { connections: 10, onIdleError: () => undefined });
  await migrate(database);
  await makePartitions(database, Date.now());
  const postmaster = Number(readFileSync(find(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
  const batcher = openBatcher({
    database,
    metrics: createMetrics(),
    relayIsDown: () => false,
    onCommitted: () => undefined,
  });
  const services: Served[] = [];
  const queue = async (accountId: number, count: number, from?: string) => {
    const sends = Array.from({ length: count }, () => batcher.add(packed(accountId, from)));
    for (const { kind } of await Promise.all(sends)) {
      if (kind !== 'accepted') throw new Error(`an email was not queued: ${kind}`);
    }
  };

  return {
    url: embedded.url,
    folder,
    database,
    account: (scopes = EMAIL_SCOPES) =>
      makeAccount(database, { dailyQuota: 2_000_000_000, ratePerSecond: 1_000_000, scopes }),
    queue,
    async hold(accountId, count, from) {
      await pauseAccount(database, accountId, 'a benchmark fills the queue');
      await queue(accountId, count, from);
    },
    async release(accountId) {
      await database.query(
        'UPDATE accounts SET paused_at = NULL, paused_reason = NULL, version = version + 1 WHERE id = $1',
        [accountId],
      );
    },
    async drained() {
      while ((await database.query('SELECT FROM due_messages LIMIT 1')).length > 0) await wait(20);
    },
    async serve(roles, env = {}) {
      const port = await freePort();
      const child = startService({
        ...{ DATABASE_URL: embedded.url, PORT: String(port), ROLES: roles, LOG_LEVEL: 'error' },
        ...env,
      });
      const service = await serving(child, port);
      services.push(service);
      return service;
    },
    meter(...of) {
      const node = () => of.reduce((sum, { child }) => sum + cpuMicroseconds(child.pid!), 0);
      const before = { node: node(), postgres: snapshotTree(postmaster) };
      return () => ({
        node: node() - before.node,
        postgres: cpuBetween(before.postgres, snapshotTree(postmaster)),
      });
    },
    async close() {
      for (const service of services) await service.stop();
      await database.close();
      await embedded.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function find(under: string, name: string): string {
  const found = readdirSync(under, { recursive: true, encoding: 'utf8' }).find((entry) =>
    entry.endsWith(`/${name}`),
  );
  return join(under, found ?? name);
}
