// Endpoints, the log, replays and test events: what the CLI and the dashboard call, over a real
// database and receivers.
import type { Agent } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { showId } from '../../src/ids.ts';
import type { Vault } from '../../src/store/vault.ts';
import { listDeliveries } from '../../src/webhooks/deliveries.ts';
import {
  accountOfEndpoint,
  changeEndpoint,
  createEndpoint,
  disableEndpoint,
  enableEndpoint,
  getEndpoint,
  listEndpoints,
  rotateSecret,
} from '../../src/webhooks/endpoint.ts';
import { HOOK_TYPES } from '../../src/webhooks/event-body.ts';
import { endpointOfDelivery, replay, type Selection } from '../../src/webhooks/replay.ts';
import { sendTestEvent } from '../../src/webhooks/test-event.ts';
import { verify, verifyStandard } from '../../src/webhooks/verify.ts';
import type { WebhookWorker } from '../../src/webhooks/worker.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  answer,
  type Receiver,
  type ReceiverOptions,
  startReceiver,
} from '../support/https-receiver.ts';
import { until } from '../support/until.ts';
import {
  authority,
  deliveriesOf,
  event,
  guard,
  movingClock,
  newAccount,
  newEndpoint,
  newEvents,
  newMessages,
  openVault,
  recordEvents,
  startTestWorker,
  trustingAgent,
} from './webhook-support.ts';

const clock = movingClock();
const HOUR = 3_600_000;
let test: TestDatabase;
let vault: Vault;
let agent: Agent;
let worker: WebhookWorker;
const receivers: Receiver[] = [];

beforeAll(async () => {
  test = await createTestDatabase();
  vault = await openVault(test.database);
  agent = trustingAgent();
  worker = startTestWorker({ database: test.database, vault, clock, agent });
});
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close();
});
afterAll(async () => {
  await worker.stop();
  await agent.destroy();
  await test.drop();
});

async function receiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const started = await startReceiver({ authority, ...options });
  receivers.push(started);
  return started;
}

async function hooked(hook: Receiver, eventTypes: string[] | null = null) {
  const account = await newAccount(test.database);
  return { account, ...(await newEndpoint(test.database, account, { url: hook.url, eventTypes })) };
}

async function settled(uuid: string, count: number) {
  return await until(async () => {
    const rows = await deliveriesOf(test.database, uuid);
    return rows.length === count && rows.every((row) => row.state !== 'pending') && rows;
  });
}

/** The last failure is a real one; worker.test.ts walks through all six. */
async function abandonAll(uuid: string, count: number): Promise<void> {
  const rowsWith = (attempts: number) =>
    until(async () => {
      const rows = await deliveriesOf(test.database, uuid);
      return rows.length === count && rows.every((row) => row.attempts === attempts);
    });
  await rowsWith(1);
  await test.database.query('UPDATE webhook_due SET attempts = 5 WHERE endpoint_id = $1', [uuid]);
  clock.advance(60_000);
  await rowsWith(6);
}

describe('an endpoint', () => {
  const deps = () => ({ guard, clock, vault });

  it('is made with a secret that is shown once', async () => {
    const account = await newAccount(test.database);
    const wanted = { url: 'https://hooks.example/a', eventTypes: ['bounce', 'open', 'bounce'] };
    const made = await createEndpoint(test.database, account, wanted, deps());
    expect(made).toEqual({
      id: expect.stringMatching(/^whe_[0-9A-Z]{26}$/),
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const [listed, ...rest] = await listEndpoints(test.database, account);
    expect(rest).toEqual([]);
    expect(listed).toEqual({
      id: made.id,
      accountId: account,
      url: 'https://hooks.example/a',
      eventTypes: ['bounce', 'open'],
      fifo: false,
      createdAt: expect.any(String),
      disabledAt: null,
      disabledReason: null,
      failures: 0,
      failingSince: null,
      pausedUntil: null,
      previousSecretUntil: null,
    });
    expect(JSON.stringify(listed)).not.toContain(made.secret);
    expect(await accountOfEndpoint(test.database, made.id)).toBe(account);
  });

  it.each([
    [{ url: 'http://example.com/' }, /https/],
    [{ url: 'https://10.0.0.1/' }, /private/],
    [{ url: 'https://user:secret@example.com/' }, /user name or password/],
    [{ url: 'https://example.com:25/' }, /Port 25/],
    [{ url: 'https://example.com/', eventTypes: ['sent'] }, /"sent" is not a webhook event type/],
  ])('is refused: %o', async (wanted, detail) => {
    const account = await newAccount(test.database);
    const strict = { trusted: guard.trusted, resolve: async () => ['93.184.216.34'] };
    const making = createEndpoint(test.database, account, wanted, { guard: strict, clock, vault });
    await expect(making).rejects.toMatchObject({
      code: 'invalid',
      detail: expect.stringMatching(detail),
    });
    expect(await listEndpoints(test.database, account)).toEqual([]);
  });

  it('needs its account, and an account has fifty at most', async () => {
    const url = 'https://hooks.example/';
    await expect(createEndpoint(test.database, 999_999, { url }, deps())).rejects.toMatchObject({
      code: 'not-found',
    });
    const account = await newAccount(test.database);
    // All at once: each must count the others.
    const made = await Promise.allSettled(
      Array.from({ length: 52 }, () => createEndpoint(test.database, account, { url }, deps())),
    );
    const refused = made.flatMap((it) => (it.status === 'rejected' ? it.reason.detail : []));
    expect(refused).toEqual(Array(2).fill(expect.stringContaining('at most 50 webhook endpoints')));
  });

  it('can be changed, disabled, enabled and rotated by its account alone', async () => {
    const account = await newAccount(test.database);
    const stranger = await newAccount(test.database);
    const { id, secret } = await newEndpoint(test.database, account, { url: 'https://a.example/' });
    const change = { url: 'https://b.example/x', eventTypes: ['click'], fifo: true };
    expect(await changeEndpoint(test.database, account, id, change)).toMatchObject(change);
    expect(await changeEndpoint(test.database, account, id, { eventTypes: null })).toMatchObject({
      ...change,
      eventTypes: null,
    });
    expect(await disableEndpoint(test.database, account, id, clock)).toMatchObject({
      disabledReason: 'owner',
    });
    expect(await enableEndpoint(test.database, account, id)).toMatchObject({ disabledAt: null });
    const rotated = await rotateSecret(test.database, account, id, { clock, vault });
    expect(rotated.secret).not.toBe(secret);
    const daysAhead = (Date.parse(rotated.previousSecretUntil) - clock.nowMs()) / (24 * HOUR);
    expect(daysAhead).toBeCloseTo(1, 2);
    for (const attempt of [
      () => getEndpoint(test.database, stranger, id),
      () => changeEndpoint(test.database, stranger, id, change),
      () => disableEndpoint(test.database, stranger, id, clock),
      () => enableEndpoint(test.database, stranger, id),
      () => rotateSecret(test.database, stranger, id, { clock, vault }),
      () => getEndpoint(test.database, account, 'whe_nonsense'),
      () => replay(test.database, stranger, { endpointId: id, abandoned: true }, { nowMs: 0 }),
      () => sendTestEvent(test.database, stranger, id, 'open', { agent, clock, vault }),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: 'not-found' });
    }
    expect(await listEndpoints(test.database, stranger)).toEqual([]);
  });
});

describe('the log', () => {
  it('shows request and answer, newest first, page by page, to its account alone', async () => {
    const hook = await receiver({ behave: (_request, index) => answer(200, `answer ${index}`) });
    const { account, id, uuid } = await hooked(hook);
    const messages = await newMessages(test.database, account, 3);
    for (const message of messages) await recordEvents(test.database, [event(account, message)]);
    await settled(uuid, 3);
    const all = await listDeliveries(test.database, account, { limit: 10 });
    expect(all.map((it) => it.messageId)).toEqual(
      messages.map((message) => showId('msg_', message)).reverse(),
    );
    for (const delivery of all) {
      const request = hook.requests.find(
        ({ headers }) => headers['x-sm-event-id'] === delivery.eventId,
      );
      expect(delivery).toMatchObject({
        id: expect.stringMatching(/^whd_[0-9A-Z]{26}$/),
        endpointId: id,
        eventType: 'delivery',
        state: 'delivered',
        attempts: 1,
        nextAttemptAt: null,
        request: { body: request!.body.toString() },
        response: { status: 200, body: expect.stringMatching(/^answer \d$/), truncated: false },
        error: null,
        durationMs: expect.any(Number),
      });
    }
    const [newest] = await listDeliveries(test.database, account, { limit: 1 });
    expect(newest).toEqual(all[0]);
    const rest = { limit: 10, before: newest!.id, endpointId: id };
    expect(await listDeliveries(test.database, account, rest)).toEqual(all.slice(1));
    const pending = { limit: 10, state: 'pending' } as const;
    expect(await listDeliveries(test.database, account, pending)).toEqual([]);
    const stranger = await newAccount(test.database);
    expect(await listDeliveries(test.database, stranger, { limit: 10, endpointId: id })).toEqual(
      [],
    );
    expect((await endpointOfDelivery(test.database, newest!.id)).account).toBe(account);
  });
});

describe('a replay', () => {
  const nowMs = () => clock.nowMs();
  const eventIds = (hook: Receiver) =>
    hook.requests.map(({ headers }) => headers['x-sm-event-id']!);

  it('of one delivery sends the same event again', async () => {
    const hook = await receiver();
    const { account, uuid } = await hooked(hook);
    await newEvents(test.database, account, 2);
    await settled(uuid, 2);
    const [delivery] = await listDeliveries(test.database, account, { limit: 1 });
    const selection = { deliveryId: delivery!.id };
    expect(await replay(test.database, account, selection, { nowMs: nowMs() })).toEqual({
      count: 1,
    });
    const [, , third] = await hook.received(3);
    const first = hook.requests.find(
      ({ headers }) => headers['x-sm-event-id'] === third!.headers['x-sm-event-id'],
    );
    expect(third!.headers['x-sm-event-id']).toBe(delivery!.eventId);
    expect(third!.body.equals(first!.body)).toBe(true);
    expect(third!.headers['x-sm-attempt']).toBe('1');
    await settled(uuid, 2);
    await expect(
      replay(test.database, await newAccount(test.database), selection, { nowMs: nowMs() }),
    ).rejects.toMatchObject({ code: 'not-found' });
  });

  it('of one that waits for its retry only brings it forward', async () => {
    const hook = await receiver({ behave: (_request, index) => answer(index === 0 ? 500 : 200) });
    const { account, uuid } = await hooked(hook);
    await newEvents(test.database, account, 1);
    await until(async () => (await deliveriesOf(test.database, uuid))[0]!.attempts === 1);
    const [delivery] = await listDeliveries(test.database, account, { limit: 1 });
    await replay(test.database, account, { deliveryId: delivery!.id }, { nowMs: nowMs() });
    const [row] = await settled(uuid, 1);
    expect(row).toMatchObject({ state: 'delivered', attempts: 2 });
  });

  it('of all abandoned counts first, then sends each once', async () => {
    const hook = await receiver({ behave: answer(500) });
    const { account, id, uuid } = await hooked(hook);
    await newEvents(test.database, account, 3);
    await abandonAll(uuid, 3);
    const selection = { endpointId: id, abandoned: true } as const;
    const before = hook.requests.length;
    expect(before).toBe(6);
    hook.behave(answer(200));
    const dry = { nowMs: nowMs(), dryRun: true };
    expect(await replay(test.database, account, selection, dry)).toEqual({ count: 3 });
    expect((await deliveriesOf(test.database, uuid)).map((row) => row.state)).toEqual(
      Array(3).fill('abandoned'),
    );
    expect(await replay(test.database, account, selection, { nowMs: nowMs() })).toEqual({
      count: 3,
    });
    const rows = await settled(uuid, 3);
    expect(rows.map((row) => row.state)).toEqual(Array(3).fill('delivered'));
    expect(rows.map((row) => row.attempts)).toEqual([1, 1, 1]);
    expect(new Set(eventIds(hook).slice(before))).toEqual(new Set(eventIds(hook).slice(0, before)));
    expect(await replay(test.database, account, selection, dry)).toEqual({ count: 0 });
  });

  it('of a time sends every wanted event once, also those the endpoint never had', async () => {
    const hook = await receiver();
    const account = await newAccount(test.database);
    const from = new Date(Date.now() - 1000);
    const [message] = await newMessages(test.database, account, 1);
    // Before the endpoint was there.
    await recordEvents(test.database, [
      event(account, message!, 'delivered'),
      event(account, message!, 'opened'),
      event(account, message!, 'complained'),
    ]);
    const wanted = { url: hook.url, eventTypes: ['delivery', 'open', 'click'] };
    const { id, uuid } = await newEndpoint(test.database, account, wanted);
    await recordEvents(test.database, [event(account, message!, 'clicked')]);
    await settled(uuid, 1);
    // While it was disabled.
    await disableEndpoint(test.database, account, id, clock);
    await recordEvents(test.database, [event(account, message!, 'clicked')]);
    const all: Selection = { endpointId: id, from, to: new Date(Date.now() + 60_000) };
    const dry = { nowMs: nowMs(), dryRun: true };
    expect(await replay(test.database, account, all, dry)).toEqual({ count: 4 });
    expect(await replay(test.database, account, { ...all, types: ['click'] }, dry)).toEqual({
      count: 2,
    });
    expect(await replay(test.database, account, { ...all, types: ['complaint'] }, dry)).toEqual({
      count: 0,
    });
    expect(
      await replay(test.database, account, { ...all, to: from, from: new Date(0) }, dry),
    ).toEqual({
      count: 0,
    });
    await expect(replay(test.database, account, all, { nowMs: nowMs() })).rejects.toMatchObject({
      detail: expect.stringContaining('Enable it first'),
    });
    await enableEndpoint(test.database, account, id);
    expect(await replay(test.database, account, all, { nowMs: nowMs() })).toEqual({ count: 4 });
    await settled(uuid, 4);
    const sequences = hook.requests.map(({ body }) => JSON.parse(body.toString()).payload.sequence);
    expect(sequences.toSorted()).toEqual([1, 2, 4, 4, 5]);
    // Every event has its row now: again it is the same four.
    expect(await replay(test.database, account, all, { nowMs: nowMs() })).toEqual({ count: 4 });
    await settled(uuid, 4);
    expect(hook.requests).toHaveLength(9);
    expect(new Set(eventIds(hook)).size).toBe(4);
  });

  it('of no time is refused', async () => {
    const { account, id } = await hooked(await receiver());
    const selection = { endpointId: id, from: new Date(2000), to: new Date(1000) };
    await expect(
      replay(test.database, account, selection, { nowMs: nowMs() }),
    ).rejects.toMatchObject({ code: 'invalid' });
  });
});

describe('a test event', () => {
  it.each(HOOK_TYPES)('of type %s goes out signed and tells the answer', async (type) => {
    const hook = await receiver({ behave: answer(202, 'got it') });
    const { account, id, uuid, secret } = await hooked(hook);
    const rotated = await rotateSecret(test.database, account, id, { clock, vault });
    const result = await sendTestEvent(test.database, account, id, type, { agent, clock, vault });
    expect(result).toMatchObject({ ok: true, status: 202, responseBody: 'got it' });
    const [request] = hook.requests;
    expect(request!.headers).toMatchObject({
      'x-sm-event-id': result.eventId,
      'x-sm-attempt': '1',
    });
    expect(request!.body.toString()).toBe(result.request.body);
    expect(JSON.parse(result.request.body)).toMatchObject({
      event_type: type,
      user_id: account,
      payload: { tags: ['test'], sequence: 1 },
    });
    expect(verify(request!.body, request!.headers['x-sm-signature'], rotated.secret)).toBe(true);
    const at = { nowMs: clock.nowMs() };
    expect(verifyStandard(request!.body, request!.headers, secret, at)).toBe(true);
    expect(await deliveriesOf(test.database, uuid)).toEqual([]);
  });

  it('that fails says why', async () => {
    const { account, id } = await hooked(await receiver({ certificate: 'unknown-ca' }));
    const result = await sendTestEvent(test.database, account, id, 'open', { agent, clock, vault });
    expect(result).toMatchObject({ ok: false, error: { kind: 'tls' } });
  });
});
