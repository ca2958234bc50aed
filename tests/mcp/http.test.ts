// What is checked before the protocol begins: key, plan, Host, Origin, Accept, body; and that
// answers are JSON in both eras.
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { ERAS, post, rpc } from './support.ts';

let service: TestService;
let key: string;
let url: string;
beforeAll(async () => {
  service = await startTestService({
    MCP_PORT: '0',
    MCP_ALLOWED_HOSTS: 'mcp.example.com, agents.example.com',
    BASE_URL: 'https://mail.example.com',
  });
  key = (await service.account()).key;
  // BASE_URL names another host, so the address is asked of the port that is known: that of MCP.
  url = service.service.mcpUrl!.replace('mail.example.com', '127.0.0.1');
});
afterAll(() => service.stop());

/** fetch does not let Host be set. */
function ask(headers: Record<string, string>): Promise<{ status: number; body: string }> {
  const sent = rpc('modern', 'server/discover');
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      url,
      { method: 'POST', headers: { ...sent.headers, 'x-api-key': key, ...headers } },
      async (response) => {
        let body = '';
        for await (const chunk of response) body += chunk;
        resolve({ status: response.statusCode ?? 0, body });
      },
    );
    request.on('error', reject);
    request.end(JSON.stringify(sent.body));
  });
}

describe('Host and Origin', () => {
  it.each(['127.0.0.1', 'localhost:9', '[::1]', 'mail.example.com', 'mcp.example.com:443'])(
    'Host %s is one of the service',
    async (host) => expect((await ask({ host })).status).toBe(200),
  );
  it.each(['evil.example', 'mail.example.com.evil.example', '10.0.0.1'])(
    'Host %s is not',
    async (host) => {
      const answer = await ask({ host });
      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.body).detail).toMatch(/MCP_ALLOWED_HOSTS/);
    },
  );
  it.each(['https://mail.example.com', 'http://localhost:6274', 'https://agents.example.com'])(
    'Origin %s may ask',
    async (origin) => expect((await ask({ origin })).status).toBe(200),
  );
  it.each(['https://evil.example', 'null', 'nonsense'])('Origin %s may not', async (origin) =>
    expect((await ask({ origin })).status).toBe(403),
  );
  it('a request without any Host is refused, also as the first', async () => {
    const other = await startTestService({ MCP_PORT: '0' });
    try {
      const { port } = new URL(other.service.mcpUrl!);
      const socket = connect(Number(port), '127.0.0.1');
      socket.end('POST /mcp HTTP/1.0\r\ncontent-length: 0\r\n\r\n');
      let answer = '';
      for await (const chunk of socket) answer += chunk;
      expect(answer).toMatch(/^HTTP\/1\.1 403/);
    } finally {
      await other.stop();
    }
  });
  it('comes before the key', async () =>
    expect((await ask({ host: 'evil.example', 'x-api-key': 'wrong' })).status).toBe(403));
});

describe('the key', () => {
  it('is asked for before anything is read', async () => {
    const answer = await post(url, undefined, { headers: {}, body: 'not even JSON' });
    expect(answer).toMatchObject({ status: 401, body: { detail: expect.any(String) } });
  });
  it('of a non-paying account is 402', async () => {
    const { key: free } = await service.account({ plan: 'free' });
    expect((await post(url, free, rpc('modern', 'tools/list'))).status).toBe(402);
  });
});

describe.each(ERAS)('answers in the %s era', (era) => {
  it.each([
    'application/json',
    '*/*',
    'application/*;q=0.5',
    'application/json, text/event-stream',
  ])('are JSON for Accept: %s', async (accept) => {
    const sent = rpc(era, 'tools/list');
    const answer = await post(url, key, { ...sent, headers: { ...sent.headers, accept } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    const names = answer.body.result.tools.map(({ name }: { name: string }) => name);
    expect(names).toContain('send_email');
  });
  it('are not there for clients that accept only something else', async () => {
    const sent = rpc(era, 'tools/list');
    const headers = { ...sent.headers, accept: 'text/html' };
    expect((await post(url, key, { ...sent, headers })).status).toBe(406);
  });
  it('need a JSON content type', async () => {
    const sent = rpc(era, 'tools/list');
    const headers = { ...sent.headers, 'content-type': 'text/plain' };
    expect((await post(url, key, { ...sent, headers })).status).toBe(415);
  });
});

describe('bodies', () => {
  it('that are no JSON are a parse error', async () => {
    const { headers } = rpc('legacy', 'tools/list');
    const answer = await post(url, key, { headers, body: '{"jsonrpc":' });
    expect(answer).toMatchObject({ status: 400, body: { error: { code: -32700 } } });
  });
  it('over 25 MB are refused in the words of the protocol', async () => {
    const { headers } = rpc('legacy', 'tools/call');
    const answer = await post(url, key, { headers, body: `"${'x'.repeat(26_214_400)}"` });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code: -32600 });
    expect(answer.body.error.message).toMatch(/25 MB/);
  });
  it('under it carry large attachments', async () => {
    const sent = rpc('modern', 'tools/call', {
      name: 'send_email',
      arguments: {
        ...{
          from_email: 'a@example.com',
          to: ['b@example.net'],
          subject: 'Big',
          text: 'See file.',
        },
        attachments: [
          {
            filename: 'big.bin',
            content_type: 'application/octet-stream',
            content_base64: Buffer.alloc(15_000_000).toString('base64'),
          },
        ],
      },
    });
    const answer = await post(url, key, sent);
    expect(answer.body.result.structuredContent).toMatchObject({ status: 'queued' });
  });
});

it('GET and DELETE are not allowed: the server is stateless', async () => {
  for (const method of ['GET', 'DELETE']) {
    const answer = await fetch(url, {
      method,
      headers: { 'x-api-key': key, accept: 'text/event-stream' },
    });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
  }
});

it('a session id that a client brings along is ignored', async () => {
  const sent = rpc('legacy', 'tools/list');
  const headers = { ...sent.headers, 'mcp-session-id': 'left-over' };
  expect((await post(url, key, { ...sent, headers })).status).toBe(200);
});

it.each(['2025-06-18', '2025-11-25'])('initialize agrees on %s', async (protocolVersion) => {
  const { body, headers } = rpc('legacy', 'initialize', {
    ...{ protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  });
  const answer = await post(url, key, { headers, body });
  expect(answer.body.result).toMatchObject({
    protocolVersion,
    serverInfo: { name: 'sandmartin' },
    capabilities: { tools: {} },
    instructions: expect.stringContaining('Untrusted text'),
  });
});

it('lists of the new era say how long they may be kept, and for whom', async () => {
  const { body } = await post(url, key, rpc('modern', 'tools/list'));
  expect(body.result).toMatchObject({
    ttlMs: 300_000,
    cacheScope: 'private',
    resultType: 'complete',
  });
});

it('nothing but /mcp is at the port of its own', async () => {
  const answer = await fetch(url.replace('/mcp', '/v1/send'), { method: 'POST' });
  expect(answer.status).toBe(404);
});
