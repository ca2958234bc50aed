// Section 4.2: GET /v1/messages/{sm_mail_id}.
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

let service: TestService;
let account: TestAccount;
let id: string;
beforeAll(async () => {
  service = await startTestService();
  account = await service.account();
  id = (await service.send(account.key, anEmail())).body.id;
});
afterAll(() => service.stop());

it('returns the message', async () => {
  const answer = await service.get(account.key, `/v1/messages/${id}`);
  expect(answer).toMatchObject({ status: 200, body: { sm_mail_id: id } });
});

it('needs email:read', async () => {
  const sender = await service.account({ scopes: ['email:send'] });
  const answer = await service.get(sender.key, `/v1/messages/${id}`);
  expect(answer.status).toBe(403);
  expect(answer.body.detail).toContain('email:read');
});

it('another account’s message → 404, like one that does not exist', async () => {
  const other = await service.account();
  const foreign = await service.get(other.key, `/v1/messages/${id}`);
  const unknown = await service.get(account.key, '/v1/messages/msg_01K9ZQ3V7N8M2R4T6W8Y0A1B2C');
  expect(foreign.status).toBe(404);
  expect(unknown.status).toBe(404);
});

it.each(['nonsense', 'msg_', 'msg_01K9', 'msg_ZZZZZZZZZZZZZZZZZZZZZZZZZZ', '%00', "msg_'--"])(
  'an id like %j → 404',
  async (bad) => {
    const answer = await service.get(account.key, `/v1/messages/${encodeURIComponent(bad)}`);
    expect(answer.status).toBe(404);
    expect(answer.body.detail).toEqual(expect.any(String));
  },
);
