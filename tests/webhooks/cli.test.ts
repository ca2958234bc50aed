// The webhook commands as operators and scripts use them, and the whole way from a send to a
// receiver.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Command } from 'commander';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { registerWebhook } from '../../src/cli/webhook.ts';
import { verify } from '../../src/webhooks/verify.ts';
import { answer, type Receiver, startReceiver } from '../support/https-receiver.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';
import { event, newMessages, recordEvents } from './webhook-support.ts';

const WEBHOOK_ALLOW = '127.0.0.0/8';
let service: TestService;
let account: TestAccount;
let receiver: Receiver;

beforeAll(async () => {
  service = await startTestService({ WEBHOOK_ALLOW });
  account = await service.account();
  // WEBHOOK_ALLOW permits http there, so the service in this process needs no CA of ours.
  receiver = await startReceiver({ plain: true });
  delete process.env.BASE_URL; // the test runner's own
  Object.assign(process.env, { DATABASE_URL: service.databaseUrl, WEBHOOK_ALLOW });
});
afterAll(async () => {
  await receiver.close();
  await service.stop();
});

/** In this process, since each of its own would compile everything first; `listen` below is one. */
async function run(...args: string[]): Promise<string> {
  const written: string[] = [];
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  const program = new Command();
  registerWebhook(program);
  try {
    await program.parseAsync(['webhook', ...args], { from: 'user' });
  } finally {
    stdout.mockRestore();
  }
  return written.join('');
}

const json = async (...args: string[]) => JSON.parse(await run(...args, '--json'));

it('from a send to a signed event, its log and its replay', async () => {
  const id = String(account.id);
  const added = await json('add', '--account', id, '--url', receiver.url, '--event', 'delivery');
  expect(added).toMatchObject({ secret: expect.stringMatching(/^whsec_/), disabled_at: null });
  const sent = await service.send(account.key, anEmail({ tags: ['welcome'] }));
  expect(sent.status).toBe(202);
  const [request] = await receiver.received(1);
  expect(verify(request!.body, request!.headers['x-sm-signature'], added.secret)).toBe(true);
  expect(JSON.parse(request!.body.toString())).toMatchObject({
    event_type: 'delivery',
    user_id: account.id,
    payload: { sm_mail_id: sent.body.id, tags: ['welcome'], sequence: 1 },
  });

  const deliveries = await until(async () => {
    const listed = await json('deliveries', '--account', id);
    return listed[0].state === 'delivered' && listed;
  });
  expect(deliveries).toMatchObject([
    {
      endpoint_id: added.id,
      message_id: sent.body.id,
      event_id: request!.headers['x-sm-event-id'],
      status: 200,
    },
  ]);
  expect(await json('delivery', deliveries[0].id)).toMatchObject({
    request: { body: request!.body.toString() },
    response: { status: 200, body: 'ok' },
  });
  const from = ['--from', new Date(Date.now() - 600_000).toISOString()];
  expect(await json('list', '--account', id)).toMatchObject([
    { id: added.id, url: receiver.url, event_types: ['delivery'] },
  ]);
  expect(await run('list')).toContain(
    `${added.id}  ${id}        ${receiver.url}  delivery  enabled`,
  );
  expect(await run('deliveries', '--endpoint', added.id)).toContain(sent.body.id);
  expect(await json('replay', added.id, ...from, '--event', 'delivery', '--dry-run')).toEqual({
    count: 1,
    dry_run: true,
  });
  await expect(run('replay', added.id)).rejects.toThrow('--abandoned');
  expect(await json('replay', deliveries[0].id)).toEqual({ count: 1, dry_run: false });
  const [, again] = await receiver.received(2);
  expect(again!.headers['x-sm-event-id']).toBe(request!.headers['x-sm-event-id']);
  expect(again!.body.equals(request!.body)).toBe(true);
});

it('an endpoint is tested, rotated, changed, disabled and enabled', async () => {
  const other = await service.account();
  const hook = await startReceiver({ plain: true, behave: answer(201, 'got it') });
  try {
    const added = await json('add', '--account', String(other.id), '--url', hook.url, '--fifo');
    const tested = await json('test', added.id, '--event', 'bounce');
    expect(tested).toMatchObject({ ok: true, status: 201, response_body: 'got it' });
    expect(JSON.parse(tested.request_body).event_type).toBe('bounce');
    expect(await run('test', added.id)).toMatch(/It answered 201 after \d+ ms\.\ngot it/);
    const rotated = await json('rotate', added.id, '--account', String(other.id));
    expect(rotated).toMatchObject({ id: added.id, secret: expect.stringMatching(/^whsec_/) });
    expect(rotated.secret).not.toBe(added.secret);
    expect(await json('set', added.id, '--event', 'open', '--no-fifo')).toMatchObject({
      event_types: ['open'],
      fifo: false,
    });
    expect(await json('disable', added.id)).toMatchObject({ disabled_reason: 'owner' });
    expect(await json('enable', added.id)).toMatchObject({ disabled_at: null });
    await expect(run('add', '--account', '1', '--url', 'https://10.0.0.1/')).rejects.toThrow(
      'WEBHOOK_ALLOW',
    );
    await expect(run('rotate', added.id, '--account', String(account.id))).rejects.toThrow(
      added.id,
    );
  } finally {
    await hook.close();
  }
});

it('listen forwards new events, signed, until Ctrl-C', async () => {
  const local = await startReceiver({ plain: true });
  const own = await service.account();
  const [message] = await newMessages(service.database, own.id, 1);
  await recordEvents(service.database, [event(own.id, message!, 'delivered')]);
  const args = ['webhook', 'listen', '--account', String(own.id), '--forward', local.url, '--json'];
  const child = spawn(process.execPath, ['bin/sandmartin.js', ...args], {
    env: process.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const nextLine = async () => JSON.parse((await lines.next()).value as string);
    const { secret } = await nextLine();
    local.behave((_request, index) => answer(index === 0 ? 500 : 204));
    for (const kind of ['opened', 'clicked'] as const) {
      await recordEvents(service.database, [event(own.id, message!, kind)]);
    }
    const [first, second] = await local.received(2);
    expect(verify(first!.body, first!.headers['x-sm-signature'], secret)).toBe(true);
    expect(JSON.parse(second!.body.toString()).payload.sequence).toBe(3);
    expect(await nextLine()).toMatchObject({ event_type: 'open', ok: false, status: 500 });
    expect(await nextLine()).toMatchObject({ event_type: 'click', ok: true, status: 204 });
  } finally {
    child.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
    await local.close();
  }
});
