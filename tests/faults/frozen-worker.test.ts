// A frozen worker: when it wakes after its lease, it begins nothing that others have taken, and its
// late outcomes do no harm.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { anEmail, makeAccount, request } from '../support/service.ts';
import { type SmtpSink, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';

const MAILS = 100;
const CONNECTIONS = 4;
let test: TestDatabase;
let sink: SmtpSink;
const processes: ServiceProcess[] = [];
/** Emails that came whole and wait for their answer. */
const held: (() => void)[] = [];
let holding = true;

beforeAll(async () => {
  test = await createTestDatabase();
  sink = await startSink({
    onEmail: () => (holding ? new Promise((resolve) => held.push(resolve)) : undefined),
  });
});
afterAll(async () => {
  await Promise.all(processes.map((it) => it.end('SIGKILL')));
  await sink.stop();
  await test.drop();
});

const start = async (roles: string): Promise<ServiceProcess> => {
  const service = await startProcess({
    DATABASE_URL: test.url,
    RELAY_URL: sink.url,
    RELAY_CONNECTIONS: String(CONNECTIONS),
    RELAY_DOWN: 'queue',
    DELIVERY_LEASE_SECONDS: '3',
    ROLES: roles,
  });
  processes.push(service);
  return service;
};
const left = async (): Promise<number> =>
  (await test.database.query<{ left: number }>('SELECT count(*) AS left FROM due_messages'))[0]!
    .left;

it('100 emails: only those in the middle of DATA are doubled', async () => {
  const { key } = await makeAccount(test.database);
  const api = await start('api');
  const frozen = await start('delivery');
  const ids = await Promise.all(
    Array.from({ length: MAILS }, async () => {
      const answer = await request(`${api.url}/v1/send`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify(anEmail()),
      });
      return answer.body.id as string;
    }),
  );
  // Every session is in the middle of an email; more are in hand behind them.
  await until(() => held.length === CONNECTIONS);
  await until(async () => {
    const [row] = await test.database.query<{ n: number }>(
      `SELECT count(*) AS n FROM due_messages WHERE state = 'in hand'`,
    );
    return row!.n > CONNECTIONS * 3;
  });
  frozen.child.kill('SIGSTOP');
  holding = false;
  const inTheMiddle = held.splice(0);

  await start('delivery');
  await until(async () => (await left()) === 0);
  // The others have sent all of them. Now the frozen one gets its answers, and wakes.
  for (const answer of inTheMiddle) answer();
  frozen.child.kill('SIGCONT');
  await until(() => frozen.output().includes('the lease on emails being handed over was lost'));
  await until(() => sink.emails.length >= MAILS + CONNECTIONS);
  expect(await frozen.end('SIGTERM')).toBe(0);

  const times = new Map<string, number>();
  for (const { envelopeId } of sink.emails) times.set(envelopeId, (times.get(envelopeId) ?? 0) + 1);
  expect([...times.keys()].sort()).toEqual([...ids].sort());
  expect([...times.values()].filter((n) => n > 1)).toHaveLength(CONNECTIONS);
  // What the relay took is a fact, also when it was told late: both hand-overs are in the timeline.
  const [row] = await test.database.query<{ sent: number }>(
    `SELECT count(*) AS sent FROM events WHERE kind = 'sent'`,
  );
  expect(row!.sent).toBe(MAILS + CONNECTIONS);
  expect(await left()).toBe(0);
});
