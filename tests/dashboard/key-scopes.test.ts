// Who makes a key gives it no more than they may do themselves.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { openSignedIn } from './dashboard-client.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ ROLES: 'api' });
});
afterAll(() => service.stop());

it('a developer makes keys for sending and templates, and none for what only owners may', async () => {
  const { id: accountId } = await service.account();
  const developer = await openSignedIn(service, { accountId, role: 'developer' });
  const wish = (scopes: string[]) => developer.try('createKey', { body: { scopes } });
  expect((await wish(['email:send', 'templates:write'])).status).toBe(200);
  for (const scopes of [['admin'], ['team:write'], ['email:send', 'audit:read']]) {
    const refused = await wish(scopes);
    expect(refused.status).toBe(403);
    expect(refused.body.detail).toMatch(/more than your role allows/);
  }
  const owner = await openSignedIn(service, { accountId, role: 'owner' });
  expect((await owner.try('createKey', { body: { scopes: ['admin'] } })).status).toBe(200);
});
