// The account, its team, and for operators all accounts: what owners set, what operators set, and
// who is kept out.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isOperators } from '../../src/accounts/scopes.ts';
import { Sandmartin } from '../../src/client/sandmartin.ts';
import { OPERATIONS } from '../../src/operations/all.ts';
import { BY_OPERATORS } from '../../src/operations/audit.ts';
import { openClient, openSignedIn, PASSWORD, statusOf } from '../dashboard/dashboard-client.ts';
import { mailedInvitation } from '../support/invitation.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ SYSTEM_SENDER: 'Sandmartin <no-reply@system.example>' });
  await service.account({ identities: ['system.example'] });
});
afterAll(() => service.stop());

it('the account shows its plan and what is held back, and changes its switches', async () => {
  const { id: accountId } = await service.account();
  const { api } = await openSignedIn(service, { accountId });
  expect(await api.account.get()).toMatchObject({ plan: 'paid', suspended: null, blocked: [] });
  expect(await api.account.update({ name: 'Renamed', track_opens: false })).toMatchObject({
    ...{ name: 'Renamed', track_opens: false, track_clicks: true },
  });
  expect((await api.audit.list()).data[0]).toMatchObject({
    action: 'update_account',
    before: { name: 'Test', track_opens: true },
    after: { name: 'Renamed', track_opens: false },
  });

  const free = await service.account({ plan: 'free', identities: [] });
  const poor = await openSignedIn(service, { accountId: free.id });
  const { blocked, quota } = await poor.api.account.get();
  expect(quota).toMatchObject({ limit: 0, left: 0 });
  expect(blocked.map(({ why }) => why)).toEqual([
    expect.stringContaining('402'),
    expect.stringContaining('Senders'),
  ]);
  const developer = await openSignedIn(service, { accountId, role: 'developer' });
  expect(await statusOf(developer.api.account.update({ name: 'Mine' }))).toBe(403);
});

it('a program of the account invites, and the audit says so', async () => {
  // Approving is not part of `admin`, and whoever may not do it cannot have others do it.
  const admin = await service.account({ scopes: ['email:send', 'email:read', 'admin'] });
  const invitation = { email: 'zoe@people.example', role: 'developer' } as const;
  const without = new Sandmartin({ baseUrl: service.url, apiKey: admin.key, retries: 0 });
  expect(await statusOf(without.team.invite(invitation))).toBe(403);

  const scopes = ['email:send', 'email:read', 'admin', 'approvals:write'] as const;
  const { key } = await service.account({ scopes });
  const api = new Sandmartin({ baseUrl: service.url, apiKey: key, retries: 0 });
  const invited = await api.team.invite({ email: 'Zoe@People.example', role: 'viewer' });
  expect(invited).toMatchObject({ email: 'zoe@people.example', invited_by: 'Test' });
  const { token } = await mailedInvitation(service.database, 'zoe@people.example');
  const zoe = openClient(service.url);
  await zoe.call('acceptInvitation', { body: { token, password: PASSWORD, name: 'Zoe' } });
  const { data } = await api.team.list();
  expect(data).toMatchObject([{ email: 'zoe@people.example', role: 'viewer', you: false }]);
  expect(await api.team.update({ id: data[0]!.id, role: 'developer' })).toMatchObject({
    role: 'developer',
  });
  expect((await zoe.api.team.list()).data[0]!.you).toBe(true);
  expect(await statusOf(zoe.api.team.remove({ id: data[0]!.id }))).toBe(403);
  await api.team.remove({ id: data[0]!.id });
  expect(await statusOf(zoe.api.account.get())).toBe(401);
  const { data: audit } = await api.audit.list({ target: 'zoe@people.example' });
  expect(audit.map(({ action }) => action)).toEqual([
    'remove_member',
    'update_member',
    'invite_member',
  ]);
});

describe('an operator', () => {
  it('makes, changes, suspends, pauses and resumes accounts, which stands in their audit', async () => {
    const { api } = await openSignedIn(service, { operator: true });
    const { invited, ...made } = await api.accounts.create({
      ...{ name: 'New', plan: 'free', owner_email: 'first@people.example' },
    });
    expect(made).toMatchObject({ name: 'New', plan: 'free', members: 0, suspended: null });
    expect(invited).toMatchObject({ role: 'owner', link: null, note: null });
    const { token } = await mailedInvitation(service.database, 'first@people.example');
    const owner = openClient(service.url);
    const me = await owner.call('acceptInvitation', {
      body: { token, password: PASSWORD, name: 'First' },
    });
    expect(me.account).toMatchObject({ id: made.id, role: 'owner', plan: 'free' });

    const { id } = made;
    const figures = { daily_quota: 7, rate_per_second: 3 };
    expect(await api.accounts.update({ id, plan: 'paid', ...figures })).toMatchObject({
      ...{ plan: 'paid', ...figures, members: 1 },
    });
    const { secret } = await owner.api.keys.create({ scopes: ['email:read'] });
    const look = () => service.get(secret, '/v1/messages/msg_0');
    expect((await look()).status).toBe(404);

    const reason = 'Unpaid bill';
    expect(await api.accounts.suspend({ id, reason })).toMatchObject({ suspended: { reason } });
    const refused = await look();
    expect(refused.status).toBe(403);
    expect(refused.body.detail).toContain('suspended: Unpaid bill.');
    expect((await owner.call('getSession', {})).me!.account!.suspended).toBe(true);
    expect((await api.accounts.resume({ id })).suspended).toBeNull();
    expect((await look()).status).toBe(404);
    expect(await api.accounts.pause({ id, reason })).toMatchObject({ paused: { reason } });
    expect((await api.accounts.resume({ id })).paused).toBeNull();

    expect(await statusOf(api.accounts.suspend({ id: 999_999, reason }))).toBe(404);
    expect(await statusOf(api.accounts.resume({ id: 'x' as never }))).toBe(400);
    const { data } = await owner.api.audit.list();
    expect(data.map(({ action }) => action)).toEqual([
      'resume_account',
      'pause_account',
      'resume_account',
      'suspend_account',
      'create_key',
      'update_operated_account',
      'create_account',
    ]);
    expect(data[5]).toMatchObject({ before: { plan: 'free' }, after: { plan: 'paid' } });
  });

  it('reads all accounts page by page, and the state of the service', async () => {
    const { api } = await openSignedIn(service, { operator: true });
    await service.account();
    const ids = [];
    for await (const { id } of api.accounts.list({ limit: 1 })) ids.push(id);
    expect(ids.length).toBeGreaterThan(1);
    expect(ids).toEqual([...new Set(ids)].sort((one, other) => one - other));
    const { roles } = await api.service.get();
    expect(roles.find(({ role }) => role === 'api')).toMatchObject({ running: 1, missing: false });
    expect((await api.quarantine.list()).data).toEqual([]);
    expect(await statusOf(api.quarantine.release({ id: 'msg_0' }))).toBe(404);
    expect(await api.quarantine.releaseAll()).toEqual({ released: 0 });
  });

  it('is nobody’s key and no owner', async () => {
    const account = await service.account({ scopes: ['admin', 'email:send', 'email:read'] });
    const withKey = new Sandmartin({ baseUrl: service.url, apiKey: account.key, retries: 0 });
    const owner = await openSignedIn(service, { accountId: account.id });
    for (const api of [withKey, owner.api]) {
      const { id } = account;
      const tries: (() => PromiseLike<unknown>)[] = [
        () => api.accounts.list(),
        () => api.accounts.get({ id }),
        () => api.accounts.create({ name: 'Mine', plan: 'paid' }),
        () => api.accounts.update({ id, daily_quota: 1_000_000 }),
        () => api.accounts.resume({ id }),
        () => api.service.get(),
        () => api.quarantine.list(),
        () => api.quarantine.releaseAll(),
      ];
      for (const attempt of tries) expect(await statusOf(attempt())).toBe(403);
    }
    // Nor do agents see that there is such a thing.
    const tools = await fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ 'x-api-key': account.key, 'content-type': 'application/json' },
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    });
    expect(await tools.text()).not.toMatch(/_accounts|quarantine|service_state/);
  });
});

it('an account does not learn who of the operators changed it', async () => {
  const { id: accountId, key } = await service.account({ scopes: ['admin'] });
  const operator = await openSignedIn(service, {
    accountId: (await service.account()).id,
    operator: true,
  });
  await operator.api.accounts.update({ id: accountId, daily_quota: 777 });
  const { body } = await service.get(key, '/v1/audit');
  expect(body.data[0]).toMatchObject({
    action: 'update_operated_account',
    actor: { kind: 'person', id: null, name: 'operator' },
  });
  expect(JSON.stringify(body)).not.toContain(operator.email);
  const member = await openSignedIn(service, { accountId, operator: true });
  expect((await member.api.audit.list()).data[0]!.actor.name).toBe(operator.email);
});

it('every change that only operators make is one of theirs in the audit', () => {
  const changing = OPERATIONS.filter(
    ({ scope, effect }) => isOperators(scope) && effect !== 'reads',
  );
  expect(changing.length).toBeGreaterThan(3);
  expect(changing.filter(({ name }) => !BY_OPERATORS.has(name)).map(({ name }) => name)).toEqual(
    [],
  );
});
