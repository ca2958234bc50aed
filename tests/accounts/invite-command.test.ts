// `user invite`: the operator of the machine creates an invitation link if the service cannot send
// email itself.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { registerUser } from '../../src/cli/user.ts';
import { removeMember, setMember } from '../../src/people/users.ts';
import { makeUser, openClient, PASSWORD } from '../dashboard/dashboard-client.ts';
import { runInProcess } from '../support/command.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.stop());

it('prints a link by which someone joins, once', async () => {
  const { id } = await service.account();
  const env = { DATABASE_URL: service.databaseUrl, BASE_URL: 'https://mail.example' };
  const invite = (...args: string[]) =>
    runInProcess(registerUser, ['user', 'invite', ...args], env);
  const { stdout } = await invite('grace@people.example', '--account', String(id), '--json');
  const { link, role } = JSON.parse(stdout);
  expect(link).toMatch(/^https:\/\/mail\.example\/invitation#[\w-]{40}$/);
  expect(role).toBe('owner');
  const body = { token: link.split('#')[1], password: PASSWORD, name: 'Grace' };
  const me = await openClient(service.url).call('acceptInvitation', { body });
  expect(me.account).toMatchObject({ id, role: 'owner' });
  expect((await openClient(service.url).try('acceptInvitation', { body })).status).toBe(404);
  expect((await invite('x@people.example', '--account', '999999')).code).toBe(1);
});

/** As the command line of the machine where it runs. */
const user = (...args: string[]) =>
  runInProcess(registerUser, ['user', ...args], { DATABASE_URL: service.databaseUrl });

async function invited(email: string, accountId: number, role: string): Promise<string> {
  const { stdout } = await user(
    ...['invite', email, '--account', String(accountId), '--role', role, '--json'],
  );
  return JSON.parse(stdout).link.split('#')[1];
}

const roleOf = async (accountId: number, email: string) =>
  (
    await service.database.query<{ role: string }>(
      'SELECT m.role FROM members m JOIN users u ON u.id = m.user_id WHERE m.account_id = $1 AND u.email = $2',
      [accountId, email],
    )
  )[0]?.role;

it('an old link changes nothing for someone who became a member another way', async () => {
  const { id } = await service.account();
  const email = 'owner@people.example';
  const before = await invited(email, id, 'viewer');
  await user('create', email, '--account', String(id), '--role', 'owner');
  const accept = (token: string) =>
    openClient(service.url).try('acceptInvitation', { body: { token, password: PASSWORD } });
  expect((await accept(before)).status).toBe(404);
  expect(await roleOf(id, email)).toBe('owner');

  // Left by a version that kept invitations of members.
  const elsewhere = await service.account();
  const known = await makeUser(service.database, { accountId: elsewhere.id });
  const kept = await invited(known.email, id, 'viewer');
  await setMember(service.database, id, known.id, 'owner');
  expect((await accept(kept)).status).toBe(200);
  expect(await roleOf(id, known.email)).toBe('owner');
});

it('who was removed does not come back by an old link', async () => {
  const { id } = await service.account();
  await makeUser(service.database, { accountId: id, role: 'owner' });
  const elsewhere = await service.account();
  const left = await makeUser(service.database, { accountId: elsewhere.id });
  const token = await invited(left.email, id, 'owner');
  await user('join', left.email, '--account', String(id), '--role', 'developer');
  await removeMember(service.database, id, left.id);
  const body = { token, password: PASSWORD };
  expect((await openClient(service.url).try('acceptInvitation', { body })).status).toBe(404);
  expect(await roleOf(id, left.email)).toBeUndefined();
});

it('`user join` changes a role, but never that of the last owner', async () => {
  const { id } = await service.account();
  const owner = await makeUser(service.database, { accountId: id, role: 'owner' });
  const other = await makeUser(service.database, { accountId: id, role: 'viewer' });
  const join = (email: string, role: string) =>
    user('join', email, '--account', String(id), '--role', role);
  expect((await join(owner.email, 'viewer')).code).toBe(1);
  expect(await roleOf(id, owner.email)).toBe('owner');
  expect((await join(other.email, 'owner')).code).toBe(0);
  expect((await join(owner.email, 'viewer')).code).toBe(0);
  expect([await roleOf(id, owner.email), await roleOf(id, other.email)]).toEqual([
    ...['viewer', 'owner'],
  ]);
});
