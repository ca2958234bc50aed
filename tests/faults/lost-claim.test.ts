// A claim whose answer never came: the server has given emails to a living process that knows
// nothing of them. They leave anyway; and a server that was held up claims nothing for a
// process that has long stopped waiting.
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '../../src/process/log.ts';
import { claimDue } from '../../src/queue/due.ts';
import { type Leases, openLeases } from '../../src/queue/leases.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

let test: TestDatabase;
let door: TcpProxy;
let service: TestService;
let account: { id: number; key: string };
/** Stands beside the service, and can hold its claims up. */
let beside: pg.Client;
beforeAll(async () => {
  test = await createTestDatabase();
  door = await startTcpProxy(test.url);
  service = await startTestService({ DATABASE_URL: door.url }, { on: test });
  account = await service.account();
  beside = new pg.Client(test.url);
  await beside.connect();
});
afterAll(async () => {
  await beside.end();
  await service.stop();
  await door.close();
  await test.drop();
});

const stateOf = async (): Promise<string | undefined> => {
  const { rows } = await beside.query('SELECT state FROM due_messages WHERE account_id = $1', [
    account.id,
  ]);
  return rows[0]?.state;
};

/** An email that was put off by its receiver and waits. */
async function waitingEmail(): Promise<string> {
  const { body } = await service.send(account.key, anEmail({ to: ['greylist@simulator.test'] }));
  await until(async () => (await stateOf()) === 'waiting');
  return body.id;
}

async function makeReadyUnderLock(): Promise<void> {
  await beside.query('BEGIN');
  await beside.query('LOCK TABLE due_messages IN ACCESS EXCLUSIVE MODE');
  await beside.query(`UPDATE due_messages SET state = 'ready' WHERE account_id = $1`, [account.id]);
}

/** Asked elsewhere: within a transaction it would be the same picture every time. */
const aClaimWaits = async (): Promise<boolean> => {
  const rows = await test.database.query(
    `SELECT 1 FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%claim_due%'`,
  );
  return rows.length > 0;
};

it('what was claimed for nobody is given back, and leaves', async () => {
  await waitingEmail();
  await makeReadyUnderLock();
  await until(aClaimWaits);
  // The process loses its connections; the server, waiting for a lock, does not notice.
  await door.shut();
  await beside.query('COMMIT');
  await until(async () => (await stateOf()) === 'in hand');
  await door.open();
  await until(async () => (await stateOf()) === undefined, 45_000);
});

it('a claim that comes to its end too late takes nothing', async () => {
  await waitingEmail();
  // Nobody else claims meanwhile.
  await door.shut();
  const leases: Leases = await openLeases({
    ...{ database: test.database, log: createLog('silent'), leaseMs: 60_000, embedded: false },
  });
  const room = { most: 10, after: 0, full: [] };
  await makeReadyUnderLock();
  const late = claimDue(test.database, leases.current(), room, new Date(Date.now() + 500)).catch(
    (error: Error) => error.message,
  );
  await until(aClaimWaits);
  // Past the half second, by the clock that counts.
  await beside.query('SELECT pg_sleep(0.6)');
  await beside.query('COMMIT');
  expect(await late).toBe('nobody waits for this statement any more');
  const before = claimDue(test.database, leases.current(), room, new Date(Date.now() - 500));
  expect(await before).toBeUndefined();
  expect(await stateOf()).toBe('ready');
  await leases.end();
  await door.open();
});
