// Section 2.2: the send response.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { idTimeMs, readId } from '../../src/ids.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

it('is 202 with exactly id and status', async () => {
  const { key } = await service.account();
  const answer = await service.send(key, anEmail());
  expect(answer.status).toBe(202);
  expect(Object.keys(answer.body)).toEqual(['id', 'status']);
  expect(answer.body.status).toBe('queued');
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
});

it('id: msg_ and a time-ordered id of 26 characters, usable as sm_mail_id', async () => {
  const { key } = await service.account();
  // By the database's clock, which is read once a second.
  const before = Date.now() - 1000;
  const { body } = await service.send(key, anEmail());
  expect(body.id).toMatch(/^msg_[0-9A-HJKMNP-TV-Z]{26}$/);
  const timeMs = idTimeMs(readId('msg_', body.id)!);
  expect(timeMs).toBeGreaterThanOrEqual(before);
  expect(timeMs).toBeLessThanOrEqual(Date.now() + 1000);
  expect((await service.get(key, `/v1/messages/${body.id}`)).body.sm_mail_id).toBe(body.id);
});
