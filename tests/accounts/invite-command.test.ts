// `user invite`: the operator of the machine makes an invitation's link where the service cannot write email itself.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { registerUser } from '../../src/cli/user.ts';
import { openClient, PASSWORD } from '../dashboard/dashboard-client.ts';
import { runInProcess } from '../support/command.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.stop());

it('prints a link by which somebody joins, once', async () => {
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
