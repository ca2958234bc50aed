// Partitions past their retention: they are kept as long as an email accepted on their day still
// has to go out.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bytesToUuid, newIdBytes } from '../../src/ids.ts';
import { dropOldPartitions, makePartitions } from '../../src/store/partitions.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-11-16T12:00:00Z');
const ACCEPTED = NOW - 20 * DAY_MS;
const RETENTION = { retentionDays: 10, contentRetentionDays: 5 };

let test: TestDatabase;
beforeEach(async () => {
  test = await createTestDatabase();
  await makePartitions(test.database, ACCEPTED);
});
afterEach(() => test.drop());

const dayOf = (timeMs: number) => new Date(timeMs).toISOString().slice(0, 10).replaceAll('-', '');

/** Which tables still have the day on which the message was accepted. */
async function keptTables(nowMs: number): Promise<string[]> {
  await dropOldPartitions(test.database, nowMs, RETENTION);
  const rows = await test.database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relname LIKE $1 ORDER BY 1`,
    [`%_${dayOf(ACCEPTED)}`],
  );
  return rows.map(({ name }) => name.replace(/_\d+$/, ''));
}

async function accept(scheduledAtMs: number | null, cancelledAtMs: number | null = null) {
  const uuid = bytesToUuid(newIdBytes(ACCEPTED));
  await test.database.query(
    `INSERT INTO messages (account_id, id, from_email, recipients, subject, door, scheduled_at, cancelled_at)
     VALUES (1, $1, 'a@example.com', '{b@example.net}', 'Later', 'rest', $2, $3)`,
    [uuid, scheduledAtMs && new Date(scheduledAtMs), cancelledAtMs && new Date(cancelledAtMs)],
  );
  return uuid;
}

it('a day without scheduled emails goes as its days are over', async () => {
  await accept(null);
  expect(await keptTables(ACCEPTED + 6 * DAY_MS)).toEqual([
    'events',
    'messages',
    'webhook_deliveries',
  ]);
  expect(await keptTables(ACCEPTED + 11 * DAY_MS)).toEqual([]);
});

it('a day with one that goes out later counts from then', async () => {
  const atMs = ACCEPTED + 15 * DAY_MS;
  await accept(null);
  await accept(atMs);
  expect(await keptTables(atMs + 5 * DAY_MS)).toEqual(['contents', 'events', 'messages']);
  expect(await keptTables(atMs + 6 * DAY_MS)).toEqual(['events', 'messages']);
  expect(await keptTables(atMs + 11 * DAY_MS)).toEqual([]);
});

it('what was cancelled keeps nothing', async () => {
  await accept(ACCEPTED + 15 * DAY_MS, ACCEPTED + DAY_MS);
  expect(await keptTables(ACCEPTED + 11 * DAY_MS)).toEqual([]);
});

it('what is still to be handed over keeps its day for as long as it takes', async () => {
  const uuid = await accept(null);
  await test.database.query(
    `INSERT INTO due_messages (account_id, message_id, due_at, size) VALUES (1, $1, now(), 1)`,
    [uuid],
  );
  expect(await keptTables(ACCEPTED + 40 * DAY_MS)).toEqual(['contents', 'events', 'messages']);
  await test.database.query('DELETE FROM due_messages');
  expect(await keptTables(ACCEPTED + 40 * DAY_MS)).toEqual([]);
});

it('finding that out reads an index of the day, which new days have', async () => {
  const indexes = await test.database.query<{ name: string }>(
    `SELECT indexname AS name FROM pg_indexes WHERE tablename = $1 AND indexdef LIKE '%scheduled_at%'`,
    [`messages_${dayOf(ACCEPTED)}`],
  );
  expect(indexes).toHaveLength(1);
  await test.database.query('SET enable_seqscan = off');
  const plan = await test.database.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN SELECT max(scheduled_at) FROM messages_${dayOf(ACCEPTED)} WHERE cancelled_at IS NULL`,
  );
  expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain(indexes[0]!.name);
});
