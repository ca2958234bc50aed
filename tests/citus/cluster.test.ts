// On a real Citus of a coordinator and two nodes: accounts lie where we think they do, and every email
// goes its whole way, from the send to the relay's report.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCluster } from '../../src/store/cluster.ts';
import { distribute } from '../../src/store/distribute.ts';
import { shardHash } from '../../src/store/shard-hash.ts';
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
if (why !== undefined) console.info(`tests/citus is skipped: ${why}`);

describe.skipIf(why !== undefined)('on Citus', { timeout: 240_000 }, () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster?.stop());

  describe('a distributed database', () => {
    let own: CitusDatabase;
    let service: TestService;
    /** Two accounts on each node. */
    let here: TestAccount[];
    let there: TestAccount[];

    beforeAll(async () => {
      own = await createCitusDatabase(cluster, 'spread');
      service = await startOn(own);
      [here, there] = await accountsOfBothNodes(own.database, service, cluster);
    }, 240_000);
    afterAll(async () => {
      await service?.stop();
      await own?.database.close();
    });

    it('finds shards by the number that Citus finds them by', async () => {
      for (const id of [1, 2, 3, 1000, 123_456_789, 2 ** 33 + 5, 56_800_235_583]) {
        const rows = await own.database.query('SELECT worker_hash($1::bigint) AS hash', [id]);
        expect(rows).toEqual([{ hash: shardHash(id) }]);
      }
    });

    it('every email goes its whole way, and a repeat is known', async () => {
      const ids = await Promise.all(
        [...here, ...there].map(async (account) => {
          const first = await send(service, account, 'the-same');
          expect(first.status, JSON.stringify(first.body)).toBe(202);
          const again = await send(service, account, 'the-same');
          expect(again.body).toEqual(first.body);
          return { account, id: first.body.id as string };
        }),
      );
      for (const { account, id } of ids) await isDelivered(service, account, id);
    });

    it('says which nodes there are, and that everything of accounts is spread', async () => {
      const { nodes, undistributed } = await readCluster(own.database);
      expect(nodes.map(({ answers, shards }) => ({ answers, shards }))).toEqual([
        { answers: true, shards: 2 },
        { answers: true, shards: 2 },
      ]);
      expect(undistributed).toEqual([]);
      expect(await distribute(own.database)).toEqual({ tables: [], functions: [] });
    });
  });
});

const startOn = ({ url, database }: CitusDatabase): Promise<TestService> =>
  startTestService({}, { on: { url, database, drop: async () => undefined } });

const send = (service: TestService, { key }: TestAccount, idempotencyKey?: string) =>
  service.send(
    key,
    {
      from_email: 'shop@example.com',
      to: ['delivered@simulator.example'],
      subject: 'Hello',
      text: 'Hello',
    },
    idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
  );

async function isDelivered(service: TestService, { key }: TestAccount, id: string): Promise<void> {
  await until(async () => {
    const { body } = await service.get(key, `/v1/messages/${id}`);
    return (body.events ?? []).some(({ type }: { type: string }) => type === 'delivered');
  });
}
