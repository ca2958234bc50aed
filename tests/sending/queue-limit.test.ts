// The limit on the queue: beyond it sends are refused with the reason, and accepted again when
// there is room.
import { expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { countLockWaits } from '../support/lock-waits.ts';
import { freePort, runCommand } from '../support/process.ts';
import { anEmail, request, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** Its relay is away, and email is accepted anyway: everything waits. */
async function startFilling(limit: Record<string, string>): Promise<TestService> {
  const service = await startTestService({
    RELAY_URL: `smtp://127.0.0.1:${await freePort()}`,
    RELAY_DOWN: 'queue',
    ...limit,
  });
  onTestFinished(() => service.stop());
  return service;
}

it('a full queue is said by name to callers, /readyz, /metrics and doctor; a repeat gets its first answer', async () => {
  const env = { QUEUE_LIMIT: '3' };
  const service = await startFilling(env);
  const { key } = await service.account();
  const first = await service.send(key, anEmail(), { 'idempotency-key': 'first' });
  for (const answer of [
    first,
    await service.send(key, anEmail()),
    await service.send(key, anEmail()),
  ]) {
    expect(answer.status).toBe(202);
  }
  const refused = await service.send(key, anEmail());
  expect(refused.status).toBe(503);
  expect(refused.body.detail).toContain('queue of this service is full');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  const repeated = await service.send(key, anEmail(), { 'idempotency-key': 'first' });
  expect(repeated.body).toEqual(first.body);

  const ready = await request(`${service.url}/readyz`);
  expect(ready.status).toBe(503);
  expect(ready.body.detail).toContain('QUEUE_LIMIT');
  expect(await (await fetch(`${service.url}/metrics`)).text()).toContain(
    'sandmartin_trouble{kind="queue-full"} 1',
  );
  const { stdout } = await runCommand(['doctor', '--json'], {
    DATABASE_URL: service.databaseUrl,
    ...env,
  });
  const findings: { check: string }[] = JSON.parse(stdout);
  expect(findings.find(({ check }) => check === 'queue')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('3 emails are waiting'),
  });

  await service.database.query('DELETE FROM due_messages');
  await until(async () => (await service.send(key, anEmail())).status === 202);
  expect(await request(`${service.url}/readyz`)).toMatchObject({ status: 200 });
});

it('a count that was held up does not put off the next one for minutes', async () => {
  const service = await startFilling({ QUEUE_LIMIT: '1' });
  const { key } = await service.account();
  const [server] = service.database.nodes();
  await server!.database.transaction(async (client) => {
    const tables = await client.query<{ name: string }>(
      `SELECT tables_here('due_messages')::text AS name`,
    );
    const names = tables.map(({ name }) => name);
    // Citus protects its shards; elsewhere the setting means nothing.
    await client.query('SET LOCAL citus.enable_manual_changes_to_shards = on');
    await client.query(`LOCK TABLE ${names.join(', ')} IN ACCESS EXCLUSIVE MODE`);
    // Fifty times as long would be longer than until waits.
    const held = { words: 'queue_size_here', forMs: 2000 };
    // By another connection: within a transaction the view stays as it was first read.
    await until(async () => (await countLockWaits(service.database, held)) > 0);
  });
  expect((await service.send(key, anEmail())).status).toBe(202);
  expect((await service.send(key, anEmail())).status).toBe(503);
  await service.database.query('DELETE FROM due_messages');
  await until(async () => (await service.send(key, anEmail())).status === 202);
});

it('many at once do not pass it by more than the batches under way', async () => {
  const service = await startFilling({ QUEUE_LIMIT: '20' });
  const { key } = await service.account();
  const answers = await Promise.all(
    Array.from({ length: 300 }, () => service.send(key, anEmail()).then(({ status }) => status)),
  );
  expect(new Set(answers)).toEqual(new Set([202, 503]));
});

it('bytes count, too', async () => {
  const service = await startFilling({ QUEUE_LIMIT_BYTES: '1MB' });
  const { key } = await service.account();
  const large = anEmail({ text: 'x'.repeat(600_000) });
  expect((await service.send(key, large)).status).toBe(202);
  expect((await service.send(key, large)).status).toBe(202);
  expect((await service.send(key, large)).status).toBe(503);
  expect((await request(`${service.url}/readyz`)).body.detail).toContain('QUEUE_LIMIT_BYTES');
});

it('sizes are written as people write them', () => {
  const read = (text: string) => readConfig({ QUEUE_LIMIT_BYTES: text }).queueLimit.bytes;
  expect(readConfig({}).queueLimit).toEqual({ emails: 1_000_000, bytes: 10 * 1024 ** 3 });
  expect(read('500 MB')).toBe(500 * 1024 ** 2);
  expect(read('2gb')).toBe(2 * 1024 ** 3);
  expect(read('1000')).toBe(1000);
  for (const wrong of ['0', '-1', 'much', '10 bananas', '1.5GB']) {
    expect(() => read(wrong)).toThrow('QUEUE_LIMIT_BYTES: must be a size such as 10GB');
  }
});

it('what is scheduled may take half of the room: the emails of next month do not keep out those of today', async () => {
  const service = await startFilling({ QUEUE_LIMIT: '6' });
  const { key } = await service.account();
  const scheduled = anEmail({ scheduled_at: new Date(Date.now() + 3_600_000).toISOString() });
  const first = await service.send(key, scheduled, { 'idempotency-key': 'first' });
  for (let n = 0; n < 2; n++) expect((await service.send(key, scheduled)).status).toBe(202);

  const refused = await service.send(key, scheduled);
  expect(refused.status).toBe(503);
  expect(refused.body.detail).toContain('Too many emails are scheduled');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  const repeated = await service.send(key, scheduled, { 'idempotency-key': 'first' });
  expect(repeated.body).toEqual(first.body);

  // What came in lately may count twice until the next look.
  await until(async () => (await service.send(key, anEmail())).status === 202);
  expect((await service.send(key, scheduled)).status).toBe(503);

  await service.database.query(`DELETE FROM due_messages WHERE state = 'waiting'`);
  await until(async () => (await service.send(key, scheduled)).status === 202);
});
