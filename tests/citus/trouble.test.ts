// On a real Citus: a node is killed with -9 under load, a node hangs, and a running installation is
// distributed while it sends. A ledger compares every 202 with what the relay got: nothing is lost.
// MESSAGES=100000: that many exist before it is distributed, instead of a few.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerDatabase } from '../../src/cli/database.ts';
import { registerDoctor } from '../../src/cli/doctor.ts';
import { readCluster } from '../../src/store/cluster.ts';
import { distribute } from '../../src/store/distribute.ts';
import { openDatabase } from '../../src/store/pool.ts';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import {
  type CitusDatabase,
  createCitusDatabase,
  startCluster,
  type TestCluster,
  whyNoCitus,
} from '../support/citus.ts';
import { runInProcess } from '../support/command.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { type SmtpSink, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';
import { accountsOfBothNodes } from './accounts.ts';

const why = whyNoCitus();
if (why !== undefined) console.info(`tests/citus/trouble is skipped: ${why}`);

describe.skipIf(why !== undefined)('trouble on Citus', { timeout: 300_000 }, () => {
  let cluster: TestCluster;
  let own: CitusDatabase;
  let sink: SmtpSink;
  let service: TestService;
  /** Two accounts on the node that stays, and two on the one that has trouble. */
  let here: TestAccount[];
  let there: TestAccount[];
  beforeAll(async () => {
    cluster = await startCluster();
    own = await createCitusDatabase(cluster, 'spread');
    sink = await startSink();
    service = await startOn(own, { RELAY_URL: sink.url });
    [here, there] = await accountsOfBothNodes(own.database, service, cluster);
  }, 240_000);
  afterAll(async () => {
    await service?.stop();
    await sink?.stop();
    await own?.database.close();
    cluster?.stop();
  });

  it('a node that is killed: its accounts get 503, the others go on, nothing is lost', async () => {
    const load = startLoad(service, [...here, ...there]);
    await until(() => load.accepted.length > 20);
    cluster.nodes[1].kill();
    await until(() => there.every((account) => load.refusedSince(account)));
    const soFar = load.accepted.length;
    await until(() => load.accepted.length > soFar + 10);
    // Accepted while the other node was away, and handed over.
    const meanwhile = load.accepted.at(-1)!;
    expect(here).toContain(meanwhile.account);
    await isSent(service, meanwhile);
    await othersGoOn(await startOn(own, { RELAY_URL: sink.url }), here[0]!, there[0]!);
    await isNamed(own, cluster);
    cluster.nodes[1].start();
    const beforeBack = load.accepted.length;
    await until(() =>
      load.accepted.slice(beforeBack).some(({ account }) => there.includes(account)),
    );
    await load.stop();
    expect(load.refused.filter(({ account }) => here.includes(account))).toEqual([]);
    for (const { status, retryAfter } of load.refused) {
      expect(status).toBe(503);
      expect(retryAfter).toBeGreaterThanOrEqual(1);
    }
    await isLedgerEven(service, sink, load.accepted);
  });

  it('a node that hangs: its accounts get 503 at once, the others wait for nothing', async () => {
    const load = startLoad(service, [...here, ...there]);
    await until(() => load.accepted.length > 20);
    cluster.nodes[1].freeze();
    try {
      await until(() => there.every((account) => load.refusedSince(account)));
      const { status, headers, ms } = await timed(() => service.send(there[0]!.key, MAIL));
      expect({ status, soon: ms < 2000 }).toEqual({ status: 503, soon: true });
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      const soFar = load.accepted.length;
      await until(() => load.accepted.length > soFar + 20);
      const meanwhile = load.accepted.at(-1)!;
      expect(here).toContain(meanwhile.account);
      await isSent(service, meanwhile);
    } finally {
      cluster.nodes[1].thaw();
    }
    const beforeBack = load.accepted.length;
    await until(() =>
      load.accepted.slice(beforeBack).some(({ account }) => there.includes(account)),
    );
    await load.stop();
    expect(load.refused.filter(({ account }) => here.includes(account))).toEqual([]);
    await isLedgerEven(service, sink, load.accepted);
  });

  it('a running installation is distributed while sends go on: none is lost', async () => {
    const grown = await createCitusDatabase(cluster, 'grown', false);
    // Not the sandbox, which stores in the same database: while that is locked it would be taken
    // for a relay that hangs.
    const sink = await startSink();
    const service = await startOn(grown, { RELAY_URL: sink.url });
    const accounts = await Promise.all([1, 2, 3, 4].map(() => service.account()));
    for (const { id } of accounts) await makeMessages(grown, id, MESSAGES / accounts.length);
    const before = await readMade(grown);
    expect(before.messages).toBe(MESSAGES);
    const load = startLoad(service, accounts);
    await until(() => load.accepted.length > 40);
    await interrupted(grown);
    expect((await readCluster(grown.database)).distributed).toBe(false);
    const { value, ms } = await timed(async () => ({
      value: await distribute(grown.database, { shards: 4 }),
    }));
    expect(value.tables).toContain('messages');
    expect(await readMade(grown)).toEqual(before);
    const soFar = load.accepted.length;
    await until(() => load.accepted.length > soFar + 20);
    await load.stop();
    for (const { status } of load.refused) expect(status).toBe(503);
    await isLedgerEven(service, sink, load.accepted);
    const [kept] = await grown.database.query<{ count: number }>('SELECT count(*) FROM messages');
    expect(kept!.count).toBeGreaterThanOrEqual(MESSAGES + load.accepted.length);
    console.info(
      `${MESSAGES} messages distributed in ${(ms / 1000).toFixed(1)} s; meanwhile and around it ` +
        `${load.accepted.length} sends were accepted, ${load.refused.length} got 503, none was lost`,
    );
    await service.stop();
    await sink.stop();
    await grown.database.close();
  });
});

const MESSAGES = Number(process.env.MESSAGES ?? 2000);

/** While the node of `away` is killed: who starts now or signs in. */
async function othersGoOn(another: TestService, here: TestAccount, away: TestAccount) {
  const sent = await another.send(here.key, MAIL);
  expect(sent.status, JSON.stringify(sent.body)).toBe(202);
  await isSent(another, { account: here, id: sent.body.id });
  expect((await another.send(away.key, MAIL)).status).toBe(503);
  const person = await openSignedIn(another, { accountId: here.id });
  expect((await person.try('getSession')).status).toBe(200);
  await another.stop();
}

/** While its second node is killed. */
async function isNamed({ url }: CitusDatabase, { nodes }: TestCluster): Promise<void> {
  const env = { DATABASE_URL: url };
  const [here, away] = nodes.map((node) => new URL(node.url).host);
  const doctor = await runInProcess(registerDoctor, ['doctor'], env);
  expect(doctor.stdout).toContain(`${away} is unreachable: its accounts get 503.`);
  expect(doctor.stdout).not.toContain(`${here} is unreachable`);
  const status = await runInProcess(registerDatabase, ['database', 'status'], env);
  expect(status.stdout).toMatch(new RegExp(`^${here} .* yes$`, 'm'));
  expect(status.stdout).toMatch(new RegExp(`^${away} .* no$`, 'm'));
}

/**
 * Delivered ones, as a running installation has many of: inside the server, each with content and
 * events.
 */
async function makeMessages({ database }: CitusDatabase, accountId: number, count: number) {
  await database.query(
    `WITH made AS (
       INSERT INTO messages (account_id, id, status, from_email, recipients, subject, door)
       SELECT $1, uuid_at(now() - n * interval '1 ms'), 'delivered', 'shop@example.com',
              ARRAY['person' || n || '@example.net'], 'Order ' || n, 'rest'
       FROM generate_series(1, $2::integer) n RETURNING account_id, id, recipients),
     told AS (
       INSERT INTO events (account_id, message_id, id, kind, at, sequence, recipients, detail)
       SELECT account_id, id, gen_random_uuid(), kind, now(), sequence, recipients, '{}'
       FROM made, (VALUES ('sent', 1), ('delivered', 2)) AS k (kind, sequence))
     INSERT INTO contents (account_id, message_id, head, html)
     SELECT account_id, id, '{}', convert_to(repeat('<p>A paragraph of an email.</p>', 100), 'UTF8')
     FROM made`,
    [accountId, count],
  );
}

/** What makeMessages made, whole and as it was. */
async function readMade({ database }: CitusDatabase) {
  const [row] = await database.query<{ messages: number; sum: number }>(
    `SELECT count(*) AS messages, sum(('x' || left(md5(id::text || subject), 8))::bit(32)::bigint)::float8 AS sum
     FROM messages WHERE subject LIKE 'Order %'`,
  );
  const [events] = await database.query<{ events: number }>(
    `SELECT count(*) AS events FROM events WHERE recipients[1] LIKE 'person%'`,
  );
  const [contents] = await database.query<{ contents: number }>(
    `SELECT count(*) AS contents FROM contents WHERE head = '{}'`,
  );
  return { ...row!, ...events!, ...contents! };
}

/** Whoever distributes is ended in the middle of it. */
async function interrupted({ url, database }: CitusDatabase): Promise<void> {
  const own = openDatabase(url, { connections: 1, onIdleError: () => undefined });
  const ended = expect(distribute(own, { shards: 4 })).rejects.toThrow();
  await until(async () => {
    const rows = await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()
         AND query LIKE 'SELECT create_distributed_table($1%'`,
    );
    return rows.length > 0;
  }, 60_000);
  await ended;
  await own.close();
}

async function timed<Result extends object>(work: () => Promise<Result>) {
  const beganMs = performance.now();
  const result = await work();
  return { ...result, ms: performance.now() - beganMs };
}

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

const startOn = ({ url, database }: CitusDatabase, env = {}): Promise<TestService> =>
  startTestService(env, { on: { url, database, drop: async () => undefined } });

/** What was answered with 202 was handed over, once, and its timeline says so. */
async function isLedgerEven(service: TestService, sink: SmtpSink, accepted: readonly Accepted[]) {
  for (const email of accepted) await isSent(service, email);
  const ids = new Set(accepted.map(({ id }) => id));
  const taken = sink.emails.map(({ envelopeId }) => envelopeId).filter((id) => ids.has(id));
  expect(taken.sort()).toEqual([...ids].sort());
}

/** The relay took it. Its report may wait longer for a node that was away. */
async function isSent(service: TestService, { account, id }: Accepted): Promise<void> {
  await until(async () => {
    const { body } = await service.get(account.key, `/v1/messages/${id}`);
    return (body.events ?? []).some(({ type }: { type: string }) => type === 'sent');
  });
}
