// The worker over a real database and real HTTPS receivers: what each answer leads to, and the
// whole schedule.
import { Webhook } from 'standardwebhooks';
import type { Agent } from 'undici';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Vault } from '../../src/store/vault.ts';
import { rotateSecret } from '../../src/webhooks/endpoint.ts';
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
  type DeliveryRow,
  deliveriesOf,
  endpointRow,
  newAccount,
  newEndpoint,
  newEvents,
  openVault,
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
let worker: WebhookWorker;
let clock: TestClock;
const receivers: Receiver[] = [];

/** As patient as in earnest: a busy machine takes its time for a handshake. */
const startWorker = (timeoutMs?: number): WebhookWorker =>
  startTestWorker({
    database: test.database,
    vault,
    clock,
    agent,
    ...(timeoutMs && { timeoutMs }),
  });

beforeAll(async () => {
  test = await createTestDatabase();
  vault = await openVault(test.database);
  agent = trustingAgent();
});
beforeEach(() => {
  clock = testClock();
  worker = startWorker();
});
afterEach(async () => {
  await worker.stop();
  for (const receiver of receivers.splice(0)) await receiver.close();
  await test.database.query('TRUNCATE webhook_due');
});
afterAll(async () => {
  await agent.destroy();
  await test.drop();
});

async function receiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const started = await startReceiver({ authority, ...options });
  receivers.push(started);
  return started;
}

/** An account with one endpoint at the receiver. */
async function hooked(hook: Receiver, wanted: { fifo?: boolean } = {}) {
  const account = await newAccount(test.database);
  const endpoint = await newEndpoint(test.database, account, { url: hook.url, ...wanted });
  return { account, ...endpoint };
}

function advance(ms: number): void {
  clock.advance(ms);
  worker.wake();
}

const rowsWhen = (uuid: string, so: (rows: DeliveryRow[]) => boolean): Promise<DeliveryRow[]> =>
  until(async () => {
    const rows = await deliveriesOf(test.database, uuid);
    return so(rows) && rows;
  });

describe('an answer', () => {
  it.each<[string, ReceiverOptions, Partial<DeliveryRow>]>([
    ['200', { behave: answer(200, 'thanks') }, { status: 200, response: 'thanks', error: null }],
    ['204', { behave: answer(204) }, { status: 204, response: '' }],
    [
      'huge 200',
      { behave: { kind: 'endless-body' } },
      { status: 200, response_truncated: true, response: 'x'.repeat(16_384) },
    ],
  ])('%s delivers', async (_name, options, expected) => {
    const hook = await receiver(options);
    const { account, uuid } = await hooked(hook);
    await newEvents(test.database, account, 1);
    const [row] = await rowsWhen(uuid, ([first]) => first!.state !== 'pending');
    expect(row).toMatchObject({ state: 'delivered', attempts: 1, due_at: null, ...expected });
    expect(row!.finished_at).not.toBeNull();
    expect(hook.requests).toHaveLength(1);
  });

  const failures: [string, ReceiverOptions, number | null, RegExp][] = [
    ['404', { behave: answer(404, 'no') }, 404, /answered 404/],
    ['500', { behave: answer(500, 'oh') }, 500, /answered 500/],
    ['302', { behave: answer(302, '', { location: '/' }) }, 302, /Redirects are not followed/],
    ['410', { behave: answer(410) }, 410, /wants no more events/],
    ['no answer', { behave: { kind: 'hang' } }, null, /no complete answer within/],
    ['slow body', { behave: { kind: 'slow-body' } }, 200, /no complete answer within/],
    ['reset', { behave: { kind: 'reset' } }, null, /closed before the answer/],
    ['cut body', { behave: { kind: 'cut-body' } }, 200, /closed before the answer/],
    ['no HTTP', { behave: { kind: 'raw', bytes: 'SSH-2.0\r\n\r\n' } }, null, /not valid HTTP/],
    ['expired certificate', { certificate: 'expired' }, null, /No trusted TLS/],
    ['certificate of another', { certificate: 'wrong-name' }, null, /No trusted TLS/],
    ['unknown CA', { certificate: 'unknown-ca' }, null, /No trusted TLS/],
  ];
  it.each(failures)(
    '%s fails and is tried again after 30 s',
    async (name, options, status, error) => {
      if (error.source.startsWith('no complete answer')) {
        await worker.stop();
        worker = startWorker(2 * SECOND);
      }
      const hook = await receiver(options);
      const { account, uuid } = await hooked(hook);
      await newEvents(test.database, account, 1);
      const [row] = await rowsWhen(uuid, ([first]) => first!.attempts > 0);
      expect(row).toMatchObject({ state: 'pending', attempts: 1, status, finished_at: null });
      expect(row!.error).toMatch(error);
      const waitMs = row!.due_at!.getTime() - clock.nowMs();
      expect(waitMs).toBeGreaterThanOrEqual(30 * SECOND);
      expect(waitMs).toBeLessThanOrEqual(33 * SECOND);
      expect(await endpointRow(test.database, uuid)).toMatchObject({
        failures: 1,
        disabled_reason: name === '410' ? 'gone' : null,
      });
    },
  );

  it('410 disables: later events get no row, waiting ones no POST', async () => {
    const hook = await receiver({ behave: answer(410) });
    const { account, uuid } = await hooked(hook);
    await newEvents(test.database, account, 1);
    await until(async () => (await endpointRow(test.database, uuid)).disabled_at !== null);
    await newEvents(test.database, account, 1);
    expect(await deliveriesOf(test.database, uuid)).toHaveLength(1);
    advance(HOUR);
    // Another endpoint's event comes through; this one's retry, though due, does not.
    const other = await receiver();
    await newEvents(test.database, (await hooked(other)).account, 1);
    await other.received(1);
    expect(hook.requests).toHaveLength(1);
  });
});

describe('the schedule', () => {
  it('is 30 s, 5 min, 30 min, 2 h, 6 h, then abandoned: six POSTs alike over 8.5 hours', async () => {
    const hook = await receiver({ behave: answer(503) });
    const { account, uuid, secret } = await hooked(hook);
    await newEvents(test.database, account, 1);
    const waitsMs: number[] = [];
    for (let attempt = 1; attempt <= 6; attempt++) {
      const [row] = await rowsWhen(uuid, ([first]) => first!.attempts === attempt);
      expect(hook.requests).toHaveLength(attempt);
      if (row!.due_at === null) break;
      const waitMs = row!.due_at.getTime() - clock.nowMs();
      waitsMs.push(waitMs);
      // A second before its time nothing is sent.
      advance(waitMs - SECOND);
      const other = await receiver();
      await newEvents(test.database, (await hooked(other)).account, 1);
      await other.received(1);
      expect(hook.requests).toHaveLength(attempt);
      advance(SECOND);
    }
    for (const [index, ms] of [
      30 * SECOND,
      5 * MINUTE,
      30 * MINUTE,
      2 * HOUR,
      6 * HOUR,
    ].entries()) {
      expect(waitsMs[index]).toBeGreaterThanOrEqual(ms);
      expect(waitsMs[index]).toBeLessThanOrEqual(ms * 1.1);
    }
    const [row] = await deliveriesOf(test.database, uuid);
    expect(row).toMatchObject({ state: 'abandoned', attempts: 6, status: 503, due_at: null });
    const [first] = hook.requests;
    for (const [index, request] of hook.requests.entries()) {
      expect(request.body.equals(first!.body)).toBe(true);
      expect(request.headers['x-sm-event-id']).toBe(first!.headers['x-sm-event-id']);
      expect(request.headers['x-sm-attempt']).toBe(String(index + 1));
      expect(verify(request.body, request.headers['x-sm-signature'], secret)).toBe(true);
    }
    advance(DAY);
    await newEvents(test.database, account, 1);
    await hook.received(7);
    expect(hook.requests[6]!.headers['x-sm-event-id']).not.toBe(first!.headers['x-sm-event-id']);
  });

  it('ends with the first success', async () => {
    const hook = await receiver({ behave: (_request, index) => answer(index < 2 ? 500 : 200) });
    const { account, uuid } = await hooked(hook);
    await newEvents(test.database, account, 1);
    await rowsWhen(uuid, ([first]) => first!.attempts === 1);
    advance(33 * SECOND);
    await rowsWhen(uuid, ([first]) => first!.attempts === 2);
    advance(6 * MINUTE);
    const [row] = await rowsWhen(uuid, ([first]) => first!.attempts === 3);
    expect(row).toMatchObject({ state: 'delivered', status: 200, error: null });
    expect(await endpointRow(test.database, uuid)).toMatchObject({
      failures: 0,
      failing_since: null,
    });
  });
});

describe('signatures', () => {
  it('are right by both ways of checking', async () => {
    const hook = await receiver();
    const { account, secret } = await hooked(hook);
    await newEvents(test.database, account, 1);
    const [request] = await hook.received(1);
    expect(verify(request!.body, request!.headers['x-sm-signature'], secret)).toBe(true);
    expect(verifyStandard(request!.body, request!.headers, secret)).toBe(true);
    new Webhook(secret).verify(request!.body.toString(), request!.headers);
  });

  it('are made with both secrets for a day after a rotation, the newest alone in X-SM-Signature', async () => {
    const hook = await receiver();
    const { account, id, secret } = await hooked(hook);
    const rotated = await rotateSecret(test.database, account, id, { clock, vault });
    await newEvents(test.database, account, 1);
    const [during] = await hook.received(1);
    expect(verify(during!.body, during!.headers['x-sm-signature'], rotated.secret)).toBe(true);
    expect(verify(during!.body, during!.headers['x-sm-signature'], secret)).toBe(false);
    expect(verifyStandard(during!.body, during!.headers, secret)).toBe(true);
    expect(verifyStandard(during!.body, during!.headers, rotated.secret)).toBe(true);
    advance(DAY + SECOND);
    await newEvents(test.database, account, 1);
    const [, after] = await hook.received(2);
    const nowMs = clock.nowMs();
    expect(verifyStandard(after!.body, after!.headers, secret, { nowMs })).toBe(false);
    expect(verifyStandard(after!.body, after!.headers, rotated.secret, { nowMs })).toBe(true);
  });
});
