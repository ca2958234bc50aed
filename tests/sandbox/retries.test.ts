// The sandbox's reports are played where reports are read: not lost while no process does that, and
// not sent to a port where nobody listens.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { anEmail, startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let on: TestDatabase;

beforeAll(async () => {
  on = await createTestDatabase();
});
afterAll(() => on.drop());

const steps = () => on.database.query('SELECT attempts FROM sandbox_acts');

it('comes from the process that reads reports, on whichever port, also if it starts later', async () => {
  const sender = await startTestService({ ROLES: 'api,delivery' }, { on });
  const { key } = await sender.account();
  const send = async (script: string) =>
    (await sender.send(key, anEmail({ to: [`${script}@simulator.test`] }))).body.id as string;
  const statusOf = async (id: string) => (await sender.get(key, `/v1/messages/${id}`)).body.status;
  const early = await send('bounce');
  await until(async () => (await statusOf(early)) === 'sent');
  expect(await steps()).toEqual([{ attempts: 0 }]);

  const reader = await startTestService({ ROLES: 'feedback' }, { on });
  await until(async () => (await statusOf(early)) === 'bounced');
  const late = await Promise.all([send('delivered'), send('bounce'), send('complaint')]);
  const expected = ['delivered', 'bounced', 'complained'];
  await until(async () => {
    const statuses = await Promise.all(late.map(statusOf));
    return statuses.every((status, n) => status === expected[n]);
  });
  await until(async () => (await steps()).length === 0);
  await reader.stop();
  await sender.stop();
});
