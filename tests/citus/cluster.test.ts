// On a real Citus with a coordinator and two nodes: accounts are where we expect them, and every
// email goes all the way, from the send to the relay's report. `database` and `doctor` say how the
// data is spread.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { registerDatabase } from '../../src/cli/database.ts';
import { registerDoctor } from '../../src/cli/doctor.ts';
import { indexFinishedDays } from '../../src/messages/search-index.ts';
import { createLog } from '../../src/process/log.ts';
import { CLASSES } from '../../src/queue/lanes.ts';
import { readCluster } from '../../src/store/cluster.ts';
import { isDistributed } from '../../src/store/distribute.ts';
import { type Database, openDatabase } from '../../src/store/pool.ts';
import { shardHash } from '../../src/store/shard-hash.ts';
import {
  addNode,
  type CitusDatabase,
  createCitusDatabase,
  startCluster,
  type TestCluster,
  type TestServer,
  whyNoCitus,
} from '../support/citus.ts';
import { runInProcess } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { databaseUrl } from '../support/global-setup.ts';
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

    it('a lane at its limit takes no round from those behind it', async () => {
      const { id } = here[0]!;
      await own.database.query('UPDATE accounts SET delivery_limit = 1 WHERE id = $1', [id]);
      for (const state of ['in hand', 'ready']) {
        await own.database.query(
          `INSERT INTO due_messages (account_id, message_id, due_at, size, class, state)
           VALUES ($1, gen_random_uuid(), now(), 100, $2, $3)`,
          [id, CLASSES.normal, state],
        );
      }
      for (const server of cluster.nodes) {
        const node = openNode(server);
        expect(await node.query(`SELECT FROM ready_lanes(0, 32, '{}')`)).toEqual([]);
        await node.close();
      }
      await own.database.query('DELETE FROM due_messages WHERE account_id = $1', [id]);
    });

    it('an index for searching that a node still builds is left alone', async () => {
      const { database } = own;
      const table = `messages_${new Date().toISOString().slice(0, 10).replaceAll('-', '')}`;
      const index = `${table}_words`;
      const indexDays = () =>
        indexFinishedDays({
          ...{ database, log: createLog('silent') },
          // Today is over, tomorrow is not.
          nowMs: Date.now() + 25 * 3_600_000,
        });
      const oid = async () =>
        (await database.query<{ oid: number }>('SELECT to_regclass($1)::oid AS oid', [index]))[0]!
          .oid;
      const isDropped = async () => {
        const rows = await database.query(
          `SELECT FROM pg_stat_activity WHERE query LIKE 'DROP INDEX%' || $1 AND state = 'active'`,
          [index],
        );
        return rows.length > 0;
      };
      const node = openNode(cluster.nodes[0]);
      // Building waits for every transaction that changes the table.
      const seen = await node.transaction(async (client) => {
        await client.query(`DELETE FROM ${table} WHERE account_id = $1`, [here[0]!.id]);
        const building = indexDays();
        await until(async () => (await oid()) !== null);
        const begun = await oid();
        let ended = false;
        const second = indexDays().finally(() => {
          ended = true;
        });
        await until(async () => ended || (await isDropped()));
        return { begun, wasDropped: await isDropped(), both: Promise.all([building, second]) };
      });
      await seen.both;
      expect(seen.wasDropped).toBe(false);
      expect(await oid()).toBe(seen.begun);
      await node.close();
    });

    it('says which nodes there are', async () => {
      const { nodes } = await readCluster(own.database);
      expect(nodes.map(({ answers, shards }) => ({ answers, shards }))).toEqual([
        { answers: true, shards: 2 },
        { answers: true, shards: 2 },
      ]);
    });

    it('doctor names the node that has twice the data of another', async () => {
      const [heavy, light] = cluster.nodes.map(({ url }) => new URL(url).host);
      const said = `${heavy} has more than twice the data of ${light}: run "npx sandmartin database rebalance".`;
      expect(await doctor(own)).toMatch(/^ok +nodes /m);
      const { nodes } = await readCluster(own.database);
      await storeContents(own.database, here[0]!, 2 * Math.max(...nodes.map(({ bytes }) => bytes)));
      const warned = await doctor(own);
      expect(warned).toMatch(/^WARN +nodes /m);
      expect(warned).toContain(said);
    });

    const openNode = ({ url }: TestServer): Database =>
      openDatabase(databaseUrl(url, 'spread'), { connections: 1, onIdleError: () => undefined });
  });

  it('a running installation is distributed, gets another node and a shard for one account, by command', async () => {
    const own = await createCitusDatabase(
      { ...cluster, nodes: [cluster.nodes[0]] },
      'commanded',
      false,
    );
    const command = async (...words: string[]) => (await runDatabase(own.url, ...words)).stdout;
    const nodes = async () => (await readCluster(own.database)).nodes.map(({ shards }) => shards);
    const service = await startOn(own);
    const accounts = await Promise.all([1, 2, 3, 4].map(() => service.account()));
    // Of both shards, one of which is moved.
    expect(new Set(accounts.map(({ id }) => shardHash(id) < 0)).size).toBe(2);
    const works = () =>
      Promise.all(
        accounts.map(async (account) => {
          const { status, body } = await until(async () => {
            const answer = await send(service, account);
            return answer.status !== 503 && answer;
          });
          expect(status).toBe(202);
          await isDelivered(service, account, body.id);
        }),
      );
    await works();

    expect(await command('status')).toContain('everything is on one server');
    expect(await command('distribute', '--dry-run')).toMatch(/^Would distribute.*messages/);
    expect(await command('status')).toContain('everything is on one server');
    expect(await command('distribute', '--shards', '2')).toMatch(/^Distributed.*messages/);
    expect(await command('distribute')).toBe('All account data is already distributed.\n');
    expect(await nodes()).toEqual([2]);
    await works();

    await own.database.query('CREATE TABLE later (account_id bigint PRIMARY KEY)');
    expect(await doctor(own)).toMatch(/nodes +Account data is distributed \(\S+: 2 shards\)\.$/m);
    // As a later version would have added it, when that starts.
    expect(await isDistributed(own.database, 'later')).toBe(true);
    await own.database.query('DROP TABLE later');

    await addNode(own, cluster.nodes[1]);
    expect(await doctor(own)).toMatch(/\(\S+: 2 shards, \S+: 0 shards\)/);
    expect(await command('rebalance')).toContain('moves shards in the background');
    await until(async () => (await nodes()).join() === '1,1');
    await works();

    expect(await command('isolate', String(accounts[0]!.id))).toContain('to itself');
    expect((await nodes()).reduce((sum, shards) => sum + shards)).toBeGreaterThan(2);
    await works();
    await service.stop();
    await own.database.close();
  });
});

it('a database without Citus: status says so, the other commands say what they need', async () => {
  const plain = await createTestDatabase();
  onTestFinished(() => plain.drop());
  const database = (...words: string[]) => runDatabase(plain.url, ...words);
  expect(await database('status')).toEqual({
    code: 0,
    stdout: 'The database is not distributed: everything is on one server.\n',
    stderr: '',
  });
  expect(JSON.parse((await database('status', '--json')).stdout)).toMatchObject({
    distributed: false,
  });
  for (const [needs, ...words] of [
    ['Citus is not installed in this database.', 'distribute'],
    ['Citus is not installed in this database.', 'distribute', '--dry-run'],
    ['The database is not distributed.', 'rebalance'],
    ['The database is not distributed.', 'isolate', '1'],
  ] as const) {
    const { code, stderr } = await database(...words);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(needs) });
  }
});

const runDatabase = (url: string, ...words: string[]) =>
  runInProcess(registerDatabase, ['database', ...words], { DATABASE_URL: url });

const doctor = async ({ url }: CitusDatabase): Promise<string> =>
  (await runInProcess(registerDoctor, ['doctor'], { DATABASE_URL: url })).stdout;

/** At least that many bytes of an account, which no compression makes less. */
async function storeContents(database: Database, { id }: TestAccount, bytes: number) {
  const content = randomBytes(1_000_000);
  await database.query(
    `INSERT INTO contents (account_id, message_id, head, html)
     SELECT $1, uuid_at(now() - n * interval '1 ms'), '{}', $2::bytea FROM generate_series(1, $3::integer) n`,
    [id, content, Math.ceil(bytes / content.length)],
  );
}

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
