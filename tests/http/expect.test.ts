// `Expect: 100-continue`: a caller that waits before it sends its body is checked first. A caller
// that is refused never sends it.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await startTestService({}, {});
  ({ key } = await service.account());
});
afterAll(() => service.stop());

const BODY = JSON.stringify(anEmail());

/**
 * Sends the head, and the body only when told to go on. Answers the statuses that came, in their
 * order.
 */
async function post(path: string, apiKey: string, body = BODY, extra = ''): Promise<number[]> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  let heard = '';
  socket.on('data', (chunk) => {
    heard += chunk;
  });
  await once(socket, 'connect');
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx-api-key: ${apiKey}\r\ncontent-type: application/json\r\n` +
      `${extra}content-length: ${Buffer.byteLength(body)}\r\nexpect: 100-continue\r\n\r\n`,
  );
  const statuses = () => [...heard.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, code]) => Number(code));
  await until(() => statuses().length > 0);
  if (statuses()[0] === 100) {
    socket.write(body);
    await until(() => statuses().length > 1);
  }
  socket.destroy();
  return statuses();
}

describe('a caller that waits to be told to go on', () => {
  it('is told so once its key is good', async () => {
    expect(await post('/v1/send', key)).toEqual([100, 202]);
  });

  it('is not told so before its body has room and a length that is allowed', async () => {
    expect(await post('/v1/send', key, BODY, 'x-a: 1\r\n')).toEqual([100, 202]);
    expect(await post('/v1/send', key, ' '.repeat(26_214_401))).toEqual([400]);
  });

  it.each([
    ['the key is wrong', '/v1/send', 401],
    ['nothing is there', '/nowhere', 404],
    ['the key is wrong, at another route', '/v1/suppressions', 401],
    ['the key is wrong, over MCP', '/mcp', 401],
  ])('is refused at once when %s', async (_, path, status) => {
    expect(await post(path, 'wrong')).toEqual([status]);
  });

  it('is told so at every door that reads a body', async () => {
    expect((await post('/mcp', key, '{}'))[0]).toBe(100);
  });
});
