// On a real Citus: one node is killed with -9 under load, and a running installation is distributed
// while sends go on. A ledger of every 202 against what the relay got: nothing is lost.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { distribute } from '../../src/store/distribute.ts';
import {
  type CitusDatabase,
  createCitusDatabase,
  startCluster,
  type TestCluster,
  whyNoCitus,
} from '../support/citus.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { accountsOfBothNodes } from './accounts.ts';

const why = whyNoCitus();
if (why !== undefined) console.info(`tests/citus/trouble is skipped: ${why}`);

describe.skipIf(why !== undefined)('trouble on Citus', { timeout: 300_000 }, () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startCluster();
  }, 120_000);
  afterAll(() => cluster?.stop());

  it('a node that is killed: its accounts get 503, the others go on, nothing is lost', async () => {
    const own = await createCitusDatabase(cluster, 'spread');
    const service = await startOn(own);
    const [here, there] = await accountsOfBothNodes(own.database, service, cluster);
    const load = startLoad(service, [...here, ...there]);
    await until(() => load.accepted.length > 20, 60_000);
    cluster.nodes[1].kill();
    await until(() => there.every((account) => load.refusedSince(account)), 60_000);
    const soFar = load.accepted.length;
    await until(() => load.accepted.length > soFar + 10, 60_000);
    // Accepted while the other node was away, and handed over.
    const meanwhile = load.accepted.at(-1)!;
    expect(here).toContain(meanwhile.account);
    await isSent(service, meanwhile);
    cluster.nodes[1].start();
    const beforeBack = load.accepted.length;
    await until(
      () => load.accepted.slice(beforeBack).some(({ account }) => there.includes(account)),
      60_000,
    );
    await load.stop();
    expect(load.refused.filter(({ account }) => here.includes(account))).toEqual([]);
    for (const { status, retryAfter } of load.refused) {
      expect(status).toBe(503);
      expect(retryAfter).toBeGreaterThanOrEqual(1);
    }
    for (const mail of load.accepted) await isSent(service, mail);
    await service.stop();
    await own.database.close();
  });

  it('a running installation is distributed while sends go on: none is lost', async () => {
    const own = await createCitusDatabase(cluster, 'grown', false);
    const service = await startOn(own);
    const accounts = await Promise.all([1, 2, 3, 4].map(() => service.account()));
    const load = startLoad(service, accounts);
    await until(() => load.accepted.length > 40, 60_000);
    const { tables } = await distribute(own.database, { shards: 4 });
    expect(tables).toContain('messages');
    const soFar = load.accepted.length;
    await until(() => load.accepted.length > soFar + 20, 120_000);
    await load.stop();
    for (const { status } of load.refused) expect(status).toBe(503);
    for (const mail of load.accepted) await isSent(service, mail);
    const [kept] = await own.database.query<{ count: number }>('SELECT count(*) FROM messages');
    expect(kept!.count).toBeGreaterThanOrEqual(load.accepted.length);
    await service.stop();
    await own.database.close();
  });
});

interface Accepted {
  account: TestAccount;
  id: string;
}

interface Refused {
  account: TestAccount;
  status: number;
  retryAfter: number;
}

/** One send after the other for each account, until it is stopped. */
function startLoad(service: TestService, accounts: readonly TestAccount[]) {
  const accepted: Accepted[] = [];
  const refused: Refused[] = [];
  let going = true;
  const sending = accounts.map(async (account) => {
    while (going) {
      const { status, headers, body } = await service.send(account.key, MAIL);
      if (status === 202) accepted.push({ account, id: body.id });
      else refused.push({ account, status, retryAfter: Number(headers.get('retry-after')) });
      // Steady, not as much as the machine can take.
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
  return {
    accepted,
    refused,
    refusedSince: (account: TestAccount) => refused.some((it) => it.account === account),
    async stop() {
      going = false;
      await Promise.all(sending);
    },
  };
}

const MAIL = {
  from_email: 'shop@example.com',
  to: ['delivered@simulator.example'],
  subject: 'Hello',
  text: 'Hello',
};

const startOn = ({ url, database }: CitusDatabase): Promise<TestService> =>
  startTestService({}, { on: { url, database, drop: async () => undefined } });

/** The relay took it. Its report may wait longer for a node that was away. */
async function isSent(service: TestService, { account, id }: Accepted): Promise<void> {
  await until(async () => {
    const { body } = await service.get(account.key, `/v1/messages/${id}`);
    return (body.events ?? []).some(({ type }: { type: string }) => type === 'sent');
  }, 90_000);
}
