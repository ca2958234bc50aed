// How the worker treats endpoints: fairness, the breaker, disabling, order, and what happens to a
// dead worker's endpoints.
import { randomUUID } from 'node:crypto';
import type { Agent } from 'undici';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Vault } from '../../src/store/vault.ts';
import {
  changeEndpoint,
  disableEndpoint,
  enableEndpoint,
  getEndpoint,
} from '../../src/webhooks/endpoint.ts';
import { type LeasedEndpoint, pruneDue, takeDue } from '../../src/webhooks/leases.ts';
import { replay } from '../../src/webhooks/replay.ts';
import type { WebhookWorker } from '../../src/webhooks/worker.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  answer,
  type Behaviour,
  type Receiver,
  type ReceiverOptions,
  startReceiver,
} from '../support/https-receiver.ts';
import { until } from '../support/until.ts';
import {
  authority,
  type DeliveryRow,
  deliveriesOf,
  endpointRow,
  event,
  newAccount,
  newEndpoint,
  newEvents,
  newMessages,
  openVault,
  recordEvents,
  startTestWorker,
  type TestClock,
  testClock,
  trustingAgent,
} from './webhook-support.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let test: TestDatabase;
let vault: Vault;
let agent: Agent;
let clock: TestClock;
let workers: WebhookWorker[];
const receivers: Receiver[] = [];

beforeAll(async () => {
  test = await createTestDatabase();
  vault = await openVault(test.database);
  agent = trustingAgent();
});
beforeEach(() => {
  clock = testClock();
  workers = [];
  startWorker();
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  for (const receiver of receivers.splice(0)) await receiver.close();
  await test.database.query('TRUNCATE webhook_due');
});
afterAll(async () => {
  await agent.destroy();
  await test.drop();
});

function startWorker(leaseMs?: number): WebhookWorker {
  const worker = startTestWorker({
    database: test.database,
    vault,
    clock,
    agent,
    // What hangs here hangs until the test lets it go, however slow the machine is.
    timeoutMs: 600_000,
    ...(leaseMs === undefined ? {} : { leaseMs }),
  });
  workers.push(worker);
  return worker;
}

async function receiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const started = await startReceiver({ authority, ...options });
  receivers.push(started);
  return started;
}

async function hooked(hook: Receiver, wanted: { fifo?: boolean } = {}) {
  const account = await newAccount(test.database);
  const endpoint = await newEndpoint(test.database, account, { url: hook.url, ...wanted });
  return { account, ...endpoint };
}

function advance(ms: number): void {
  clock.advance(ms);
  for (const worker of workers) worker.wake();
}

const rowsWhen = (uuid: string, so: (rows: DeliveryRow[]) => boolean): Promise<DeliveryRow[]> =>
  until(async () => {
    const rows = await deliveriesOf(test.database, uuid);
    return so(rows) && rows;
  });

const madeAttempts = (rows: DeliveryRow[]): number =>
  rows.reduce((sum, row) => sum + row.attempts, 0);

/** Answers nobody until it is opened, and knows how many stood before it at most. */
function gate(behaviour: Behaviour = answer(200)) {
  let waiting = 0;
  let most = 0;
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    open: () => open(),
    most: () => most,
    async behave(): Promise<Behaviour> {
      most = Math.max(most, ++waiting);
      await opened;
      waiting--;
      return behaviour;
    },
  };
}

/** Something of another account came and went: the worker has looked at everything since. */
async function somethingElse(): Promise<void> {
  const hook = await receiver();
  const { account, uuid } = await hooked(hook);
  await newEvents(test.database, account, 1);
  await rowsWhen(uuid, ([row]) => row!.state === 'delivered');
}

it('the endpoints of few accounts, which may all hang, never take every lane', async () => {
  await workers.pop()!.stop();
  const lease = randomUUID();
  const [server] = test.database.nodes();
  const accountHere = async (): Promise<number> => {
    const account = await newAccount(test.database);
    return test.database.near(account) === server!.database ? account : await accountHere();
  };
  const due = async (endpoints: number) => {
    const account = await accountHere();
    for (let n = 0; n < endpoints; n++) {
      await newEndpoint(test.database, account, { url: `https://hooks.example/${n}` });
    }
    await newEvents(test.database, account, 1);
    return account;
  };
  const served: LeasedEndpoint[] = [];
  const look = async () => {
    const taken = await takeDue(server!.database, clock.nowMs(), {
      ...{ lease, leaseMs: 60_000, endpoints: 16 - served.length, kept: 2, rowsEach: 1 },
      ...{ served, short: [], inHand: [] },
    });
    served.push(...taken.map(({ endpoint }) => endpoint));
    return taken.map(({ endpoint }) => endpoint.accountId);
  };
  await due(9);
  await due(9);
  expect(await look()).toHaveLength(14);
  expect(await look()).toEqual([]);
  const third = await due(2);
  expect(await look()).toEqual([third]);
  const fourth = await due(2);
  expect(await look()).toEqual([fourth]);
});

it('more endpoints of six accounts hang than there are lanes: others’ webhooks go on', async () => {
  const turnstile = gate();
  const hung = await receiver({ behave: turnstile.behave });
  for (let n = 0; n < 6; n++) {
    const account = await newAccount(test.database);
    const { url } = hung;
    await Promise.all(
      Array.from({ length: 44 }, () => newEndpoint(test.database, account, { url })),
    );
    await newEvents(test.database, account, 1);
  }
  // Of 256 lanes, an eighth is left. The nodes of a cluster share them: one more or less is
  // rounding.
  await hung.received(223);
  await somethingElse();
  await somethingElse();
  expect(Math.abs(hung.requests.length - 224)).toBeLessThanOrEqual(1);
  turnstile.open();
  await hung.received(264);
});

describe('a slow endpoint', () => {
  it('gets four POSTs at a time, over all workers, and holds up nobody', async () => {
    startWorker();
    const turnstile = gate();
    const slow = await receiver({ behave: turnstile.behave });
    const { account, uuid } = await hooked(slow);
    await newEvents(test.database, account, 40);
    await slow.received(4);
    const well = await receiver();
    await newEvents(test.database, (await hooked(well)).account, 50);
    await well.received(50);
    await somethingElse();
    expect(slow.requests).toHaveLength(4);
    turnstile.open();
    await rowsWhen(uuid, (rows) => rows.every((row) => row.state === 'delivered'));
    expect(slow.requests).toHaveLength(40);
    expect(turnstile.most()).toBe(4);
  });

  it('with one stuck POST goes on with the other three', async () => {
    const turnstile = gate();
    const hook = await receiver({
      behave: (_request, index) => (index === 0 ? turnstile.behave() : answer(200)),
    });
    const { account, uuid } = await hooked(hook);
    await newEvents(test.database, account, 100);
    await rowsWhen(uuid, (rows) => rows.filter((row) => row.state === 'delivered').length === 99);
    turnstile.open();
    await rowsWhen(uuid, (rows) => rows.every((row) => row.state === 'delivered'));
    expect(hook.requests).toHaveLength(100);
  });
});

describe('the breaker', () => {
  it('pauses a failing endpoint without burning the attempts of its rows, and probes with one', async () => {
    const hook = await receiver({ behave: answer(500) });
    const { account, uuid } = await hooked(hook);
    await newEvents(test.database, account, 60);
    await until(async () => {
      const row = await endpointRow(test.database, uuid);
      return row.paused_until !== null && row.lease === null;
    });
    await somethingElse();
    const burnt = hook.requests.length;
    expect(burnt).toBeGreaterThanOrEqual(10);
    expect(burnt).toBeLessThanOrEqual(13);
    const rows = await deliveriesOf(test.database, uuid);
    expect(madeAttempts(rows)).toBe(burnt);
    expect(rows.filter((row) => row.attempts === 0)).toHaveLength(60 - burnt);

    // Each pause is followed by one POST, and each is longer.
    let pausedMs = 0;
    for (let probe = 1; probe <= 4; probe++) {
      const { paused_until } = await endpointRow(test.database, uuid);
      const pauseMs = paused_until!.getTime() - clock.nowMs();
      expect(pauseMs).toBeGreaterThanOrEqual(10 * SECOND);
      if (probe > 2) expect(pauseMs).toBeGreaterThan(1.5 * pausedMs);
      pausedMs = pauseMs;
      advance(pauseMs);
      await hook.received(burnt + probe);
      await until(async () => {
        const row = await endpointRow(test.database, uuid);
        return row.failures === burnt + probe && row.lease === null;
      });
      await somethingElse();
      expect(hook.requests).toHaveLength(burnt + probe);
    }

    hook.behave(answer(200));
    advance(5 * MINUTE);
    await rowsWhen(uuid, (now) => now.every((row) => row.state === 'delivered'));
    expect(await endpointRow(test.database, uuid)).toMatchObject({
      failures: 0,
      failing_since: null,
      paused_until: null,
    });
  });

  it('starts again with a new URL', async () => {
    const hook = await receiver({ behave: answer(500) });
    const { account, id, uuid } = await hooked(hook);
    await newEvents(test.database, account, 30);
    await until(async () => (await endpointRow(test.database, uuid)).paused_until !== null);
    const moved = await receiver();
    await changeEndpoint(test.database, account, id, { url: moved.url });
    advance(33 * SECOND);
    await rowsWhen(uuid, (rows) => rows.every((row) => row.state === 'delivered'));
  });
});

describe('three days of nothing but failure', () => {
  it('disable the endpoint, with the reason for its owner', async () => {
    const hook = await receiver({ behave: answer(500) });
    const { account, id, uuid } = await hooked(hook);
    await newEvents(test.database, account, 1);
    await rowsWhen(uuid, ([row]) => row!.attempts === 1);
    const begun = clock.nowMs();
    advance(3 * DAY - MINUTE);
    await rowsWhen(uuid, ([row]) => row!.attempts === 2);
    expect((await endpointRow(test.database, uuid)).disabled_at).toBeNull();
    advance(6 * MINUTE);
    await rowsWhen(uuid, ([row]) => row!.attempts === 3);
    const endpoint = await getEndpoint(test.database, account, id);
    expect(endpoint).toMatchObject({
      disabledReason: 'failing',
      failingSince: new Date(begun).toISOString(),
      disabledAt: new Date(clock.nowMs()).toISOString(),
    });
    advance(DAY);
    await somethingElse();
    expect(hook.requests).toHaveLength(3);
  });

  it('do not count when something succeeded in between', async () => {
    const hook = await receiver({ behave: (_request, index) => answer(index === 1 ? 200 : 500) });
    const { account, uuid } = await hooked(hook);
    await newEvents(test.database, account, 1);
    await rowsWhen(uuid, ([row]) => row!.attempts === 1);
    advance(2 * DAY);
    await rowsWhen(uuid, ([row]) => row!.state === 'delivered');
    await newEvents(test.database, account, 1);
    await rowsWhen(uuid, (rows) => rows[1]!.attempts === 1);
    advance(2 * DAY);
    await rowsWhen(uuid, (rows) => rows[1]!.attempts === 2);
    expect((await endpointRow(test.database, uuid)).disabled_at).toBeNull();
  });
});

describe('a disabled endpoint', () => {
  it('keeps what waits and goes on when it is enabled', async () => {
    const hook = await receiver({ behave: answer(500) });
    const { account, id, uuid } = await hooked(hook);
    await newEvents(test.database, account, 1);
    await rowsWhen(uuid, ([row]) => row!.attempts === 1);
    await disableEndpoint(test.database, account, id, clock);
    advance(HOUR);
    await somethingElse();
    expect(hook.requests).toHaveLength(1);
    hook.behave(answer(200));
    await enableEndpoint(test.database, account, id);
    await rowsWhen(uuid, ([row]) => row!.state === 'delivered');
    expect(await endpointRow(test.database, uuid)).toMatchObject({ disabled_reason: null });
  });

  it('stops within a look while it has a backlog', async () => {
    const turnstile = gate();
    const hook = await receiver({ behave: turnstile.behave });
    const { account, id, uuid } = await hooked(hook);
    await newEvents(test.database, account, 7);
    await hook.received(4);
    await disableEndpoint(test.database, account, id, clock);
    await somethingElse();
    turnstile.open();
    await until(async () => (await endpointRow(test.database, uuid)).lease === null);
    const rows = await deliveriesOf(test.database, uuid);
    expect(rows.filter((row) => row.state === 'delivered')).toHaveLength(4);
    expect(rows.filter((row) => row.state === 'pending')).toHaveLength(3);
  });
});

describe('an answer to what was posted before', () => {
  it.each([
    [
      'its URL changed',
      (account: number, id: string, url: string) =>
        changeEndpoint(test.database, account, id, { url }),
    ],
    [
      'it was enabled again',
      async (account: number, id: string) => {
        await disableEndpoint(test.database, account, id, clock);
        await enableEndpoint(test.database, account, id);
      },
    ],
  ])('says nothing about the endpoint once %s', async (_, change) => {
    const late = gate(answer(410));
    const hook = await receiver({ behave: late.behave });
    const moved = await receiver();
    const { account, id, uuid } = await hooked(hook);
    await newEvents(test.database, account, 1);
    await hook.received(1);
    await change(account, id, moved.url);
    hook.behave(answer(200));
    late.open();
    await rowsWhen(uuid, ([row]) => row!.attempts === 1);
    expect(await endpointRow(test.database, uuid)).toMatchObject({
      failures: 0,
      disabled_at: null,
    });
    advance(33 * SECOND);
    await rowsWhen(uuid, ([row]) => row!.state === 'delivered');
  });
});

describe('in order', () => {
  const sequences = (hook: Receiver): number[] =>
    hook.requests.map(({ body }) => JSON.parse(body.toString()).payload.sequence);

  async function fiveEvents(account: number): Promise<void> {
    const [message] = await newMessages(test.database, account, 1);
    for (const kind of ['delivered', 'opened', 'clicked', 'opened', 'complained'] as const) {
      await recordEvents(test.database, [event(account, message!, kind)]);
    }
  }

  it('events come one after the other', async () => {
    const turnstile = gate();
    const hook = await receiver({ behave: turnstile.behave });
    const { account, uuid } = await hooked(hook, { fifo: true });
    await fiveEvents(account);
    await hook.received(1);
    await somethingElse();
    turnstile.open();
    await rowsWhen(uuid, (rows) => rows.every((row) => row.state === 'delivered'));
    expect(sequences(hook)).toEqual([1, 2, 3, 4, 5]);
    expect(turnstile.most()).toBe(1);
  });

  it('the rest waits behind a failure, and goes on when it is delivered or abandoned', async () => {
    const hook = await receiver({ behave: (_request, index) => answer(index === 1 ? 500 : 200) });
    const { account, id, uuid } = await hooked(hook, { fifo: true });
    await fiveEvents(account);
    await rowsWhen(uuid, (rows) => rows[1]!.attempts === 1);
    await somethingElse();
    expect(sequences(hook)).toEqual([1, 2]);
    // Also behind one that is sent again before it.
    const first = { endpointId: id, from: new Date(0), to: new Date(8e12), types: ['delivery'] };
    await replay(test.database, account, first, { nowMs: clock.nowMs() });
    await hook.received(3);
    await rowsWhen(uuid, (rows) => rows[0]!.state === 'delivered');
    await somethingElse();
    expect(sequences(hook)).toEqual([1, 2, 1]);
    hook.behave(({ body }) =>
      answer(JSON.parse(body.toString()).payload.sequence === 2 ? 500 : 200),
    );
    for (let attempt = 2; attempt <= 6; attempt++) {
      advance(7 * HOUR);
      await rowsWhen(uuid, (rows) => rows[1]!.attempts === attempt);
    }
    const rows = await rowsWhen(uuid, (now) => now.every((row) => row.state !== 'pending'));
    expect(rows.map((row) => row.state)).toEqual([
      'delivered',
      'abandoned',
      'delivered',
      'delivered',
      'delivered',
    ]);
    expect(sequences(hook)).toEqual([1, 2, 1, 2, 2, 2, 2, 2, 3, 4, 5]);
  });
});

describe('leases', () => {
  it('of a dead worker end, and another sends what was in hand again', async () => {
    const turnstile = gate();
    const hook = await receiver({ behave: turnstile.behave });
    const { account, uuid } = await hooked(hook);
    await newEvents(test.database, account, 2);
    await hook.received(2);
    // As if the lease were that of a process that was killed.
    await test.database.query('UPDATE webhook_endpoints SET lease = $2 WHERE id = $1', [
      uuid,
      randomUUID(),
    ]);
    const other = startWorker();
    // A clock of ours that runs ahead ends nothing: the database's does.
    clock.advance(HOUR);
    other.wake();
    await somethingElse();
    expect(hook.requests).toHaveLength(2);
    await test.database.query('UPDATE webhook_endpoints SET leased_until = now() WHERE id = $1', [
      uuid,
    ]);
    other.wake();
    await hook.received(4);
    turnstile.open();
    const rows = await rowsWhen(uuid, (now) => now.every((row) => row.state === 'delivered'));
    expect(rows).toHaveLength(2);
    const ids = hook.requests.map(({ headers }) => headers['x-sm-event-id']);
    expect(new Set(ids).size).toBe(2);
  });

  it('of a living worker are extended', async () => {
    const turnstile = gate();
    const hook = await receiver({ behave: turnstile.behave });
    await workers[0]!.stop();
    workers = [];
    startWorker(300);
    const { account, uuid } = await hooked(hook);
    await newEvents(test.database, account, 1);
    await hook.received(1);
    startWorker(300);
    const leasedUntil = async () => {
      const [row] = await test.database.query<{ leased_until: Date }>(
        'SELECT leased_until FROM webhook_endpoints WHERE id = $1',
        [uuid],
      );
      return row!.leased_until.getTime();
    };
    for (let passed = 0; passed < 5; passed++) {
      const before = await leasedUntil();
      await until(async () => (await leasedUntil()) > before);
    }
    await somethingElse();
    turnstile.open();
    await rowsWhen(uuid, ([row]) => row!.state === 'delivered');
    expect(hook.requests).toHaveLength(1);
  });

  it('are given back by a worker that stops, after what is in hand', async () => {
    const turnstile = gate();
    const hook = await receiver({ behave: turnstile.behave });
    const { account, uuid } = await hooked(hook);
    await newEvents(test.database, account, 10);
    await hook.received(4);
    const stopped = workers[0]!.stop();
    turnstile.open();
    await stopped;
    const rows = await deliveriesOf(test.database, uuid);
    expect(rows.filter((row) => row.state === 'delivered')).toHaveLength(4);
    expect(rows.filter((row) => row.state === 'pending')).toHaveLength(6);
    expect((await endpointRow(test.database, uuid)).lease).toBeNull();
    expect(hook.requests).toHaveLength(4);
  });
});

describe('retention', () => {
  it('an event that is gone is given up', async () => {
    const hook = await receiver({ behave: answer(500) });
    const { account, uuid } = await hooked(hook);
    await newEvents(test.database, account, 1);
    await rowsWhen(uuid, ([row]) => row!.attempts === 1);
    await test.database.query('DELETE FROM events WHERE account_id = $1', [account]);
    advance(MINUTE);
    const [row] = await rowsWhen(uuid, ([first]) => first!.state !== 'pending');
    expect(row).toMatchObject({ state: 'abandoned', attempts: 1 });
    expect(row!.error).toContain('past its retention');
    expect(hook.requests).toHaveLength(1);
  });

  it('due rows go with their log', async () => {
    const hook = await receiver();
    const { account, id, uuid } = await hooked(hook);
    const [message] = await newMessages(test.database, account, 1);
    await recordEvents(test.database, [event(account, message!)]);
    await rowsWhen(uuid, ([row]) => row!.state === 'delivered');
    await disableEndpoint(test.database, account, id, clock);
    await test.database.query(
      `INSERT INTO webhook_due (account_id, endpoint_id, delivery_id, message_id, event_id, due_at)
       SELECT account_id, endpoint_id, id, message_id, event_id, now() FROM webhook_deliveries WHERE endpoint_id = $1`,
      [uuid],
    );
    const waiting = () =>
      test.database.query('SELECT FROM webhook_due WHERE endpoint_id = $1', [uuid]);
    await pruneDue(test.database, Date.now() + 89 * DAY, 90);
    expect(await waiting()).toHaveLength(1);
    await pruneDue(test.database, Date.now() + 92 * DAY, 90);
    expect(await waiting()).toHaveLength(0);
  });
});
