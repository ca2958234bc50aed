// What an API process knows of the relay, when delivery is another process that freezes or dies.
import { afterEach, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { startFaultyRelay } from '../support/faulty-relay.ts';
import { startProcess } from '../support/process.ts';
import { anEmail, startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

it('an API process refuses while delivery finds the relay down; a frozen process has no say for long', async () => {
  const test = await createTestDatabase();
  closers.push(() => test.drop());
  const relay = await startFaultyRelay();
  closers.push(() => relay.stop());
  const env = { DATABASE_URL: test.url, RELAY_URL: relay.url };
  const api = await startTestService({ ...env, ROLES: 'api' }, { on: test });
  closers.push(() => api.stop());
  const { key } = await api.account();
  const answers = (status: number, withinMs = 20_000) =>
    until(async () => (await api.send(key, anEmail())).status === status, withinMs);
  const frozen = await startProcess({ ...env, ROLES: 'delivery' });
  closers.push(() => frozen.end('SIGKILL'));

  await answers(202);
  await relay.fail('greets with 421');
  await answers(502);
  // Its last word was that the relay is down; nobody is left who could know.
  frozen.child.kill('SIGSTOP');
  await answers(202);

  // Its last word is that all is well; the one that lives knows better.
  await relay.heal();
  frozen.child.kill('SIGCONT');
  const alive = await startProcess({ ...env, ROLES: 'delivery' });
  closers.push(() => alive.end('SIGTERM'));
  await until(() => relay.taken.length > 0);
  await until(async () => {
    const [row] = await test.database.query<{ up: number }>(
      `SELECT count(*) AS up FROM delivery_processes
       WHERE NOT relay_down AND seen_at > now() - interval '2 seconds'`,
    );
    return row!.up === 2;
  });
  frozen.child.kill('SIGSTOP');
  await relay.fail('greets with 421');
  await answers(502);
  expect(alive.output()).toContain('the circuit is open');
});
