// Clocks that are wrong: of a process, and of the database. Sends are accepted anyway, and no
// data is dropped by a jump.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDns } from '../../src/accounts/dns.ts';
import { idTimeMs, readId } from '../../src/ids.ts';
import { createLog } from '../../src/process/log.ts';
import { runMaintenance } from '../../src/roles/maintenance.ts';
import { makePartitions } from '../../src/store/partitions.ts';
import { watchForLeaps } from '../../src/store/steady-clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { findFaketime, shiftedClock } from '../support/faketime.ts';
import { runCommand, startProcess } from '../support/process.ts';
import { anEmail, makeAccount, request, startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const DAY_MS = 86_400_000;
const faketime = findFaketime();
if (faketime === undefined) console.log('skipped: libfaketime is not installed (faketime)');

let test: TestDatabase;
beforeEach(async () => {
  test = await createTestDatabase();
  // Data that is kept for another ten days.
  await makePartitions(test.database, Date.now() - 80 * DAY_MS);
});
afterEach(() => test.drop());

const oldDays = async (): Promise<number> => {
  const name = new Date(Date.now() - 80 * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
  const rows = await test.database.query('SELECT FROM pg_class WHERE relname = $1', [
    `messages_${name}`,
  ]);
  return rows.length;
};

describe.runIf(faketime !== undefined)('a process whose clock is wrong', () => {
  for (const shift of ['-3d', '+9d', '+100d']) {
    it(`by ${shift}: email is accepted and delivered at the database's time, and nothing is dropped`, async () => {
      const service = await startProcess({
        DATABASE_URL: test.url,
        ...shiftedClock(faketime!, shift),
      });
      const { key } = await makeAccount(test.database);
      const headers = { 'x-api-key': key, 'content-type': 'application/json' };
      const body = JSON.stringify(anEmail({ to: ['delivered@sandbox.localhost'] }));
      const sent = await request(`${service.url}/v1/send`, { method: 'POST', headers, body });
      expect(sent.status).toBe(202);
      const madeAtMs = idTimeMs(readId('msg_', sent.body.id)!);
      expect(Math.abs(madeAtMs - Date.now())).toBeLessThan(60_000);
      const read = () => request(`${service.url}/v1/messages/${sent.body.id}`, { headers });
      await until(async () => (await read()).body.status === 'delivered');
      expect(await oldDays()).toBe(1);
      await service.end('SIGTERM');
    });
  }

  it('a delivery process, two days ahead: it takes nothing that others have in hand, and gives nothing up', async () => {
    const roles = { DATABASE_URL: test.url, DELIVERY_LEASE_SECONDS: '10' };
    const right = await startProcess(roles);
    const wrong = await startProcess({
      ...roles,
      ROLES: 'delivery',
      ...shiftedClock(faketime!, '+2d'),
    });
    const { key, id } = await makeAccount(test.database);
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const send = (to: string) =>
      request(`${right.url}/v1/send`, {
        method: 'POST',
        headers,
        body: JSON.stringify(anEmail({ to: [to] })),
      });
    const sent = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        send(n % 2 === 0 ? 'delivered@sandbox.localhost' : 'greylist@simulator.test'),
      ),
    );
    expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([202]));
    const settled = await until(async () => {
      const rows = await test.database.query<{ status: string; n: number }>(
        `SELECT status, count(*)::int AS n FROM messages WHERE account_id = $1 GROUP BY status ORDER BY status`,
        [id],
      );
      return rows.find((row) => row.status === 'delivered')?.n === 20 && rows;
    });
    // Put off by half a minute, by whichever process: by the database's clock they wait, and none
    // is given up.
    expect(settled.map(({ status }) => status)).not.toContain('bounced');
    const twice = await test.database.query(
      `SELECT envelope_id FROM sandbox_mails GROUP BY envelope_id HAVING count(*) > 1`,
    );
    expect(twice).toEqual([]);
    for (const process of [right, wrong]) await process.end('SIGTERM');
  });
});

describe('a database whose clock is wrong', () => {
  it('set ahead and back under a running service: the partitions that email needs are made on the spot', async () => {
    let aheadMs = 0;
    const clock = { nowMs: () => Date.now() + aheadMs };
    const service = await startTestService({}, { on: test, clock });
    const { key } = await service.account();
    for (const days of [0, -3, 9, 100, -20_000]) {
      aheadMs = days * DAY_MS;
      const answers = await Promise.all([1, 2, 3].map(() => service.send(key, anEmail())));
      expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
      const { body } = answers[0]!;
      expect((await service.get(key, `/v1/messages/${body.id}`)).status).toBe(200);
    }
    await service.stop();
  });

  it.each([
    ['a day ago by a steady clock is given up when it is put off', 'bounced'],
    ['a day ago by a clock that has just leapt waits on', 'queued'],
  ])('email that was accepted %s', async (_, status) => {
    if (status === 'queued') {
      await test.database.query(
        `INSERT INTO maintenance_runs (last_run_at, steady_since) VALUES (now() - interval '9 days', now() - interval '99 days')`,
      );
    }
    let aheadMs = 0;
    const clock = { nowMs: () => Date.now() + aheadMs };
    const service = await startTestService({}, { on: test, clock });
    const { key, id } = await service.account();
    aheadMs = -25 * 3_600_000;
    const { body } = await service.send(key, anEmail({ to: ['greylist@simulator.test'] }));
    aheadMs = 0;
    const settled = () =>
      test.database.query(
        `SELECT 1 WHERE NOT EXISTS (SELECT FROM due_messages WHERE account_id = $1 AND state <> 'waiting')`,
        [id],
      );
    await until(async () => (await settled()).length > 0);
    expect((await service.get(key, `/v1/messages/${body.id}`)).body.status).toBe(status);
    await service.stop();
  });

  it('a leap is seen beside the monotonic clock, and counts for as long as asked', () => {
    let monotonicMs = 0;
    const leaps = watchForLeaps(undefined, () => monotonicMs);
    const at = (ms: number) => {
      leaps.note(ms);
      return leaps.isSteadyFor(DAY_MS, ms);
    };
    expect(at(1e12)).toBe(true);
    monotonicMs = 3 * DAY_MS;
    expect(at(1e12 + 3 * DAY_MS)).toBe(true);
    expect(at(1e12 + 5 * DAY_MS)).toBe(false);
    monotonicMs = 4 * DAY_MS - 1000;
    expect(at(1e12 + 6 * DAY_MS - 1000)).toBe(false);
    monotonicMs = 4 * DAY_MS;
    expect(at(1e12 + 6 * DAY_MS)).toBe(true);
    // Set back: nobody is given up early.
    expect(at(1e12)).toBe(false);
  });

  it('a jump drops nothing, says so, and is trusted only after a steady week', async () => {
    let aheadMs = 0;
    const clock = { nowMs: () => Date.now() + aheadMs };
    const maintain = () =>
      runMaintenance({
        database: test.database,
        clock,
        log: createLog('silent'),
        retention: { retentionDays: 90, contentRetentionDays: 30 },
        dns: createDns([]),
        bounceDomain: 'bounces.localhost',
        probeReturnPath: async () => undefined,
      });
    await maintain();
    aheadMs = 100 * DAY_MS;
    await maintain();
    expect(await oldDays()).toBe(1);
    const doctor = async () => {
      const { stdout } = await runCommand(['doctor', '--json'], { DATABASE_URL: test.url });
      return JSON.parse(stdout).find(({ check }: { check: string }) => check === 'clock');
    };
    expect(await doctor()).toMatchObject({
      ok: false,
      detail: expect.stringContaining('Old data is not deleted before'),
    });
    // Set right again: another jump, and nothing is lost.
    aheadMs = 0;
    await maintain();
    expect(await oldDays()).toBe(1);
    // The same in earnest: the service was off for 100 days, and then runs on day after day.
    for (let day = 100; day <= 106; day++) {
      aheadMs = day * DAY_MS;
      await maintain();
      expect(await oldDays()).toBe(1);
    }
    aheadMs = 107 * DAY_MS + 60_000;
    await maintain();
    expect(await oldDays()).toBe(0);
  });
});
