// Large mails over one connection to the relay: each leaves the connection as it found it.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mail, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ RELAY_CONNECTIONS: '1' });
});
afterAll(() => service.stop());

it('fifteen of them leave no listeners behind', async () => {
  const warnings: string[] = [];
  const hear = (warning: Error) => warnings.push(warning.message);
  process.on('warning', hear);
  const { key, id } = await service.account();
  for (let n = 0; n < 15; n++) await service.send(key, mail({ text: 'x'.repeat(80_000) }));
  await until(async () => {
    const [row] = await service.database.query<{ waiting: number }>(
      'SELECT count(*)::int AS waiting FROM due_messages WHERE account_id = $1',
      [id],
    );
    return row!.waiting === 0;
  });
  process.off('warning', hear);
  expect(warnings).toEqual([]);
});
