// Bytes that are not UTF-8, at every door that takes JSON: refused with 400, never read as
// something else.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ALL_SCOPES } from '../../src/accounts/scopes.ts';
import { rpc } from '../mcp/support.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await startTestService({ ROLES: 'api' });
  ({ key } = await service.account({ scopes: ALL_SCOPES }));
});
afterAll(() => service.stop());

const subject = 'Café';
it.each<[path: string, method: string, body: unknown, headers?: Record<string, string>]>([
  ['/v1/send', 'POST', anEmail({ subject })],
  ['/v1/send', 'POST', anEmail({ subject, html: 'x'.repeat(100_000) })],
  ['/v1/send/batch', 'POST', [anEmail({ subject })]],
  ['/v1/branding', 'PATCH', { brand_name: subject }],
  ['/v1/suppressions', 'POST', { address: 'a@example.net', note: subject }],
  [
    '/mcp',
    'POST',
    rpc('modern', 'tools/call', { name: 'send_email', arguments: anEmail({ subject }) }).body,
    rpc('modern', 'tools/call', { name: 'send_email' }).headers,
  ],
  [
    '/dashboard/api/session',
    'POST',
    { email: 'a@example.net', password: subject },
    { 'x-sm-dashboard': '1' },
  ],
])('%s (%s)', async (path, method, body, headers) => {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      ...{ 'x-api-key': key, 'content-type': 'application/json', origin: service.url },
      ...headers,
    },
    body: Buffer.from(JSON.stringify(body), 'latin1'),
  });
  const text = await response.text();
  expect({ status: response.status, text }).toEqual({
    status: 400,
    text: expect.stringContaining('UTF-8'),
  });
});
