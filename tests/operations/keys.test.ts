// Keys over the API: rules apply, the secret is shown once, and nobody can give more rights than
// they have.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Scope } from '../../src/accounts/scopes.ts';
import { Sandmartin } from '../../src/client/sandmartin.ts';
import { openSignedIn, statusOf } from '../dashboard/dashboard-client.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ ROLES: 'api' });
});
afterAll(() => service.stop());

const withKey = (apiKey: string) => new Sandmartin({ baseUrl: service.url, apiKey, retries: 0 });

it('carry scopes and rules, and are shown once', async () => {
  const { id: accountId } = await service.account();
  const { api } = await openSignedIn(service, { accountId });
  const rules = { allowed_recipients: ['Example.NET'], no_bcc: true, daily_cap: 10 };
  const { secret, ...key } = await api.keys.create({
    ...{ name: 'For an agent', scopes: ['email:send'], rules },
  });
  expect(key).toMatchObject({
    name: 'For an agent',
    rules: {
      allowed_recipients: ['example.net'],
      no_bcc: true,
      daily_cap: 10,
      sandbox_only: false,
    },
    last_used_at: null,
  });
  expect((await service.send(secret, anEmail())).status).toBe(202);
  expect((await api.keys.get({ id: key.id })).last_used_at).not.toBeNull();
  expect((await service.send(secret, anEmail({ to: ['ada@example.org'] }))).status).toBe(403);
  expect(JSON.stringify(await api.keys.list())).not.toContain(secret);
  const tooMuch = { scopes: ['email:send' as const], rules: { daily_cap: 1_000_000 } };
  expect(await statusOf(api.keys.create(tooMuch))).toBe(400);

  await api.keys.revoke({ id: key.id });
  expect((await service.send(secret, anEmail())).status).toBe(401);
  const { data } = await api.audit.list({ target: key.id });
  expect(data.map(({ action }) => action)).toEqual(['revoke_key', 'create_key']);
  expect(JSON.stringify(data)).not.toContain(secret);
});

it('are listed newest first, page by page', async () => {
  const { id: accountId } = await service.account();
  const { api } = await openSignedIn(service, { accountId });
  for (const name of ['one', 'two']) await api.keys.create({ name, scopes: ['email:read'] });
  const names = [];
  for await (const { name } of api.keys.list({ limit: 1 })) names.push(name);
  expect(names).toEqual(['two', 'one', null]);
});

describe('nobody gives more than they have', () => {
  it('a developer makes keys for sending and templates, and none for what only owners may', async () => {
    const { id: accountId } = await service.account();
    const developer = await openSignedIn(service, { accountId, role: 'developer' });
    const wish = (scopes: Scope[]) => developer.api.keys.create({ scopes: scopes as ['admin'] });
    expect(await statusOf(wish(['email:send', 'templates:write']))).toBe(200);
    for (const scopes of [['admin'], ['team:write'], ['email:send', 'audit:read']] as Scope[][]) {
      await expect(wish(scopes)).rejects.toMatchObject({
        ...{ status: 403, message: expect.stringContaining('more than your role allows') },
      });
    }
    const owner = await openSignedIn(service, { accountId, role: 'owner' });
    expect(await statusOf(owner.api.keys.create({ scopes: ['admin'] }))).toBe(200);
    const viewer = await openSignedIn(service, { accountId, role: 'viewer' });
    expect(await statusOf(viewer.api.keys.create({ scopes: ['email:read'] }))).toBe(403);
  });

  it('an operator’s scopes can be given to no key, not even by an operator', async () => {
    const { id: accountId } = await service.account();
    const operator = await openSignedIn(service, { accountId, operator: true });
    const scopes = ['accounts:write'] as unknown as ['admin'];
    expect(await statusOf(operator.api.keys.create({ scopes }))).toBe(400);
  });

  it('a key makes none that may more: an old admin key does not learn to send', async () => {
    const { key } = await service.account({ scopes: ['admin'] });
    const { keys } = withKey(key);
    expect(await statusOf(keys.create({ scopes: ['templates:write'] }))).toBe(200);
    expect(await statusOf(keys.create({ scopes: ['admin'] }))).toBe(200);
    await expect(keys.create({ scopes: ['email:send'] })).rejects.toMatchObject({
      ...{ status: 403, message: expect.stringContaining('email:send') },
    });
  });

  it.each([
    ['rules', { rules: { sandbox_only: true } }],
    ['an end', { expires_at: '2999-01-01T00:00:00Z' }],
    ['networks', { networks: ['127.0.0.0/8'] }],
  ])('a key with %s of its own makes no key and invites nobody', async (_, bounds) => {
    const { id: accountId } = await service.account();
    const owner = await openSignedIn(service, { accountId });
    const made = await owner.api.keys.create({
      ...{ scopes: ['admin', 'email:send', 'email:read'], ...bounds },
    });
    const { keys, team } = withKey(made.secret);
    await expect(keys.create({ scopes: ['email:send'] })).rejects.toMatchObject({
      ...{ status: 403, message: expect.stringContaining('of its own') },
    });
    const invite = { email: 'eve@people.example', role: 'owner' as const };
    expect(await statusOf(team.invite(invite))).toBe(403);
  });

  it('a key that cannot send makes nobody a member who can', async () => {
    const { id: accountId, key } = await service.account({ scopes: ['admin'] });
    const member = await openSignedIn(service, { accountId, role: 'viewer' });
    const { team } = withKey(key);
    expect(await statusOf(team.update({ id: member.userId, role: 'owner' }))).toBe(403);
    const invite = { email: 'eve@people.example', role: 'developer' as const };
    expect(await statusOf(team.invite(invite))).toBe(403);
  });
});
