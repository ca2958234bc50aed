// The fixtures in Vitest: each test has a mailbox that begins with it, wherever the environment
// says.
import { afterAll, test as base, beforeAll, expect } from 'vitest';
import { TEST_SCOPES } from '../../src/accounts/scopes.ts';
import { mailboxFixtures, openMailbox, waitForEmail } from '../../src/testing/mailbox.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';

const test = base.extend(mailboxFixtures);
const before = { ...process.env };
let service: TestService;
let key: string;

beforeAll(async () => {
  service = await startTestService();
  ({ key } = await service.account({ scopes: TEST_SCOPES }));
  Object.assign(process.env, { SANDMARTIN_URL: service.url, SANDMARTIN_API_KEY: key });
});
afterAll(async () => {
  for (const name of ['SANDMARTIN_URL', 'SANDMARTIN_API_KEY']) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
  await service.stop();
});

const sendCode = (code: string) =>
  service.send(key, anEmail({ to: ['ada@example.net'], text: `Your code is ${code}` }));

test('two emails that came are given in their order, each once', async ({ mailbox }) => {
  await sendCode('111111');
  const first = await mailbox.waitForEmail({ to: 'ada@example.net' });
  await sendCode('222222');
  const second = await mailbox.waitForEmail({ to: 'ada@example.net' });
  expect([first.codes, second.codes]).toEqual([['111111'], ['222222']]);
});

test('what an earlier test was sent is not seen', async ({ mailbox }) => {
  const nothing = mailbox.waitForEmail({ to: 'ada@example.net', timeoutMs: 500 });
  await expect(nothing).rejects.toThrow('No other email arrived either.');
});

base('without a mailbox: two accounts in one program, each with its own', async () => {
  const other = await service.account({ scopes: TEST_SCOPES });
  await service.send(other.key, anEmail({ to: ['bob@example.net'], text: 'Your code is 333333' }));
  await service.send(key, anEmail({ to: ['bob@example.net'], text: 'Your code is 444444' }));
  const wish = { to: 'bob@example.net' };
  expect((await waitForEmail(wish)).codes).toEqual(['444444']);
  expect((await waitForEmail({ ...wish, apiKey: other.key })).codes).toEqual(['333333']);
  await expect(waitForEmail({ ...wish, timeoutMs: 300 })).rejects.toThrow('No email to bob');
});

base('without the environment it says what to set', async () => {
  const { SANDMARTIN_URL } = process.env;
  delete process.env.SANDMARTIN_URL;
  await expect(openMailbox()).rejects.toThrow(/^Set SANDMARTIN_URL and SANDMARTIN_API_KEY/);
  process.env.SANDMARTIN_URL = SANDMARTIN_URL;
});
