// Who may call what. Walks the route table of the contract, so that no route can be forgotten:
// every route needs a session and our own page; viewers write nothing; what belongs to another
// account is not there.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { type Access, type Api, ROUTES, type RouteName } from '../../src/dashboard/contract.ts';
import { listSessions } from '../../src/people/sessions.ts';
import { systemClock } from '../../src/process/clock.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { type DashboardClient, openClient, openSignedIn } from './dashboard-client.ts';

let service: TestService;
let ours: { id: number; key: string };
let theirs: { id: number; key: string };
let us: DashboardClient;
let theirThings: Things;

beforeAll(async () => {
  service = await startTestService({ WEBHOOK_ALLOW: '127.0.0.0/8' });
  ours = await service.account();
  theirs = await service.account();
  us = await openSignedIn(service, { accountId: ours.id });
  theirThings = await makeThings();
});

afterAll(() => service.stop());

const names = Object.keys(ROUTES) as RouteName[];
const accessOf = (name: RouteName): Access => ROUTES[name].access;
const writes = (name: RouteName): boolean => ROUTES[name].method !== 'GET';
const isMembers = (name: RouteName): boolean =>
  ['viewer', 'developer', 'owner'].includes(accessOf(name));

const passkey = { id: 'eA', clientData: 'eA', authenticatorData: 'eA', signature: 'eA' };
const { signature: _, ...newPasskey } = passkey;

/** A body that each route takes, so that nothing but the question at hand refuses it. */
const BODIES: {
  [Name in RouteName as Api[Name] extends { body: unknown } ? Name : never]: unknown;
} = {
  signIn: { email: 'nobody@example.com', password: 'wrong' },
  switchAccount: { accountId: 1 },
  changePassword: { current: 'wrong', password: 'wrong wrong wrong' },
  setUp: { token: 'x', email: 'a@b.example', password: 'x', name: 'x', accountName: 'x' },
  showInvitation: { token: 'x' },
  acceptInvitation: { token: 'x', password: 'x', name: 'x' },
  askForReset: { email: 'nobody@example.com' },
  showReset: { token: 'x' },
  resetPassword: { token: 'x', password: 'x' },
  signInWithCode: { ticket: 'x', code: 'x' },
  signInWithPasskey: { assertion: passkey },
  prove: { password: 'wrong' },
  confirmApp: { code: 'x' },
  addPasskey: { name: 'x', response: newPasskey },
  requireFactor: { required: true },
};

const bodyOf = (name: RouteName): unknown => (BODIES as Record<string, unknown>)[name];

type WithParams = {
  [Name in RouteName]: Api[Name] extends { params: unknown } ? Name : never;
}[RouteName];
type Things = { [Name in WithParams]: Record<string, string> };

/** One of everything that has an id, of the other account. */
async function makeThings(): Promise<Things> {
  const sent = await service.send(theirs.key, anEmail());
  const message = { id: sent.body.id as string };
  const { userId } = await openSignedIn(service, { accountId: theirs.id });
  const [session] = await listSessions(service.database, userId);
  return {
    liveMessage: message,
    endOwnSession: { id: session!.id },
    removePasskey: { id: 'eA' },
  };
}

const paramsOf = (name: RouteName): Record<string, string> | undefined =>
  (theirThings as Record<string, Record<string, string>>)[name];

describe('without a session', () => {
  it.each(names.filter((name) => accessOf(name) !== 'public'))('%s → 401', async (name) => {
    const answer = await openClient(service.url).try(name, {
      params: paramsOf(name),
      body: bodyOf(name),
    });
    expect(answer.status).toBe(401);
    expect(answer.body.detail).toMatch(/sign in/i);
  });

  it('a cookie that nobody gave out is no session', async () => {
    const forged = openClient(service.url, `sm_session=${'A'.repeat(43)}`);
    await expect(forged.api.usage.get()).rejects.toMatchObject({ status: 401 });
  });
});

describe('from a page that is not ours', () => {
  it.each(names.filter(writes))('%s without our header → 403', async (name) => {
    const headers = { 'x-sm-dashboard': undefined };
    const answer = await us.try(name, { params: paramsOf(name), body: bodyOf(name), headers });
    expect(answer.status).toBe(403);
  });

  it.each(names.filter(writes))('%s from another origin → 403', async (name) => {
    for (const origin of ['https://evil.example', 'null', undefined]) {
      const answer = await us.try(name, {
        params: paramsOf(name),
        body: bodyOf(name),
        headers: { origin },
      });
      expect(answer.status, String(origin)).toBe(403);
    }
  });

  it('a form cannot send what is not JSON', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await us.try('signIn', { body: {}, headers })).status).toBe(400);
  });
});

describe('a role that is too small', () => {
  let viewer: DashboardClient;

  beforeAll(async () => {
    viewer = await openSignedIn(service, { accountId: ours.id, role: 'viewer' });
  });

  it.each(names.filter((name) => ['developer', 'owner'].includes(accessOf(name))))(
    'viewer: %s → 403',
    async (name) => {
      const answer = await viewer.try(name, { params: paramsOf(name), body: bodyOf(name) });
      expect(answer.status).toBe(403);
      expect(answer.body.detail).toMatch(/viewer/);
    },
  );

  it('all writing routes ask for more than a viewer, but for one’s own session', () => {
    const forAll = names.filter((name) => writes(name) && accessOf(name) === 'viewer');
    expect(forAll).toEqual([]);
    const own = names.filter((name) => accessOf(name) === 'user');
    expect(own.sort()).toEqual([
      ...['addPasskey', 'askProof', 'changePassword', 'confirmApp', 'endOwnSession', 'getFactors'],
      ...['listSessions', 'makeRecoveryCodes', 'prove', 'removeApp', 'removePasskey', 'signOut'],
      ...['signOutOthers', 'startApp', 'startPasskey', 'switchAccount'],
    ]);
  });

  it('viewers read everything', async () => {
    const readable = names.filter(
      (name) => !writes(name) && isMembers(name) && !ROUTES[name].path.includes(':'),
    );
    for (const name of readable.filter((it) => it !== 'live')) {
      expect((await viewer.try(name)).status, name).toBe(200);
    }
  });
});

describe('what belongs to another account', () => {
  it.each(names.filter((name) => isMembers(name) && ROUTES[name].path.includes(':')))(
    '%s → 404',
    async (name) => {
      expect(paramsOf(name), 'the test lacks an id for this route').toBeDefined();
      const answer = await us.try(name, { params: paramsOf(name), body: bodyOf(name) });
      expect([name, answer.status, answer.body.detail]).toEqual([name, 404, expect.any(String)]);
    },
  );

  it('nobody enters an account by its number', async () => {
    const answer = await us.try('switchAccount', { body: { accountId: theirs.id } });
    expect(answer.status).toBe(404);
  });

  it('lists show only what is ours', async () => {
    await service.send(ours.key, anEmail({ subject: 'Ours' }));
    const { data } = await us.api.messages.list();
    expect(new Set(data.map(({ subject }) => subject))).toEqual(new Set(['Ours']));
    const found = await us.api.messages.list({ id: theirThings.liveMessage.id });
    expect(found.data).toEqual([]);
  });
});

it('an operator reads no account they do not belong to', async () => {
  const operator = await openSignedIn(service, { operator: true });
  expect((await operator.get('/v1/accounts')).status).toBe(200);
  expect((await operator.get('/v1/account')).status).toBe(403);
  for (const name of names.filter(isMembers)) {
    const answer = await operator.try(name, { params: paramsOf(name), body: bodyOf(name) });
    expect([name, answer.status]).toEqual([name, 403]);
  }
});

it('a revoked key is refused at once', async () => {
  const { key } = await createKey(service.database, systemClock, {
    accountId: ours.id,
    scopes: ['email:read'],
    name: 'to be revoked',
  });
  expect((await service.get(key, '/v1/messages/msg_0')).status).toBe(404);
  const { data } = await us.api.keys.list();
  const { id } = data.find(({ name }) => name === 'to be revoked')!;
  await us.api.keys.revoke({ id });
  expect((await service.get(key, '/v1/messages/msg_0')).status).toBe(401);
});

describe('a page that is about another account than the session, since another tab switched', () => {
  it('reads and writes nothing, by operations and streams; without a word about it all is as before', async () => {
    const person = await openSignedIn(service, { accountId: ours.id });
    const ask = (method: string, path: string, account?: string) =>
      fetch(service.url + path, {
        method,
        headers: {
          'x-sm-dashboard': '1',
          origin: service.url,
          cookie: person.cookie!,
          ...(account && { 'x-sm-account': account }),
        },
      }).then(async (answer) => {
        const { status } = answer;
        await answer.body?.cancel();
        return status;
      });
    const other = String(theirs.id);
    const own = String(ours.id);
    expect(await ask('GET', '/v1/suppressions', other)).toBe(409);
    expect(await ask('PUT', '/v1/suppressions/ada@example.net', other)).toBe(409);
    expect(await ask('GET', `/dashboard/api/live?account=${other}`)).toBe(409);
    expect(await ask('GET', '/v1/suppressions', own)).toBe(200);
    expect(await ask('GET', '/v1/suppressions')).toBe(200);
    expect(await ask('GET', `/dashboard/api/live?account=${own}`)).toBe(200);
    // About oneself it does not matter.
    expect(await ask('GET', '/dashboard/api/factors', other)).toBe(200);
  });
});
