// Webhooks over the API: an endpoint fails, its delivery is inspected and retried, and arrives;
// test events, rotation, replay; another account's webhooks cannot be found; every change is in the
// audit without its secret.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandmartin } from '../../src/client/sandmartin.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let receiver: Server;
let status = 200;
const bodies: string[] = [];

beforeAll(async () => {
  service = await startTestService({ WEBHOOK_ALLOW: '127.0.0.0/8' });
  receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      bodies.push(body);
      response.writeHead(status).end('what the receiver says');
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await new Promise((resolve) => receiver.close(resolve));
  await service.stop();
});

const hookUrl = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;

async function open() {
  const { key } = await service.account({ scopes: ['email:send', 'admin'] });
  return { key, api: new Sandmartin({ baseUrl: service.url, apiKey: key, retries: 0 }) };
}

it('a delivery fails → is tried again by hand → is delivered', async () => {
  const { key, api } = await open();
  status = 500;
  const { id, secret } = await api.webhooks.create({ url: hookUrl(), event_types: ['delivery'] });
  expect(secret).toMatch(/^whsec_/);
  expect(await api.webhooks.test({ id })).toMatchObject({
    ...{ ok: false, status: 500, response_body: 'what the receiver says' },
  });

  const sent = await service.send(key, anEmail());
  const failed = await until(async () => {
    const { data } = await api.webhooks.listDeliveries({ id });
    return data.find((it) => it.status === 500);
  });
  expect(failed).toMatchObject({
    state: 'pending',
    attempts: 1,
    event_type: 'delivery',
    message_id: sent.body.id,
    next_attempt_at: expect.any(String),
  });
  expect(await api.webhooks.get({ id })).toMatchObject({ waiting: 1, failures: 1 });
  const which = { id, delivery_id: failed.id };
  const detail = await api.webhooks.getDelivery(which);
  expect(detail.request).toMatchObject({ url: hookUrl(), body: bodies.at(-1) });
  expect(detail.request!.headers['x-sm-event-id']).toBe(failed.event_id);
  expect(detail.response).toMatchObject({ status: 500, body: 'what the receiver says' });

  status = 200;
  expect(await api.webhooks.retryDelivery(which)).toMatchObject({ id: failed.id });
  await until(async () => {
    const { data } = await api.webhooks.listDeliveries({ id, state: 'delivered' });
    return data.some((it) => it.id === failed.id);
  });
  expect((await api.webhooks.listDeliveries({ id, state: 'pending' })).data).toEqual([]);
});

it('past events are counted first, then posted again with the same ids', async () => {
  const { key, api } = await open();
  status = 200;
  const { id } = await api.webhooks.create({ url: hookUrl(), event_types: ['delivery'] });
  await service.send(key, anEmail());
  await until(async () => (await api.webhooks.listDeliveries({ id, state: 'delivered' })).data[0]);
  const wish = { id, from: '2020-01-01T00:00:00Z', until: '2999-01-01T00:00:00Z' };
  expect(await api.webhooks.replay({ ...wish, dry_run: true })).toEqual({ count: 1 });
  const before = bodies.length;
  expect(await api.webhooks.replay(wish)).toEqual({ count: 1 });
  await until(() => bodies.length > before);
  expect(bodies.at(-1)).toBe(bodies[before - 1]);
  expect(await api.webhooks.replay({ id, abandoned: true })).toEqual({ count: 0 });

  for (const wrong of [
    {},
    { from: 'yesterday' },
    { from: wish.until, until: wish.from },
    { abandoned: true, from: wish.from },
  ]) {
    await expect(api.webhooks.replay({ id, ...wrong })).rejects.toMatchObject({ status: 400 });
  }
});

it('is rotated, turned off and on, changed, removed; the audit has it all but the secret', async () => {
  const { api } = await open();
  const made = await api.webhooks.create({ url: hookUrl() });
  const { id } = made;
  const rotated = await api.webhooks.rotate({ id });
  expect(rotated.secret).not.toBe(made.secret);
  expect(rotated.previous_secret_until).not.toBeNull();
  expect(await api.webhooks.update({ id, enabled: false })).toMatchObject({
    ...{ disabled_reason: 'owner', disabled_at: expect.any(String) },
  });
  expect(await api.webhooks.update({ id, enabled: true, fifo: true })).toMatchObject({
    ...{ disabled_at: null, fifo: true },
  });
  await api.webhooks.remove({ id });
  expect((await api.webhooks.list()).data).toEqual([]);
  await expect(api.webhooks.listDeliveries({ id })).rejects.toMatchObject({ status: 404 });
  await expect(api.webhooks.remove({ id })).rejects.toMatchObject({ status: 404 });

  const { data } = await api.audit.list({ target: id });
  expect(data.map(({ action }) => action)).toEqual([
    'remove_webhook_endpoint',
    'update_webhook_endpoint',
    'update_webhook_endpoint',
    'rotate_webhook_secret',
    'create_webhook_endpoint',
  ]);
  expect(data[1]).toMatchObject({ before: { enabled: false }, after: { enabled: true } });
  expect(JSON.stringify(data)).not.toContain('whsec_');
});

describe('what is another account’s', () => {
  it('is not there, whatever is asked of it', async () => {
    const [ours, theirs] = [await open(), await open()];
    status = 200;
    const { id } = await theirs.api.webhooks.create({ url: hookUrl() });
    await service.send(theirs.key, anEmail());
    const [delivery] = await until(async () => {
      const { data } = await theirs.api.webhooks.listDeliveries({ id });
      return data.length > 0 && data;
    });
    const delivery_id = delivery!.id;
    const { webhooks } = ours.api;
    const tries: (() => PromiseLike<unknown>)[] = [
      () => webhooks.get({ id }),
      () => webhooks.update({ id, enabled: false }),
      () => webhooks.remove({ id }),
      () => webhooks.rotate({ id }),
      () => webhooks.test({ id }),
      () => webhooks.listDeliveries({ id }),
      () => webhooks.getDelivery({ id, delivery_id }),
      () => webhooks.retryDelivery({ id, delivery_id }),
      () => webhooks.replay({ id, abandoned: true }),
    ];
    for (const attempt of tries) {
      await expect(Promise.resolve().then(attempt)).rejects.toMatchObject({ status: 404 });
    }
    // Nor by way of an endpoint of one's own.
    const own = await webhooks.create({ url: hookUrl() });
    await expect(webhooks.getDelivery({ id: own.id, delivery_id })).rejects.toMatchObject({
      status: 404,
    });
    expect(await theirs.api.webhooks.get({ id })).toMatchObject({
      ...{ disabled_at: null, previous_secret_until: null },
    });
  });
});
