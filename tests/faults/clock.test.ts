// Clocks that are wrong: of a process, and of the database. Sends are accepted all the same, and no data is dropped by a jump.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDns } from '../../src/accounts/dns.ts';
import { idTimeMs, readId } from '../../src/ids.ts';
import { createLog } from '../../src/log.ts';
import { runMaintenance } from '../../src/maintenance.ts';
import { makePartitions } from '../../src/store/partitions.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { findFaketime, shiftedClock } from '../support/faketime.ts';
import { runCommand, startProcess } from '../support/process.ts';
import { mail, makeAccount, request, startTestService } from '../support/service.ts';
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
    it(`by ${shift}: mail is accepted and delivered at the database's time, and nothing is dropped`, async () => {
      const service = await startProcess({
        DATABASE_URL: test.url,
        ...shiftedClock(faketime!, shift),
      });
      const { key } = await makeAccount(test.database);
      const headers = { 'x-api-key': key, 'content-type': 'application/json' };
      const body = JSON.stringify(mail({ to: ['delivered@sandbox.localhost'] }));
      const sent = await request(`${service.url}/v1/send`, { method: 'POST', headers, body });
      expect(sent.status).toBe(202);
      const madeAtMs = idTimeMs(readId('msg_', sent.body.id)!);
      expect(Math.abs(madeAtMs - Date.now())).toBeLessThan(60_000);
      const read = () => request(`${service.url}/v1/messages/${sent.body.id}`, { headers });
      await until(async () => (await read()).body.status === 'delivered');
      expect(await oldDays()).toBe(1);
      await service.end('SIGTERM');
    }, 60_000);
  }
});

describe('a database whose clock is wrong', () => {
  it('set ahead and back under a running service: the partitions that mail needs are made on the spot', async () => {
    let aheadMs = 0;
    const clock = { nowMs: () => Date.now() + aheadMs };
    const service = await startTestService({}, { on: test, clock });
    const { key } = await service.account();
    for (const days of [0, -3, 9, 100, -20_000]) {
      aheadMs = days * DAY_MS;
      const answers = await Promise.all([1, 2, 3].map(() => service.send(key, mail())));
      expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
      const { body } = answers[0]!;
      expect((await service.get(key, `/v1/messages/${body.id}`)).status).toBe(200);
    }
    await service.stop();
  }, 60_000);

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
      detail: expect.stringContaining('Old data is not dropped before'),
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
  }, 120_000);
});
