// The database goes away and comes back: callers are told to try again, and the process survives.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/pool.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

let test: TestDatabase;
let door: TcpProxy;
let service: TestService;
beforeAll(async () => {
  test = await createTestDatabase();
  door = await startTcpProxy(test.url);
  service = await startTestService({ DATABASE_URL: door.url }, { on: test });
});
afterAll(async () => {
  await service.stop();
  await door.close();
  await test.drop();
});

it('a connection that breaks between two statements of a transaction fails the transaction only', async () => {
  const database = openDatabase(door.url, { connections: 2, onIdleError: () => undefined });
  const work = database.transaction(async (client) => {
    await client.query('SELECT 1');
    await door.shut();
    // Only the event loop tells the client that its connection is gone.
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    await client.query('SELECT 1');
  });
  await expect(work).rejects.toThrow();
  await door.open();
  expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await database.close();
});

it('while it is away every call is answered with 503 and retry-after; then all is as before', async () => {
  const { key } = await service.account();
  await door.shut();
  const answers = [
    await service.send(key, anEmail()),
    await service.get(key, '/v1/messages/msg_01M7F9YK9MACMZ8QYEY8YNPTTC'),
  ];
  for (const answer of answers) {
    expect(answer.status).toBe(503);
    expect(answer.body.detail).toContain('database');
    expect(answer.headers.get('retry-after')).toBe('2');
  }
  const metrics = await fetch(`${service.url}/metrics`);
  expect(metrics.status).toBe(200);
  expect(await metrics.text()).toContain('refused_total{code="unavailable",door="rest"} 2');
  expect((await fetch(`${service.url}/readyz`)).status).toBe(503);
  await door.open();
  await until(async () => (await service.send(key, anEmail())).status === 202);
});
