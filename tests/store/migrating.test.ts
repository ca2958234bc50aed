// Migrating while others work: sends of the previous version continue, and a migration that is
// blocked waits without holding a place in the lock queue.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { migrate, readMigrations } from '../../src/store/migrate.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

let test: TestDatabase;
beforeEach(async () => {
  test = await createTestDatabase();
});
afterEach(() => test.drop());

const patience = { lockMs: 200, pauseMs: 100, giveUpMs: 60_000 };

const further = (...sqls: string[]) => [
  ...readMigrations(),
  ...sqls.map((sql, n) => ({ version: 9001 + n, name: `further_${n}`, sql })),
];

/** A backup, say: it reads the table and does not end. */
async function holdTable(table: string): Promise<() => Promise<void>> {
  let end!: () => void;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  let held!: () => void;
  const holds = new Promise<void>((resolve) => {
    held = resolve;
  });
  const transaction = test.database.transaction(async (client) => {
    await client.query(`SELECT FROM ${table} LIMIT 1`);
    held();
    await ended;
  });
  await holds;
  return async () => {
    end();
    await transaction;
  };
}

const columns = (name: string) =>
  test.database.query(
    `SELECT FROM information_schema.columns WHERE table_name = 'accounts' AND column_name = $1`,
    [name],
  );

it('a migration behind a long transaction holds up nobody, and is applied when that ends', async () => {
  const release = await holdTable('accounts');
  const migrating = migrate(
    test.database,
    patience,
    further('ALTER TABLE accounts ADD motto text'),
  );
  for (let times = 0; times < 3; times++) {
    // It waits for the table, and whoever writes now stands behind it.
    await until(async () => {
      const waiting = await test.database.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'ALTER TABLE accounts%'`,
      );
      return waiting.length > 0;
    });
    await test.database.query(`INSERT INTO accounts (name, plan) VALUES ('Sending', 'paid')`);
  }
  expect(await columns('motto')).toEqual([]);
  await release();
  expect(await migrating).toEqual([9001]);
  expect(await columns('motto')).toHaveLength(1);
});

it('says what is in the way when it does not end, and has changed nothing', async () => {
  const release = await holdTable('accounts');
  await expect(
    migrate(
      test.database,
      { ...patience, giveUpMs: 1000 },
      further('ALTER TABLE accounts ADD motto text'),
    ),
  ).rejects.toMatchObject({
    code: 'unavailable',
    detail: expect.stringMatching(/for 1 s another transaction has held a table.*pg_stat_activity/),
  });
  await release();
  expect(await columns('motto')).toEqual([]);
});

it('each migration is a transaction: what failed is done again, what went before is not', async () => {
  const broken = further(
    'ALTER TABLE accounts ADD motto text',
    'ALTER TABLE accounts ADD motto text',
  );
  await expect(migrate(test.database, patience, broken)).rejects.toThrow(/already exists/);
  const mended = further(
    'ALTER TABLE accounts ADD motto text',
    'ALTER TABLE accounts ADD crest text',
  );
  expect(await migrate(test.database, patience, mended)).toEqual([9002]);
  expect(await columns('crest')).toHaveLength(1);
});

it('two migrations of one number are a mistake of ours that no database gets to see', () => {
  const versions = readMigrations().map(({ version }) => version);
  expect(new Set(versions).size).toBe(versions.length);
});
