// Section 2.3: the message timeline, grown by the real relay path of the sandbox.
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let account: TestAccount;
beforeAll(async () => {
  service = await startTestService();
  account = await service.account();
});
afterAll(() => service.stop());

async function deliveredTimeline(changes: Record<string, unknown> = {}) {
  const { body } = await service.send(account.key, anEmail(changes));
  return await until(async () => {
    const timeline = (await service.get(account.key, `/v1/messages/${body.id}`)).body;
    return timeline.status === 'delivered' && timeline;
  });
}

it('has exactly sm_mail_id, user_id, status and events', async () => {
  const timeline = await deliveredTimeline();
  expect(Object.keys(timeline).sort()).toEqual(['events', 'sm_mail_id', 'status', 'user_id']);
});

it('user_id is the owning account, as a string', async () => {
  expect((await deliveredTimeline()).user_id).toBe(String(account.id));
});

it('events are chronological, each with type and timestamp without zone suffix', async () => {
  const { events } = await deliveredTimeline();
  const times = events.map((event: { timestamp: string }) => event.timestamp);
  for (const time of times) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);
  expect(times).toEqual([...times].sort());
  expect(events.map((event: { type: string }) => event.type)).toEqual(['sent', 'delivered']);
  expect(Math.abs(Date.parse(`${times[0]}Z`) - Date.now())).toBeLessThan(60_000);
});

it('sent: recipients and subject', async () => {
  const { events } = await deliveredTimeline({
    subject: 'The subject',
    to: ['ada@example.net'],
    cc: ['bo@example.net'],
    bcc: ['cy@example.net'],
  });
  expect(events[0]).toMatchObject({
    type: 'sent',
    recipients: ['ada@example.net', 'bo@example.net', 'cy@example.net'],
    subject: 'The subject',
  });
});

it('delivered: smtp_response and reporting_mta', async () => {
  const { events } = await deliveredTimeline();
  expect(events[1].smtp_response).toMatch(/^250 /);
  expect(events[1].reporting_mta).toMatch(/^[\w.-]+$/);
});
