// Many processes on one database: every id answered 202 is handed over exactly once, and nothing is
// left behind.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { LONGER } from '../support/longer.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { anEmail, makeAccount, request } from '../support/service.ts';
import { type SmtpSink, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';

const SENDS = LONGER > 1 ? 5000 : 1000;

let test: TestDatabase;
let sink: SmtpSink;
let processes: ServiceProcess[] = [];

beforeAll(async () => {
  test = await createTestDatabase({ empty: true });
  sink = await startSink();
  // The relay shares this process with the clients. Where it is silent for a second, sends would be
  // refused as promised.
  const env = { DATABASE_URL: test.url, RELAY_URL: sink.url, RELAY_DOWN: 'queue' };
  // All at once on an empty database: migrations and partitions must be safe.
  processes = await Promise.all([
    startProcess({ ...env, ROLES: 'api' }),
    startProcess({ ...env, ROLES: 'api' }),
    startProcess({ ...env, ROLES: 'delivery' }),
    startProcess({ ...env, ROLES: 'delivery' }),
  ]);
});
afterAll(async () => {
  await Promise.all(processes.map((process) => process.end('SIGTERM')));
  await sink.stop();
  await test.drop();
});

it('two API processes and two workers: a thousand sends, each handed over exactly once', async () => {
  const { key } = await makeAccount(test.database);
  const apis = processes.slice(0, 2);
  const accepted: string[] = [];
  let next = 0;
  async function client(): Promise<void> {
    while (next < SENDS) {
      const number = next++;
      const answer = await request(`${apis[number % 2]!.url}/v1/send`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify(anEmail({ subject: `email ${number}` })),
      });
      expect(answer.status, JSON.stringify(answer.body)).toBe(202);
      accepted.push(answer.body.id);
    }
  }
  await Promise.all(Array.from({ length: 32 }, client));
  expect(new Set(accepted).size).toBe(SENDS);

  await until(() => sink.emails.length >= SENDS);
  await until(async () => {
    const [row] = await test.database.query<{ left: number }>(
      'SELECT count(*) AS left FROM due_messages',
    );
    return row?.left === 0;
  });
  expect(sink.emails.map((taken) => taken.envelopeId).sort()).toEqual([...accepted].sort());
  const [row] = await test.database.query<{ sent: number }>(
    `SELECT count(*) AS sent FROM messages WHERE status = 'sent'`,
  );
  expect(row?.sent).toBe(SENDS);
}, 240_000);
