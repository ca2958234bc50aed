// Lanes: which emails are claimed in a round. Each account gets its share whatever others have
// queued; classes go in order and none starves. A round is over the lanes of one server, so on
// Citus all accounts here are of one node.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { bytesToUuid, newIdBytes } from '../../src/ids.ts';
import { createLog } from '../../src/process/log.ts';
import { type Claim, claimDue, type Room } from '../../src/queue/due.ts';
import { CLASSES, type EmailClass, fillLanes } from '../../src/queue/lanes.ts';
import { type Leases, openLeases } from '../../src/queue/leases.ts';
import type { Database } from '../../src/store/pool.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

let test: TestDatabase;
let leases: Leases;
let node: Database;
const MOST_ACCOUNTS = 50;
/** The number of the nth account of the node; n itself on one server. */
const numbers: number[] = [0];
beforeAll(async () => {
  test = await createTestDatabase();
  node = test.database.near(1);
  for (let id = 1; numbers.length <= MOST_ACCOUNTS; id++) {
    if (test.database.near(id) === node) numbers.push(id);
  }
});
afterAll(() => test.drop());
const open = (leaseMs = 60_000) =>
  openLeases({ database: test.database, log: createLog('silent'), leaseMs, embedded: false });
beforeEach(async () => {
  leases = await open();
});
afterEach(async () => {
  await leases.end();
  await test.database.query('DELETE FROM due_messages');
  await test.database.query('DELETE FROM accounts');
});

async function queue(
  nth: number,
  count: number,
  wish: { class?: EmailClass; state?: string } = {},
) {
  const ids = Array.from({ length: count }, () => bytesToUuid(newIdBytes(Date.now())));
  await test.database.query(
    `INSERT INTO due_messages (account_id, message_id, due_at, size, class, state)
     SELECT $1, id, now() + n * interval '1 microsecond', 100, $3, $4 FROM unnest($2::uuid[]) WITH ORDINALITY AS t (id, n)`,
    [numbers[nth], ids, CLASSES[wish.class ?? 'normal'], wish.state ?? 'ready'],
  );
}

const claim = (room: Partial<Room> = {}) =>
  claimDue(node, leases.current(), { most: 100, after: 0, full: [], ...room });

/** `{nth account: emails}` */
function shares(claimed: Claim | undefined): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { accountId } of claimed?.rows ?? []) {
    const nth = numbers.indexOf(accountId);
    counts[nth] = (counts[nth] ?? 0) + 1;
  }
  return counts;
}
const classes = (claimed: Claim | undefined, name: EmailClass): number =>
  claimed?.rows.filter((row) => row.class === name).length ?? 0;

it('an account alone gets all the room', async () => {
  await queue(7, 300);
  expect(shares(await claim())).toEqual({ 7: 100 });
});

it('two accounts get the same share, however much one has queued', async () => {
  await queue(1, 5000);
  await queue(2, 3);
  expect(shares(await claim())).toEqual({ 1: 50, 2: 3 });
});

it('rounds go on where the last one stopped, and around', async () => {
  for (let account = 1; account <= 50; account++) await queue(account, 2);
  const served: number[][] = [];
  let after = 0;
  for (let round = 0; round < 3; round++) {
    const claimed = (await claim({ most: 32, after }))!;
    served.push([...new Set(claimed.rows.map((row) => row.accountId))]);
    after = claimed.lastLane;
  }
  // 96 turns over 50 lanes, each of which has two emails.
  expect(served.map((lanes) => lanes.length)).toEqual([32, 32, 32]);
  // Each was served before any was served again in a third round.
  expect(new Set(served.slice(0, 2).flat()).size).toBe(50);
  expect(new Set(served.slice(1).flat()).size).toBe(50);
});

it('an account that has enough in hand is passed over, without a look at its backlog', async () => {
  await queue(1, 2000);
  await queue(2, 1);
  expect(shares(await claim({ full: [numbers[1]!] }))).toEqual({ 2: 1 });
  expect(await claim({ full: [numbers[1]!] })).toBeUndefined();
});

it('urgent goes first, bulk last, and none starves', async () => {
  await queue(1, 200, { class: 'bulk' });
  await queue(1, 200, { class: 'normal' });
  expect(classes(await claim({ most: 40 }), 'normal')).toBe(40);
  await queue(1, 200, { class: 'urgent' });
  const claimed = await claim({ most: 40 });
  expect(classes(claimed, 'urgent')).toBe(40);
  expect(classes(claimed, 'normal')).toBe(10);
  expect(classes(claimed, 'bulk')).toBe(10);
});

it('an account’s limit holds over all processes, and leaves a chance to every class', async () => {
  await test.database.query(
    `INSERT INTO accounts (id, name, plan, delivery_limit) OVERRIDING SYSTEM VALUE VALUES ($1, 'A', 'paid', 1)`,
    [numbers[1]],
  );
  for (const name of ['urgent', 'normal', 'bulk'] as const) await queue(1, 200, { class: name });
  await queue(2, 5);
  const first = await claim();
  expect(shares(first)).toEqual({ 1: 1, 2: 5 });
  // The end of one such email makes room for the next, and so wakes the worker.
  for (const row of first!.rows) expect(row.laneIsLimited).toBe(row.accountId === numbers[1]);
  expect(await claim()).toBeUndefined();
  const counts = { urgent: 0, normal: 0, bulk: 0 };
  const isShown = () => Math.min(...Object.values(counts)) > 0 && counts.urgent > counts.bulk;
  for (let round = 0; round < 400 && !isShown(); round++) {
    await test.database.query(`DELETE FROM due_messages WHERE state = 'in hand'`);
    for (const row of (await claim())!.rows) counts[row.class]++;
  }
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(0);
  expect(counts.urgent).toBeGreaterThan(counts.bulk);
});

it('accounts at their limit do not take a round from those behind them', async () => {
  await test.database.query(
    `INSERT INTO accounts (id, name, plan, delivery_limit) OVERRIDING SYSTEM VALUE
     SELECT id, 'A', 'paid', 1 FROM unnest($1::bigint[]) id`,
    [numbers.slice(1, 41)],
  );
  for (let account = 1; account <= 40; account++) {
    await queue(account, 1, { state: 'in hand' });
    await queue(account, 1);
  }
  await queue(41, 1);
  expect(shares(await claim())).toEqual({ 41: 1 });
});

it('a claim says whether anything ready is left, and whether it had room', async () => {
  await queue(1, 5);
  await queue(2, 1);
  expect(await claim()).toMatchObject({ leftSome: false, leftRoom: false });
  // More than a quarter of the share, but not all of it.
  await queue(1, 90);
  expect(await claim()).toMatchObject({ leftSome: false, leftRoom: false });
  await queue(1, 500);
  expect(await claim()).toMatchObject({ leftSome: true, leftRoom: false });
  await queue(2, 1);
  expect(await claim()).toMatchObject({ leftSome: true, leftRoom: true });
  // A class that had only a quarter of a share may have more, too.
  await test.database.query('DELETE FROM due_messages');
  await queue(1, 1, { class: 'urgent' });
  await queue(1, 60);
  expect(await claim()).toMatchObject({ leftSome: true, leftRoom: true });
  // Lanes that this round did not reach, although those it reached gave all they had.
  await test.database.query('DELETE FROM due_messages');
  for (let account = 1; account <= 33; account++) await queue(account, 1);
  expect(await claim()).toMatchObject({ leftSome: true, leftRoom: true });
});

it('what waits, is in hand or set aside costs a claim nothing', async () => {
  for (const state of ['waiting', 'in hand']) await queue(1, 3000, { state });
  await queue(2, 1);
  const [row] = await test.database.query<{ 'QUERY PLAN': string }>(
    `SELECT count(*) FROM due_messages WHERE state = 'ready'`,
  );
  expect(row).toEqual({ count: 1 });
  await test.database.query('SELECT pg_stat_reset()');
  expect(shares(await claim())).toEqual({ 2: 1 });
  const plan = await test.database.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN SELECT account_id, class FROM due_messages WHERE state = 'ready' AND account_id > 0
     ORDER BY account_id, class, due_at LIMIT 1`,
  );
  expect(plan.map((line) => line['QUERY PLAN']).join('\n')).toContain('due_messages_ready');
});

it('two workers never get the same email', async () => {
  await queue(1, 400);
  await queue(2, 400);
  const claims = await Promise.all(Array.from({ length: 20 }, () => claim({ most: 60 })));
  const ids = claims.flatMap((it) => it?.rows.map((row) => bytesToUuid(row.messageId)) ?? []);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThan(400);
});

it('what waited stands in its lane when its time has come', async () => {
  await queue(1, 2, { state: 'waiting' });
  await test.database.query(
    `UPDATE due_messages SET due_at = now() + interval '1 hour' WHERE message_id = (SELECT max(message_id::text)::uuid FROM due_messages)`,
  );
  const claimed = await until(() => claim());
  expect(claimed.rows).toHaveLength(1);
});

it('a paused account holds what it has queued but for urgent email; the others share the room', async () => {
  for (const nth of [1, 2]) {
    await test.database.query(
      `INSERT INTO accounts (id, name, plan, paused_at, paused_reason) VALUES ($1, 'Test', 'paid', $2, $3)`,
      [numbers[nth], ...(nth === 1 ? [new Date(), 'a test'] : [null, null])],
    );
    await queue(nth, 200);
  }
  expect(shares(await claim())).toEqual({ 2: 100 });
  await queue(1, 3, { class: 'urgent' });
  const claimed = await claim();
  expect(shares(claimed)).toEqual({ 1: 3, 2: 50 });
  expect(classes(claimed, 'urgent')).toBe(3);
  await test.database.query('UPDATE accounts SET paused_at = NULL, paused_reason = NULL');
  expect(shares(await claim())).toEqual({ 1: 50, 2: 50 });
});

it('10,000 that were scheduled for the same minute come into their lane in pieces, and others get their share', async () => {
  await queue(1, 10_000, { state: 'waiting' });
  await queue(2, 3, { state: 'waiting' });
  // The process beside us fills the lanes as well; together they need no more than a few calls.
  let calls = 0;
  while (await fillLanes(node)) calls++;
  expect(calls).toBeLessThanOrEqual(5);
  const left = () => test.database.query(`SELECT FROM due_messages WHERE state = 'waiting'`);
  await until(async () => (await left()).length === 0);
  expect(shares(await claim())).toEqual({ 1: 50, 2: 3 });
});
