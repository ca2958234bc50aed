// The webhook event `subscription`: it is sent to endpoints that name it, for every change of who
// gets email, signed and replayable.
import type { Agent } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bytesToUuid, showId } from '../../src/ids.ts';
import type { Vault } from '../../src/store/vault.ts';
import {
  addSuppression,
  addSuppressions,
  removeSuppression,
} from '../../src/suppressions/listing.ts';
import { suppress } from '../../src/suppressions/suppressions.ts';
import { choosePreferences, unsubscribe } from '../../src/suppressions/unsubscribes.ts';
import { listDeliveries } from '../../src/webhooks/deliveries.ts';
import { replay } from '../../src/webhooks/replay.ts';
import { sign } from '../../src/webhooks/sign.ts';
import type { WebhookWorker } from '../../src/webhooks/worker.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Receiver, startReceiver } from '../support/https-receiver.ts';
import { until } from '../support/until.ts';
import {
  authority,
  newAccount,
  newEndpoint,
  newEvents,
  newMessages,
  openVault,
  startTestWorker,
  trustingAgent,
} from '../webhooks/webhook-support.ts';

let test: TestDatabase;
let vault: Vault;
let agent: Agent;
let hook: Receiver;
let worker: WebhookWorker;

beforeAll(async () => {
  test = await createTestDatabase();
  vault = await openVault(test.database);
  agent = trustingAgent();
  hook = await startReceiver({ authority });
  const clock = { nowMs: () => Date.now() };
  worker = startTestWorker({ database: test.database, vault, clock, agent });
});
afterAll(async () => {
  await worker.stop();
  await hook.close();
  await agent.destroy();
  await test.drop();
});

const bodies = (from: number) =>
  hook.requests.slice(from).map(({ body }) => JSON.parse(body.toString()));

it('tells of every change in the order they came, to who asked for it by name', async () => {
  const account = await newAccount(test.database);
  const wanted = { url: hook.url, fifo: true, eventTypes: ['subscription'] };
  const { secret } = await newEndpoint(test.database, account, wanted);
  const [message] = await newMessages(test.database, account, 1);
  const messageUuid = bytesToUuid(message!);
  const address = 'Ada@Example.net';
  const entry = { accountId: account, address, messageUuid };

  await suppress(test.database, [{ ...entry, reason: 'bounce' }], 'report');
  await suppress(test.database, [{ ...entry, reason: 'complaint' }], 'report');
  await removeSuppression(test.database, account, address, { origin: 'dashboard' });
  await unsubscribe(test.database, [{ ...entry, stream: 'news' }], 'recipient');
  await unsubscribe(test.database, [{ ...entry, stream: 'news' }], 'recipient');
  const asked = { asked: ['news'], wanted: ['news'], messageUuid };
  await choosePreferences(test.database, account, address, asked);
  await choosePreferences(test.database, account, address, { ...asked, wanted: [], none: true });

  const received = (await hook.received(5)).slice(-5);
  const told = received.map(({ body }) => JSON.parse(body.toString()));
  const id = showId('msg_', message!);
  const shape = (payload: object) => ({
    event_type: 'subscription',
    user_id: account,
    payload: {
      recipients: ['ada@example.net'],
      event_timestamp: expect.stringMatching(/^\d{4}-.*\.\d{6}Z$/),
      ...payload,
    },
  });
  expect(told).toEqual([
    shape({
      ...{ sm_mail_id: id, stream: null, suppressing: true, reason: 'bounce', origin: 'report' },
    }),
    shape({
      ...{ sm_mail_id: null, stream: null, suppressing: false, reason: 'bounce' },
      origin: 'dashboard',
    }),
    shape({
      ...{ sm_mail_id: id, stream: 'news', suppressing: true, reason: 'unsubscribe' },
      origin: 'recipient',
    }),
    shape({
      ...{ sm_mail_id: null, stream: 'news', suppressing: false, reason: 'unsubscribe' },
      origin: 'preferences',
    }),
    shape({
      ...{ sm_mail_id: id, stream: null, suppressing: true, reason: 'unsubscribe' },
      origin: 'preferences',
    }),
  ]);
  for (const { body, headers } of received) {
    expect(headers['x-sm-signature']).toBe(sign(body, secret));
  }
  const [delivery] = await listDeliveries(test.database, account, { limit: 1 });
  expect(delivery).toMatchObject({ eventType: 'subscription', messageId: null });
});

it('does not come to an endpoint that names no types, nor to another account', async () => {
  const [account, other] = [await newAccount(test.database), await newAccount(test.database)];
  await newEndpoint(test.database, account, { url: hook.url });
  await newEndpoint(test.database, other, { url: hook.url, eventTypes: ['subscription'] });
  const before = hook.requests.length;
  await addSuppression(test.database, account, 'a@example.net', { origin: 'api' });
  await newEvents(test.database, account, 1);
  await hook.received(before + 1);
  expect(bodies(before)).toMatchObject([{ event_type: 'delivery', user_id: account }]);
});

it('is replayed with the same bytes, also for what came before the endpoint was there', async () => {
  const account = await newAccount(test.database);
  const from = new Date(Date.now() - 60_000);
  const addresses = Array.from({ length: 20 }, (_, n) => `many-${n + 10}@example.net`);
  const how = { reason: 'unsubscribe', stream: 'news', origin: 'api' } as const;
  await addSuppressions(test.database, account, addresses, how);
  const wanted = { url: hook.url, eventTypes: ['subscription'], fifo: true };
  const { id } = await newEndpoint(test.database, account, wanted);
  const before = hook.requests.length;
  const window = { endpointId: id, from, to: new Date(Date.now() + 60_000) };
  const again = () => replay(test.database, account, window, { nowMs: Date.now() });
  expect(await again()).toEqual({ count: 20 });
  await hook.received(before + 20);
  const first = hook.requests.slice(before, before + 20).map(({ body }) => body.toString());
  expect(first.map((body) => JSON.parse(body).payload.recipients[0])).toEqual(addresses);
  await until(async () => {
    const rows = await listDeliveries(test.database, account, { limit: 50 });
    return rows.every(({ state }) => state === 'delivered');
  });
  expect(await again()).toEqual({ count: 20 });
  await hook.received(before + 40);
  const second = hook.requests.slice(before + 20).map(({ body }) => body.toString());
  expect(new Set(second)).toEqual(new Set(first));

  const all = await newEndpoint(test.database, account, { url: hook.url });
  const none = replay(
    test.database,
    account,
    { ...window, endpointId: all.id },
    { nowMs: Date.now() },
  );
  expect(await none).toEqual({ count: 0 });
});
