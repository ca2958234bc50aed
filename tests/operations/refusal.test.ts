// One place for refusals, one for accepted sends: whichever door it was, each is counted once and
// reported in the same form.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openClient, openSignedIn } from '../dashboard/dashboard-client.ts';
import { callTool } from '../mcp/support.ts';
import { anEmail, request, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const TOKEN = 'a token for the metrics of this test';
let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    ROLES: 'api',
    METRICS_TOKEN: TOKEN,
    SYSTEM_SENDER: 'Service <service@example.com>',
  });
});
afterAll(() => service?.stop());

async function counted(metric: string): Promise<number> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const text = await (await fetch(`${service.url}/metrics`, { headers })).text();
  const line = text.split('\n').find((one) => one.startsWith(`${metric} `));
  return Number(line?.split(' ').at(-1) ?? 0);
}

/** How much the metric rose by. */
async function rise(metric: string, work: () => Promise<unknown>): Promise<number> {
  const before = await counted(metric);
  await work();
  return (await counted(metric)) - before;
}

it('a refusal is counted once at every door, and says detail and code', async () => {
  const { id: accountId, key } = await service.account({ scopes: ['email:send', 'admin'] });
  const person = await openSignedIn(service, { accountId });
  const wrong = { from_email: 7 };
  const refused = (code: string, door: string) =>
    `sandmartin_requests_refused_total{code="${code}",door="${door}"}`;
  const fault = { path: 'from_email', message: 'from_email must be a string' };

  expect(
    await rise(refused('invalid', 'rest'), async () => {
      const { body } = await service.send(key, anEmail(wrong));
      expect(body).toMatchObject({ code: 'invalid', faults: [fault] });
    }),
  ).toBe(1);
  expect(
    await rise(refused('invalid', 'mcp'), async () => {
      const { content } = await callTool(service, key, 'send_email', anEmail(wrong));
      expect(content).toMatchObject({ status: 400, code: 'invalid', faults: [fault] });
    }),
  ).toBe(1);
  expect(
    await rise(refused('invalid', 'dashboard'), async () => {
      const { body } = await person.try('signIn', { body: { email: 7, password: 'x' } });
      expect(body).toMatchObject({ code: 'invalid', faults: [{ path: 'email' }] });
    }),
  ).toBe(1);
  expect(
    await rise(refused('forbidden', 'inbound'), async () => {
      const { status, body } = await request(`${service.url}/inbound/ses`, { method: 'POST' });
      expect({ status, body }).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }),
  ).toBe(1);
});

it('an accepted send is counted once at every door', async () => {
  const { id: accountId, key } = await service.account();
  const owner = await openSignedIn(service, { accountId });
  const accepted = (door: string) => `sandmartin_sends_accepted_total{door="${door}"}`;
  expect(await rise(accepted('rest'), () => service.send(key, anEmail()))).toBe(1);
  const call = () => callTool(service, key, 'send_email', anEmail());
  expect(await rise(accepted('mcp'), call)).toBe(1);
  // By a person, and by the service itself.
  const test = { slug: 'password-reset', to: 'ada@example.net' };
  const send = async () => await owner.api.templates.testSend(test);
  expect(await rise(accepted('dashboard'), send)).toBe(1);
  const before = await counted(accepted('system'));
  await openClient(service.url).call('askForReset', { body: { email: owner.email } });
  await until(async () => (await counted(accepted('system'))) === before + 1);
});
