// Deadlines of HTTP on every path, with short limits: heads, bodies, silence and crowds.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BODY_LIMITS } from '../../src/http/body.ts';
import { HTTP_LIMITS } from '../../src/http/server.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { head, openLine } from './sockets.ts';

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await startTestService(
    // No proxy, so that connections from here are limited like those from anywhere.
    { MCP_PORT: '0', TRUSTED_PROXIES: '192.0.2.1' },
    {
      httpLimits: {
        ...HTTP_LIMITS,
        headMs: 600,
        keepAliveMs: 1500,
        unreadMs: 600,
        lingerMs: 300,
        mostUnprovenFromOne: 20,
      },
      bodyLimits: { ...BODY_LIMITS, graceMs: 600, leastBytesPerSecond: 1024 * 1024 },
    },
  );
  ({ key } = await service.account());
});
afterAll(() => service.stop());

const doors = () => [service.url, service.service.mcpUrl!];

describe('half a head', () => {
  it.each([
    ['of a plain send', 'POST /v1/send HTTP/1.1\r\nhost: x\r\nx-a'],
    ['of a plain send, its first letter', 'P'],
    ['of something else', 'GET /healthz HTTP/1.1\r\nhost: x\r\nx-a'],
    ['of nothing yet', ''],
  ])('%s', async (_, bytes) => {
    for (const url of doors()) {
      const line = await openLine(url);
      line.send(bytes);
      await line.closed;
      if (bytes !== '') expect(line.said()).toContain('HTTP/1.1 408 ');
    }
  });

  it('that keeps coming, a letter at a time', async () => {
    const line = await openLine(service.url);
    line.send('POST /v1/send HTTP/1.1\r\nx-a: ');
    const drip = setInterval(() => line.send('a'), 50);
    await line.closed;
    clearInterval(drip);
    expect(line.said()).toContain('HTTP/1.1 408 ');
  });
});

it('a connection that was opened ahead may be used later', async () => {
  const line = await openLine(service.url);
  // Another is closed for its half head meanwhile; this one said nothing.
  const other = await openLine(service.url);
  other.send('P');
  await other.closed;
  line.send(head('GET /healthz'));
  await until(() => line.said().includes('200 OK'));
  line.socket.destroy();
});

describe('half a body', () => {
  it.each([
    ['small, of a plain send', 'POST /v1/send', '100'],
    ['large, of a send', 'POST /v1/send', '100000'],
    ['of MCP', 'POST /mcp', '100'],
  ])('%s', async (_, request, length) => {
    const line = await openLine(service.url);
    const fields = ['content-type: application/json', `x-api-key: ${key}`];
    line.send(`${head(request, ...fields, `content-length: ${length}`)}{"a":`);
    await line.closed;
    expect(line.said()).toMatch(/^HTTP\/1.1 408 [\s\S]*did not arrive in time/);
  });

  it('that nobody reads', async () => {
    for (const path of ['/u/x', '/verify/x', '/inbound/ses', '/nowhere', '/metrics']) {
      const line = await openLine(service.url);
      line.send(`${head(`POST ${path}`, 'content-length: 100')}{`);
      await line.closed;
      expect(line.said()).toMatch(/^HTTP\/1.1 4/);
    }
  });
});

it('an answer that nobody reads, of a client that still sends', async () => {
  const line = await openLine(service.url);
  line.socket.pause();
  // More than the system takes for it.
  line.send(head('GET /openapi.json').repeat(100));
  const drip = setInterval(() => line.send('\r\n'), 50);
  await line.closed;
  clearInterval(drip);
});

it('many that say nothing, from one address: the oldest goes, and who has something to say is heard', async () => {
  const silent = await Promise.all(Array.from({ length: 20 }, () => openLine(service.url)));
  expect((await service.send(key, anEmail())).status).toBe(202);
  await silent[0]!.closed;
  await until(() => silent.every((line) => line.socket.destroyed));
});
