// Scheduled emails across deaths and wrong clocks: they go out once, at the database's time,
// whichever process is running by then; and what was cancelled stays cancelled.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { findFaketime, shiftedClock } from '../support/faketime.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { anEmail, makeAccount, request } from '../support/service.ts';
import { type SmtpSink, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;
const faketime = findFaketime();
if (faketime === undefined) console.log('skipped: libfaketime is not installed (faketime)');

let test: TestDatabase;
let sink: SmtpSink;
let running: ServiceProcess[] = [];
beforeEach(async () => {
  test = await createTestDatabase();
  sink = await startSink();
});
afterEach(async () => {
  await Promise.all(running.map((process) => process.end('SIGKILL')));
  running = [];
  await sink.stop();
  await test.drop();
});

async function start(env: Record<string, string> = {}): Promise<ServiceProcess> {
  const settings = { DATABASE_URL: test.url, RELAY_URL: sink.url, DELIVERY_LEASE_SECONDS: '10' };
  const process = await startProcess({ ...settings, ...env });
  running.push(process);
  return process;
}

const taken = (id: string): number =>
  sink.emails.filter(({ envelopeId }) => envelopeId === id).length;

it.runIf(faketime !== undefined)(
  'they outlive kill -9, and a process whose clock is two days ahead sends none early',
  async () => {
    const { key } = await makeAccount(test.database);
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const ask = (process: ServiceProcess, path: string, method = 'GET', body?: object) =>
      request(`${process.url}/v1${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
    const first = await start();
    const schedule = async (ms: number) => {
      const scheduled_at = new Date(Date.now() + ms).toISOString();
      const { status, body } = await ask(first, '/send', 'POST', anEmail({ scheduled_at }));
      expect(status).toBe(202);
      return body.id as string;
    };
    const [soon, later, cancelled] = [
      await schedule(HOUR_MS),
      await schedule(24 * HOUR_MS),
      await schedule(HOUR_MS),
    ];
    expect((await ask(first, `/messages/${cancelled}/cancel`, 'POST', {})).status).toBe(200);
    await first.end('SIGKILL');

    const second = await start(shiftedClock(faketime!, '+2d'));
    // By the only clock that counts.
    const pass = (time: string) =>
      test.database.query(
        'UPDATE due_messages SET due_at = now() WHERE due_at <= now() + $1::interval',
        [time],
      );
    await pass('1 hour');
    await until(() => taken(soon) === 1);
    await until(async () => (await ask(second, `/messages/${soon}`)).body.status === 'sent');
    for (const id of [later, cancelled]) {
      expect((await ask(second, `/messages/${id}`)).body).toMatchObject({
        status: 'queued',
        events: [],
      });
      expect(taken(id)).toBe(0);
    }
    await pass('1 day');
    await until(() => taken(later) === 1);
    expect(taken(soon)).toBe(1);
    expect(taken(cancelled)).toBe(0);
  },
);

it('cancelled while a process dies with others in hand: never both, never neither', async () => {
  const { key, id: account } = await makeAccount(test.database);
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const api = await start({ ROLES: 'api' });
  const [dying, living] = [await start({ ROLES: 'delivery' }), await start({ ROLES: 'delivery' })];
  const scheduled_at = new Date(Date.now() + HOUR_MS).toISOString();
  const ids: string[] = await Promise.all(
    Array.from({ length: 100 }, async () => {
      const body = JSON.stringify(anEmail({ scheduled_at }));
      const sent = await request(`${api.url}/v1/send`, { method: 'POST', headers, body });
      expect(sent.status, JSON.stringify(sent.body)).toBe(202);
      return sent.body.id;
    }),
  );
  await test.database.query('UPDATE due_messages SET due_at = now()');
  await until(() => sink.emails.length > 10);
  // Who is told 503 asks again: cancelling twice is cancelling once.
  const answers = Promise.all(
    ids.map((id) =>
      until(async () => {
        const path = `${api.url}/v1/messages/${id}/cancel`;
        const { status } = await request(path, { method: 'POST', headers, body: '{}' });
        return status !== 503 && status;
      }),
    ),
  );
  await dying.end('SIGKILL');
  const statuses = await answers;
  expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
  const rows = await until(async () => {
    const found = await test.database.query<{ sent: boolean; cancelled: boolean }>(
      `SELECT status <> 'queued' AS sent, cancelled_at IS NOT NULL AS cancelled FROM messages m
       WHERE account_id = $1 AND NOT EXISTS (
         SELECT FROM due_messages d WHERE d.account_id = m.account_id AND d.message_id = m.id)`,
      [account],
    );
    return found.length === ids.length && found;
  });
  expect(rows.filter(({ sent, cancelled }) => sent === cancelled)).toEqual([]);
  const back = ids.filter((_, n) => statuses[n] === 200);
  expect(back.filter((id) => taken(id) > 0)).toEqual([]);
  expect(rows.filter(({ cancelled }) => cancelled)).toHaveLength(back.length);
  expect(await living.end('SIGTERM')).toBe(0);
}, 240_000);
