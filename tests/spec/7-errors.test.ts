// Section 7: errors. Every one is a JSON object with a `detail` that a person can act on.
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  anEmail,
  request,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let account: TestAccount;
beforeAll(async () => {
  service = await startTestService();
  account = await service.account();
});
afterAll(() => service.stop());

function expectError(answer: { status: number; body: { detail: string } }, status: number) {
  expect(answer.status).toBe(status);
  expect(answer.body).toMatchObject({ detail: expect.any(String), code: expect.any(String) });
  expect(answer.body.detail.length).toBeGreaterThan(20);
}

it('400: validation', async () =>
  expectError(await service.send(account.key, anEmail({ to: [] })), 400));
it('401: key', async () => expectError(await service.send('x', anEmail()), 401));
it('402: plan', async () => {
  const free = await service.account({ plan: 'free' });
  expectError(await service.send(free.key, anEmail()), 402);
});
it('403: sender', async () =>
  expectError(await service.send(account.key, anEmail({ from_email: 'a@b.example' })), 403));
it('404: template, message and path', async () => {
  expectError(
    await service.send(account.key, anEmail({ html: undefined, text: undefined, template: 'x-y' })),
    404,
  );
  expectError(await service.get(account.key, '/v1/messages/msg_x'), 404);
  expectError(await service.get(account.key, `/v1/messages/msg_${'x'.repeat(3000)}`), 404);
  expectError(await service.get(account.key, '/v1/nothing'), 404);
});
it.each([
  ['400: no HTTP', 400, 'what is this?\r\n\r\n'],
  ['400: half a send', 400, 'POST /v1/send HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{'],
  ['431: a head past 16 KB', 431, `GET / HTTP/1.1\r\nx-a: ${'a'.repeat(20_000)}\r\n\r\n`],
])('%s', async (_, status, bytes) => {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.end(bytes);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  expectError({ status: Number(head.split(' ')[1]), body: JSON.parse(body) }, status);
});
it('400: a path that is not a URL', async () =>
  expectError(await service.get(account.key, '/v1/messages/%E0%A4%A'), 400));
it('429: with retry-after and ratelimit headers', async () => {
  const poor = await service.account({ dailyQuota: 0 });
  const answer = await service.send(poor.key, anEmail());
  expectError(answer, 429);
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(answer.headers.get('ratelimit-limit')).toBe('0');
  expect(answer.headers.get('ratelimit-remaining')).toBe('0');
  expect(answer.headers.get('ratelimit-reset')).toMatch(/^[1-9]\d*$/);
});

describe('502: the relay', () => {
  it('cannot be reached: refused with retry-after, and what was accepted before stays queued', async () => {
    const down = await startTestService({ RELAY_URL: 'smtp://127.0.0.1:1' });
    try {
      const sender = await down.account();
      const answer = await down.send(sender.key, anEmail());
      expectError(answer, 502);
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      // Checks before it still answer first.
      expect((await down.send(sender.key, anEmail({ to: [] }))).status).toBe(400);
      const poor = await down.account({ dailyQuota: 0 });
      expect((await down.send(poor.key, anEmail())).status).toBe(429);
    } finally {
      await down.stop();
    }
  });
  it('RELAY_DOWN=queue accepts instead', async () => {
    const down = await startTestService({ RELAY_URL: 'smtp://127.0.0.1:1', RELAY_DOWN: 'queue' });
    try {
      const sender = await down.account();
      const answer = await down.send(sender.key, anEmail());
      expect(answer.status).toBe(202);
      const path = `/v1/messages/${answer.body.id}`;
      await until(async () => (await down.get(sender.key, path)).body.status === 'queued');
    } finally {
      await down.stop();
    }
  });
});

it('wrong method on a known path is an error with detail', async () => {
  expectError(await request(`${service.url}/v1/send`), 404);
});
