// Stopping while clients are in the middle of something, and what the log of it all says.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { anEmail, makeAccount, request, type TestAccount } from '../support/service.ts';

let test: TestDatabase;
let account: TestAccount;
beforeAll(async () => {
  test = await createTestDatabase();
  account = await makeAccount(test.database);
});
afterAll(() => test.drop());

const start = (): Promise<ServiceProcess> =>
  startProcess({ DATABASE_URL: test.url, LOG_LEVEL: 'info' });

async function beginSend(url: string, html: string): Promise<{ socket: Socket; rest: string }> {
  const body = JSON.stringify(anEmail({ html }));
  const head = [
    'POST /v1/send HTTP/1.1',
    'host: x',
    `x-api-key: ${account.key}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
  ];
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 20)}`);
  await once(socket, 'connect');
  // The answer to another connection's request says that ours was read.
  await request(`${url}/healthz`);
  return { socket, rest: body.slice(20) };
}

it.each([
  ['small', 100],
  ['large', 100_000],
])('a %s send that was begun is answered, and its connection holds nobody up', async (_, size) => {
  const service = await start();
  const { socket, rest } = await beginSend(service.url, 'x'.repeat(size));
  const stopped = service.end('SIGTERM');
  await refusesConnections(service.url);
  socket.write(rest);
  expect(await text(socket)).toContain('202 Accepted');
  expect(await stopped).toBe(0);
});

it('a client that stopped in the middle of a request is not waited for until the end', async () => {
  const service = await start();
  await beginSend(service.url, 'x');
  expect(await service.end('SIGTERM')).toBe(0);
});

async function refusesConnections(url: string): Promise<void> {
  for (;;) {
    const refused = await request(`${url}/healthz`).then(
      () => false,
      () => true,
    );
    if (refused) return;
  }
}

it('the log names request, account and message, and neither bodies nor keys', async () => {
  const service = await start();
  const ask = (body: string) =>
    request(`${service.url}/v1/send`, {
      method: 'POST',
      headers: {
        'x-api-key': account.key,
        'x-request-id': 'from-a-test',
        'content-type': 'application/json',
      },
      body,
    });
  const { body } = await ask(JSON.stringify(anEmail({ html: 'secret' })));
  expect((await ask('{"html": secret}')).status).toBe(400);
  expect((await ask(JSON.stringify(anEmail({ to: ['secret'] })))).status).toBe(400);
  expect(await service.end('SIGTERM')).toBe(0);
  expect(service.output()).toContain(
    `"request":"from-a-test","account":${account.id},"message":"${body.id}"`,
  );
  expect(service.output()).toContain('"code":"invalid"');
  expect(service.output()).not.toContain('secret');
  expect(service.output()).not.toContain(account.key);
});
