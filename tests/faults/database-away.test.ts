// The database goes away under a running service: the log stays readable, and everything resumes
// when it is back.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EmbeddedDatabase, openEmbedded } from '../../src/store/embedded/open.ts';
import { openDatabase } from '../../src/store/pool.ts';
import { newFolder } from '../store/embedded-support.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { anEmail, makeAccount, request } from '../support/service.ts';
import { until } from '../support/until.ts';

interface Line {
  time: string;
  msg: string;
  err?: { message: string; stack?: string };
  unsaid?: number;
}

const folder = newFolder(afterAll);
let database: EmbeddedDatabase;
let service: ServiceProcess;
let key: string;

const startDatabase = () => openEmbedded(folder, { as: 'owner', log: () => undefined });

beforeAll(async () => {
  database = await startDatabase();
  service = await startProcess({ DATABASE_URL: database.url });
  const pool = openDatabase(database.url, { connections: 1, onIdleError: () => undefined });
  ({ key } = await makeAccount(pool));
  await pool.close();
});
afterAll(async () => {
  await service?.end('SIGTERM');
  await database?.stop();
});

const send = () =>
  request(`${service.url}/v1/send`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(anEmail({ to: ['delivered@sandbox.localhost'] })),
  });
const read = (id: string) =>
  request(`${service.url}/v1/messages/${id}`, { headers: { 'x-api-key': key } });

const lines = (): Line[] =>
  service
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Line);

/** Milliseconds between each two lines of the same text. */
function gaps(said: Line[]): number[] {
  const times = new Map<string, number[]>();
  for (const { msg, time } of said) times.set(msg, [...(times.get(msg) ?? []), Date.parse(time)]);
  return [...times.values()].flatMap((each) => each.slice(1).map((time, i) => time - each[i]!));
}

it('says each fault about once a second, without a stack, and recovers', async () => {
  expect((await send()).status).toBe(202);
  await database.stop();
  const POLLED = ['could not ask for changed accounts', 'could not look for due webhooks'];
  await until(() => POLLED.every((text) => lines().filter(({ msg }) => msg === text).length >= 4));
  const said = lines();
  expect(said.filter(({ err }) => err?.stack !== undefined)).toEqual([]);
  expect(Math.min(...gaps(said))).toBeGreaterThanOrEqual(990);
  // The first looks several times a second: what was not said is counted.
  expect(said.findLast(({ msg }) => msg === POLLED[0])?.unsaid).toBeGreaterThan(0);
  expect(said.some(({ err }) => err?.message.includes('ECONNREFUSED'))).toBe(true);

  // Nothing that is remembered may be trusted by now: neither the key nor the message can be looked
  // up.
  for (const answer of [await send(), await read('msg_01KA3M8Q2V7W9X4Y6Z8ABCDEFG')]) {
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(answer.body.detail).toContain('database');
  }

  database = await startDatabase();
  const accepted = await until(async () => {
    const answer = await send();
    return answer.status === 202 && answer;
  });
  await until(async () => (await read(accepted.body.id)).body.status === 'delivered');
});
