// send_batch as an agent calls it: one email for many people, each with their own copy; repeating
// the call emails nobody twice; numbers stay as they are written, here and in send_email.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { systemClock } from '../../src/process/clock.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { storedEmail } from '../templates/support.ts';
import { callTool, ERAS, post, rpc } from './support.ts';

let service: TestService;
let account: TestAccount;
beforeAll(async () => {
  service = await startTestService({ ROLES: 'api' });
  account = await service.account();
});
afterAll(() => service.stop());

const toMany = (changes: Record<string, unknown> = {}) => ({
  from_email: 'hello@example.com',
  template: 'welcome',
  variables: { action_url: 'https://example.com/' },
  recipients: [
    { to: 'ada@example.net', variables: { name: 'Ada' } },
    { to: 'bob@example.net', variables: { name: 'Bob' } },
  ],
  ...changes,
});
const call = (input: Record<string, unknown>) =>
  callTool(service, account.key, 'send_batch', input);

it('makes an email for each; the same call within a minute is a repeat', async () => {
  const first = await call(toMany());
  expect(first.isError).toBe(false);
  expect(first.content).toMatchObject({ data: [{ status: 'queued' }, {}], errors: [] });
  expect((await call(toMany())).content).toEqual(first.content);
  const [{ count }] = (await service.database.query(
    'SELECT count(*)::integer FROM messages WHERE account_id = $1',
    [account.id],
  )) as [{ count: number }];
  expect(count).toBe(2);
});

it('says that nothing has left, who gets no copy, and that all is captured', async () => {
  const { key } = await createKey(service.database, systemClock, {
    ...{ accountId: account.id, scopes: ['email:send'], limits: { approval: 'always' } },
  });
  await service.database.query(
    `INSERT INTO suppressions (account_id, address, reason) VALUES ($1, 'gone@example.net', 'manual')`,
    [account.id],
  );
  const recipients = [{ to: 'Eve <eve@example.net>' }, { to: ['gone@example.net'] }];
  const { content } = await callTool(service, key, 'send_batch', toMany({ recipients }));
  expect(content).toMatchObject({
    data: [{ status: 'queued' }, { status: 'queued' }],
    held: {
      note: expect.stringContaining('Nothing has been sent'),
      waiting: 2,
      approval_url: `${service.url}/approvals`,
    },
    suppressed: ['gone@example.net'],
    sandbox: true,
  });
  const sent = await call(toMany({ recipients: [{ to: 'eve@example.net' }] }));
  expect(sent.content).toMatchObject({ sandbox: true });
  expect(sent.content).not.toHaveProperty('held');
  expect(sent.content).not.toHaveProperty('suppressed');
});

it('a refusal has the errors of each email', async () => {
  const recipients = [{ to: 'ada@example.net' }, { to: 'nobody' }];
  const { isError, content } = await call(toMany({ recipients }));
  expect({ isError, status: content.status }).toEqual({ isError: true, status: 400 });
  expect(content.errors).toMatchObject([{ index: 1 }]);
});

it('has no list of emails', async () => {
  const { content } = await call({ emails: [] });
  expect(content.faults.map(({ path }: { path: string }) => path)).toContain('emails');
});

it.each(ERAS)('numbers reach the template as they are written (%s)', async (era) => {
  const asWritten = async (name: string, input: string) => {
    const { headers, body } = rpc(era, 'tools/call', { name, arguments: { here: true } });
    const text = JSON.stringify(body).replace('{"here":true}', input);
    const answer = await post(`${service.url}/mcp`, account.key, { headers, body: text });
    const { data: [{ id }] = [{ id: undefined }], ...single } =
      answer.body.result.structuredContent;
    return (await storedEmail(service.database, id ?? single.id)).subject;
  };
  const email = (to: string) =>
    `{"from_email":"hello@example.com","template":"welcome","subject":"{{ a }} {{ b }} ${era}","variables":{"action_url":"https://example.com/","a":1234567890123456789,"b":10.0},${to}}`;
  expect(await asWritten('send_email', email('"to":["a@example.net"]'))).toBe(
    `1234567890123456789 10.0 ${era}`,
  );
  expect(await asWritten('send_batch', email('"recipients":[{"to":"a@example.net"}]'))).toBe(
    `1234567890123456789 10.0 ${era}`,
  );
});
