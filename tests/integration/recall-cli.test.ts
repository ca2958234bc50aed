// sandmartin message cancel and reschedule: a waiting email is cancelled or moved, and a call that
// comes too late says so.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { registerMessage } from '../../src/cli/message.ts';
import { runInProcess } from '../support/command.ts';
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

const run = (...args: string[]) =>
  runInProcess(registerMessage, ['message', ...args], { DATABASE_URL: service.databaseUrl });
const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();
const send = async (changes = {}): Promise<string> =>
  (await service.send(account.key, anEmail(changes))).body.id;
const read = async (id: string) => (await service.get(account.key, `/v1/messages/${id}`)).body;

it('moves an email, sends it now, and says what no time is', async () => {
  const id = await send({ scheduled_at: inHours(1) });
  const later = inHours(2);
  expect(await run('reschedule', id, later)).toEqual({
    ...{ code: 0, stdout: `It goes out at ${later}.\n`, stderr: '' },
  });
  const wrong = await run('reschedule', id, 'tomorrow');
  expect([wrong.code, wrong.stderr]).toEqual([
    1,
    expect.stringContaining('scheduled_at: "tomorrow" is not a time.'),
  ]);
  const now = await run('reschedule', id, 'now', '--json');
  expect(JSON.parse(now.stdout)).toMatchObject({ sm_mail_id: id });
  await until(async () => (await read(id)).status === 'delivered');
  const late = await run('reschedule', id, later);
  expect(late.code).toBe(1);
  expect(late.stderr).not.toBe('');
});

it('cancels one permanently, and says so when it is too late', async () => {
  const id = await send({ scheduled_at: inHours(1) });
  const cancelled = await run('cancel', id);
  expect(cancelled.stdout).toMatch(/^Cancelled at \d{4}-.*Z\.\n$/);
  expect(await read(id)).toMatchObject({ status: 'queued', events: [] });
  expect((await run('show', id)).stdout).toContain('Cancelled ');
  const gone = await send();
  await until(async () => (await read(gone)).status === 'delivered');
  const late = await run('cancel', gone);
  expect(late.code).toBe(1);
  expect((await run('cancel', 'msg_0000000000000000000000000A')).code).toBe(1);
});
