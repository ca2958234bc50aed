// Every REST answer has an id, the same as in the log and the audit; a caller's own id is used if
// it is harmless.
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { anEmail, request, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await startTestService();
  ({ key } = await service.account({ scopes: ['admin', 'email:send'] }));
});
afterAll(() => service?.stop());

const OURS = /^req_[\w-]{12}\.[0-9a-z]+$/;

it.each([
  ['a send', 'POST', '/v1/send', anEmail(), 202],
  ['a send that is refused', 'POST', '/v1/send', {}, 400],
  ['a send over node:http', 'POST', '/v1/send/?x=1', anEmail(), 202],
  ['a read', 'GET', '/v1/account', undefined, 200],
  ['a refusal', 'PATCH', '/v1/account', { nonsense: 1 }, 400],
  ['an unknown path', 'GET', '/v1/nothing', undefined, 404],
  ['a path that cannot be read', 'GET', '/v1/%zz', undefined, 400],
  ['a health check', 'GET', '/healthz', undefined, 200],
  ['the Resend door', 'GET', '/resend/emails/x', undefined, 422],
])('%s has one of its own', async (_, method, path, body, status) => {
  const ask = async (id?: string) =>
    await request(service.url + path, {
      method,
      headers: {
        'x-api-key': key,
        ...(body && { 'content-type': 'application/json' }),
        ...(id !== undefined && { 'x-request-id': id }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  const [one, other] = [await ask(), await ask()];
  if (status !== 422) expect(one.status).toBe(status);
  const ids = [one, other].map(({ headers }) => headers.get('x-request-id'));
  expect(ids).toEqual([expect.stringMatching(OURS), expect.stringMatching(OURS)]);
  expect(new Set(ids).size).toBe(2);
  expect((await ask('order-4711')).headers.get('x-request-id')).toBe('order-4711');
  for (const harmful of ['a b', '<script>', 'x'.repeat(129), '']) {
    expect((await ask(harmful)).headers.get('x-request-id')).toMatch(OURS);
  }
});

it('two ids in one request are no id', async () => {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  const twice = 'x-request-id: a\r\nx-request-id: b\r\n';
  const head = `Host: x\r\nConnection: close\r\nX-API-Key: ${key}\r\n${twice}`;
  socket.write(`GET /v1/account HTTP/1.1\r\n${head}\r\n`);
  let text = '';
  for await (const chunk of socket) text += chunk;
  expect(text).toMatch(/^x-request-id: req_/m);
});

it('the audit has the id that the answer had', async () => {
  const changed = await request(`${service.url}/v1/account`, {
    method: 'PATCH',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Renamed' }),
  });
  const { body } = await service.get(key, '/v1/audit?limit=1');
  expect(body.data[0].request_id).toBe(changed.headers.get('x-request-id'));
});
