// The worker over a real database and real HTTPS receivers: what each answer leads to.
import type { Agent } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { WebhookWorker } from '../../src/webhooks/worker.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { answer, type Receiver, type ReceiverOptions, startReceiver } from '../support/https-receiver.ts';
import { until } from '../support/until.ts';
import {
  authority,
  deliveriesOf,
  newAccount,
  newEndpoint,
  newEvents,
  startTestWorker,
  type TestClock,
  testClock,
  trustingAgent,
} from './webhook-support.ts';

let test: TestDatabase;
let agent: Agent;
let worker: WebhookWorker;
let clock: TestClock;
const receivers: Receiver[] = [];

beforeAll(async () => {
  test = await createTestDatabase();
  agent = trustingAgent();
  clock = testClock();
  worker = startTestWorker({ database: test.database, clock, agent, timeoutMs: 400 });
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

describe('an answer', () => {
  it.each([
    ['2xx', { behave: answer(204) }, { state: 'delivered', status: 204, error: null }],
  ] as [string, ReceiverOptions, object][])('%s', async (_name, options, expected) => {
    const hook = await receiver(options);
    const account = await newAccount(test.database);
    const { uuid } = await newEndpoint(test.database, account, { url: hook.url });
    await newEvents(test.database, account, 1);
    const [row] = await until(async () => {
      const rows = await deliveriesOf(test.database, uuid);
      return rows[0]!.attempts > 0 && rows;
    });
    expect(row).toMatchObject({ attempts: 1, ...expected });
  });
});
