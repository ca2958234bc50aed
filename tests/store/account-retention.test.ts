// An account that keeps its data for a shorter time: what is older is deleted; what is newer, due
// or another account's stays.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bytesToUuid, newIdBytes } from '../../src/ids.ts';
import { pruneByAccount, setRetention } from '../../src/messages/retention.ts';
import { makePartitions } from '../../src/store/partitions.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeAccount } from '../support/service.ts';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-11-16T12:00:00Z');
let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
  for (const days of [0, 10, 40]) await makePartitions(test.database, NOW - days * DAY_MS);
});
afterAll(() => test.drop());

/** What a message leaves in other tables: the content first, then copies of it. */
const OF_A_MESSAGE = [
  ['contents (account_id, message_id, head)', `''`],
  [
    'sandbox_mails (account_id, message_id, id, envelope_from, recipients, raw)',
    `gen_random_uuid(), '', '{b@example.net}', 'Hello'`,
  ],
  [
    'feedback_mails (account_id, message_id, id, fingerprint, kind, envelope_from, recipient, subject, raw)',
    `gen_random_uuid(), sha256($2::uuid::text::bytea), 'dsn', '', 'b@example.net', 'Hello', 'Hello'`,
  ],
  [
    'events (account_id, message_id, id, kind, at, recipients, detail)',
    `gen_random_uuid(), 'sent', now(), '{b@example.net}', '{}'`,
  ],
  [
    'delivery_attempts (account_id, message_id, id, server, recipients)',
    `gen_random_uuid(), 'relay', '{"b@example.net": "250 ok"}'`,
  ],
  [
    'webhook_deliveries (account_id, message_id, endpoint_id, id, event_id, event_type)',
    `gen_random_uuid(), $2, gen_random_uuid(), 'sent'`,
  ],
] as const;
/** Emails that have arrived: where they came from may still be due. */
const COPIES = ['sandbox_mails', 'feedback_mails'];

async function accept(accountId: number, daysAgo: number): Promise<string> {
  const uuid = bytesToUuid(newIdBytes(NOW - daysAgo * DAY_MS));
  const values = [accountId, uuid];
  await test.database.query(
    `INSERT INTO messages (account_id, id, from_email, recipients, subject, door)
     VALUES ($1, $2, 'a@example.com', '{b@example.net}', 'Hello', 'rest')`,
    values,
  );
  for (const [columns, rest] of OF_A_MESSAGE) {
    await test.database.query(`INSERT INTO ${columns} VALUES ($1, $2, ${rest})`, values);
  }
  return uuid;
}

const tableOf = ([columns]: readonly [string, string]) => columns.split(' ')[0]!;

async function kept(uuid: string): Promise<string[]> {
  const found: string[] = [];
  for (const [table, id] of [
    ['messages', 'id'],
    ...OF_A_MESSAGE.map((one) => [tableOf(one), 'message_id']),
  ]) {
    const rows = await test.database.query(`SELECT FROM ${table} WHERE ${id} = $1`, [uuid]);
    if (rows.length > 0) found.push(table!);
  }
  return found;
}

it('deletes by the account’s own days', async () => {
  const own = (await makeAccount(test.database)).id;
  const other = (await makeAccount(test.database)).id;
  await setRetention(test.database, own, { retentionDays: 30, contentRetentionDays: 7 });
  const [young, middle, old, due] = [
    await accept(own, 3),
    await accept(own, 10),
    await accept(own, 40),
    await accept(own, 40),
  ];
  const theirs = await accept(other, 40);
  await test.database.query(
    'INSERT INTO due_messages (account_id, message_id, due_at, size) VALUES ($1, $2, now(), 1)',
    [own, due],
  );
  await pruneByAccount(test.database, NOW);
  const all = ['messages', ...OF_A_MESSAGE.map(tableOf)];
  const without = (...tables: string[]) => all.filter((table) => !tables.includes(table));
  expect(await kept(young)).toEqual(all);
  expect(await kept(middle)).toEqual(without('contents', ...COPIES));
  expect(await kept(old)).toEqual([]);
  expect(await kept(due)).toEqual(without(...COPIES));
  expect(await kept(theirs)).toEqual(all);

  // The content never outlives its message.
  await setRetention(test.database, own, { retentionDays: 1, contentRetentionDays: 7 });
  await pruneByAccount(test.database, NOW);
  expect(await kept(young)).toEqual([]);
});
