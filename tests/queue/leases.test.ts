// Leases: which process owns a claimed email. The database's clock decides; a process that was
// frozen notices by itself; what a dead process had is freed.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { bytesToUuid, newIdBytes } from '../../src/ids.ts';
import { createLog } from '../../src/process/log.ts';
import { claimDue, giveBackStrays } from '../../src/queue/due.ts';
import { type LeaseDeps, openLeases } from '../../src/queue/leases.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(async () => {
  await test.database.query('DELETE FROM due_messages');
  await test.database.query('DELETE FROM delivery_leases');
});

const open = (wish: Partial<LeaseDeps> = {}) =>
  openLeases({
    database: test.database,
    log: createLog('silent'),
    leaseMs: 60_000,
    embedded: false,
    ...wish,
  });
const ACCOUNT = 1;
const queueOne = () =>
  test.database.query(
    'INSERT INTO due_messages (account_id, message_id, due_at, size) VALUES ($1, $2, now(), 10)',
    [ACCOUNT, bytesToUuid(newIdBytes(Date.now()))],
  );
const claim = (leases: Awaited<ReturnType<typeof open>>) =>
  claimDue(test.database.near(ACCOUNT), leases.current(), { most: 10, after: 0, full: [] });
const states = async () =>
  await test.database.query<{ state: string; deaths: number; reason: string | null }>(
    'SELECT state, deaths, reason FROM due_messages',
  );
/** As if its process had stopped renewing long ago. */
const expire = (id: string) =>
  test.database.query(
    `UPDATE delivery_leases SET held_until = now() - interval '1 second' WHERE id = $1`,
    [id],
  );

it('holds while it is renewed, whatever the length', async () => {
  const leases = await open({ leaseMs: 600 });
  const renewals = new Set<number>();
  await until(async () => {
    const [row] = await test.database.query<{ held_until: Date }>(
      'SELECT held_until FROM delivery_leases',
    );
    renewals.add(row!.held_until.getTime());
    expect(leases.current().holds()).toBe(true);
    return renewals.size > 8;
  });
  await leases.end();
  expect(await test.database.query('SELECT FROM delivery_leases')).toEqual([]);
});

it('does not hold for a process that was frozen, by either clock', async () => {
  const leases = await open();
  const lease = leases.current();
  expect(lease.holds()).toBe(true);
  const later = performance.now() + 46_000;
  const frozen = vi.spyOn(performance, 'now').mockReturnValue(later);
  expect(lease.holds()).toBe(false);
  frozen.mockRestore();
  const asleep = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 46_000);
  expect(lease.holds()).toBe(false);
  asleep.mockRestore();
  await leases.end();
});

it('of a dead process ends, and the living frees what it had in hand', async () => {
  const dead = await open();
  await queueOne();
  expect((await claim(dead))!.rows).toHaveLength(1);
  dead.abandon();
  const living = await open();
  expect(await claim(living)).toBeUndefined();
  await expire(dead.current().id);
  const again = await until(() => claim(living));
  expect(again.rows[0]).toMatchObject({ attempts: 2, claims: 2 });
  await living.end();
});

it('of a living process that was taken for dead is replaced by a new one', async () => {
  const leases = await open({ leaseMs: 1200 });
  const before = leases.current().id;
  await test.database.query('DELETE FROM delivery_leases');
  await until(() => leases.current().id !== before);
  await queueOne();
  expect((await claim(leases))!.rows).toHaveLength(1);
  await leases.end();
});

it('has what its process knows of: a claim whose answer was lost is given back', async () => {
  const leases = await open();
  const node = test.database.near(ACCOUNT);
  await queueOne();
  const known = (await claim(leases))!.rows;
  await queueOne();
  await claim(leases);
  expect(await giveBackStrays(node, leases.current(), known)).toBe(1);
  expect(await giveBackStrays(node, leases.current(), known)).toBe(0);
  // As if it had not been claimed, and only that one.
  expect((await claim(leases))!.rows).toMatchObject([{ attempts: 1, claims: 2 }]);
  await leases.end();
});

it('ends at once when the process ends it', async () => {
  const leaving = await open();
  const staying = await open();
  await queueOne();
  await claim(leaving);
  await leaving.end();
  await until(() => claim(staying));
  await staying.end();
});

it('of the embedded database’s one process is over when the next one starts', async () => {
  const killed = await open({ embedded: true });
  const elsewhere = await open();
  await queueOne();
  await claim(killed);
  await queueOne();
  await claim(elsewhere);
  killed.abandon();
  const next = await open({ embedded: true });
  // At once, and only what that process had.
  expect((await claim(next))!.rows).toHaveLength(1);
  expect(await claim(next)).toBeUndefined();
  await next.end();
  await elsewhere.end();
});

it('an email whose processes die again and again is set aside, and delays itself before', async () => {
  await queueOne();
  const staying = await open({ leaseMs: 1200 });
  for (let deaths = 1; deaths <= 8; deaths++) {
    await test.database.query(
      `UPDATE due_messages SET state = 'in hand', lease = $1 WHERE state <> 'set aside'`,
      [randomUUID()],
    );
    await until(async () => (await states())[0]!.deaths === deaths);
    expect((await states())[0]!.state).toBe(
      deaths === 1 ? 'ready' : deaths < 8 ? 'waiting' : 'set aside',
    );
  }
  expect((await states())[0]!.reason).toContain('the process died');
  await staying.end();
});
