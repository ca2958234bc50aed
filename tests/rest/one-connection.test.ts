// Many large posts, one after the other, on one connection: the listeners that each of them adds to
// the socket are removed again.
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { anEmail, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
const warnings: string[] = [];
const hear = ({ name, message }: Error) => warnings.push(`${name}: ${message}`);

beforeAll(async () => {
  process.on('warning', hear);
  service = await startTestService({ ROLES: 'api' });
});
afterAll(async () => {
  process.off('warning', hear);
  await service.stop();
});

it('posts over 64 KB leave no listeners behind', async () => {
  const { key } = await service.account();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const body = JSON.stringify(anEmail({ html: `<p>${'x'.repeat(80_000)}</p>` }));
  const ports = new Set<number | undefined>();
  for (let sent = 0; sent < 25; sent++) {
    const { status, port } = await post(agent, `${service.url}/v1/send`, key, body);
    expect(status).toBe(202);
    ports.add(port);
  }
  agent.destroy();
  expect(ports.size).toBe(1);
  expect(warnings).toEqual([]);
});

function post(
  agent: Agent,
  url: string,
  key: string,
  body: string,
): Promise<{ status: number | undefined; port: number | undefined }> {
  return new Promise((resolve, reject) => {
    const headers = {
      'x-api-key': key,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const sending = request(url, { agent, method: 'POST', headers }, async (response) => {
      const port = response.socket.localPort;
      await text(response);
      resolve({ status: response.statusCode, port });
    });
    sending.on('error', reject).end(body);
  });
}
