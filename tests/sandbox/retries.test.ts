// The sandbox's reports are not lost while nobody listens: they are tried again, also by the next process.
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { anEmail, startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let on: TestDatabase;

beforeAll(async () => {
  on = await createTestDatabase();
});
afterAll(() => on.drop());

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

const attempts = async () =>
  (await on.database.query<{ attempts: number }>('SELECT attempts FROM sandbox_acts'))[0]?.attempts;

it('comes later when the feedback listener comes later, in another process', async () => {
  const feedback = { FEEDBACK_PORT: String(await freePort()) };
  const sender = await startTestService({ ROLES: 'api,delivery', ...feedback }, { on });
  const { key } = await sender.account();
  const { id } = (await sender.send(key, anEmail({ to: ['bounce@simulator.test'] }))).body;
  await until(async () => ((await attempts()) ?? 0) >= 2);
  expect((await sender.get(key, `/v1/messages/${id}`)).body.status).toBe('sent');
  await sender.stop();

  const other = await startTestService(feedback, { on });
  await until(async () => (await other.get(key, `/v1/messages/${id}`)).body.status === 'bounced');
  await until(async () => (await attempts()) === undefined);
  await other.stop();
});
