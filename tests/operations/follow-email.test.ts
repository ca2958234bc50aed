// Waiting for an event: nobody waits for what can no longer happen.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { anEmail, request, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await startTestService();
  ({ key } = await service.account());
});
afterAll(() => service?.stop());

async function scheduled(): Promise<string> {
  const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
  return (await service.send(key, anEmail({ scheduled_at }))).body.id;
}

const cancel = (id: string) =>
  request(`${service.url}/v1/messages/${id}/cancel`, {
    method: 'POST',
    headers: { 'x-api-key': key },
  });

it.each([
  ['any event', ''],
  ['a status', '&status=delivered'],
])('of a cancelled email is over at once: %s', async (_, wanted) => {
  const id = await scheduled();
  expect((await cancel(id)).status).toBe(200);
  const start = performance.now();
  const { body } = await service.get(key, `/v1/messages/${id}/wait?timeout_seconds=25${wanted}`);
  expect(body).toMatchObject({ status: 'queued', happened: false, new_events: [] });
  expect(performance.now() - start).toBeLessThan(20_000);
});

it('is over when the email is cancelled meanwhile', async () => {
  const id = await scheduled();
  const start = performance.now();
  const waiting = service.get(key, `/v1/messages/${id}/wait?timeout_seconds=25`);
  await cancel(id);
  expect((await waiting).body.happened).toBe(false);
  expect(performance.now() - start).toBeLessThan(20_000);
});
