// People who unsubscribed before there were streams: they have left everything sent until then, and
// streams created later.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate, readMigrations } from '../../src/store/migrate.ts';
import { suppressedAmong } from '../../src/suppressions/suppressions.ts';
import { streamsLeftBy } from '../../src/suppressions/unsubscribes.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let old: TestDatabase;
beforeAll(async () => {
  old = await createTestDatabase({ empty: true });
});
afterAll(() => old.drop());

it('their rows become unsubscribes; bounces, complaints and what people added stay', async () => {
  const { database } = old;
  await migrate(database, undefined, readMigrations().slice(0, 1));
  const [account] = await database.query<{ id: number }>(
    `INSERT INTO accounts (name, plan) VALUES ('Old', 'paid') RETURNING id`,
  );
  const { id: accountId } = account!;
  await database.query(
    `INSERT INTO suppressions (account_id, address, reason)
     SELECT $1, reason || '@example.net', reason FROM unnest(ARRAY['bounce', 'complaint', 'manual', 'unsubscribe']) reason`,
    [accountId],
  );
  await migrate(database);
  const rows = await database.query('SELECT reason FROM suppressions ORDER BY reason');
  expect(rows).toEqual(['bounce', 'complaint', 'manual'].map((reason) => ({ reason })));
  const address = 'unsubscribe@example.net';
  expect([...(await streamsLeftBy(database, accountId, address))].sort()).toEqual([
    '*',
    'transactional',
  ]);
  const held = async (stream: string | null, leavable: boolean) =>
    (await suppressedAmong(database, [{ accountId, address, stream, leavable }])).size;
  expect(await held('transactional', false)).toBe(1);
  expect(await held('made-later', true)).toBe(1);
  expect(await held('made-later', false)).toBe(0);
  expect(await held(null, false)).toBe(0);
});
