// Rules that the whole schema keeps, asked of the database itself.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeSchema } from '../../scripts/describe-schema.ts';
import { migrate, readMigrations } from '../../src/store/migrate.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

/** Belong to a person, or to nobody yet; the account in them is a remark. */
const NOT_OF_AN_ACCOUNT = ['sessions', 'feedback_mails', 'sandbox_mails'];
/** People may be members of several accounts. */
const TO_PEOPLE = ['members_user_id_fkey'];

it('every primary, unique and foreign key of account data begins with the account', async () => {
  const keys = await test.database.query<{ table: string; key: string; first: string }>(
    `SELECT t.relname AS table, c.conname AS key, a.attname AS first
     FROM pg_constraint c
     JOIN pg_class t ON t.oid = c.conrelid
     JOIN pg_namespace s ON s.oid = t.relnamespace AND s.nspname = 'public'
     JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = c.conkey[1]
     WHERE c.contype IN ('p', 'u', 'f') AND NOT t.relispartition
       AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = t.oid AND attname = 'account_id')
     UNION ALL
     SELECT t.relname, i.indexrelid::regclass::text, coalesce(a.attname, '(expression)')
     FROM pg_index i
     JOIN pg_class t ON t.oid = i.indrelid
     JOIN pg_namespace s ON s.oid = t.relnamespace AND s.nspname = 'public'
     LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]
     WHERE i.indisunique AND NOT t.relispartition
       AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = t.oid AND attname = 'account_id')`,
  );
  expect(keys.length).toBeGreaterThan(20);
  const others = keys.filter(
    ({ table, key, first }) =>
      first !== 'account_id' && !NOT_OF_AN_ACCOUNT.includes(table) && !TO_PEOPLE.includes(key),
  );
  expect(others).toEqual([]);
});

it('a function is made again when its file changed, and left alone otherwise', async () => {
  const text = () =>
    test.database.query<{ src: string }>(
      `SELECT prosrc AS src FROM pg_proc WHERE proname = 'uuid_at'`,
    );
  const [before] = await text();
  await test.database.query(
    `CREATE OR REPLACE FUNCTION uuid_at(p_at timestamptz) RETURNS uuid LANGUAGE sql AS 'SELECT gen_random_uuid()'`,
  );
  await migrate(test.database);
  expect(await text()).toEqual([{ src: 'SELECT gen_random_uuid()' }]);

  await test.database.query(`UPDATE schema_functions SET hash = '' WHERE name = 'uuid_at'`);
  await migrate(test.database);
  expect(await text()).toEqual([before]);
});

it('docs/schema.sql is what the migrations make: npm run schema writes it again', async () => {
  const fresh = await createTestDatabase();
  const file = join(import.meta.dirname, '../../docs/schema.sql');
  expect(await describeSchema(fresh.database)).toBe(readFileSync(file, 'utf8'));
  await fresh.drop();
});

describe('a database of before the first release', () => {
  const FORMER = [1, 2, 3, 4, 5, 6, 9, 11, 12, 13, 15, 16, 20];
  const [baseline, ...later] = readMigrations();
  const laterVersions = later.map(({ version }) => version);
  let old: TestDatabase;
  beforeEach(async () => {
    old = await createTestDatabase({ empty: true });
    await migrate(old.database, undefined, [baseline!]);
    await old.database.query('DELETE FROM schema_migrations WHERE version = 1');
  });
  afterEach(() => old.drop());

  const pretend = (versions: number[]) =>
    old.database.query(
      `INSERT INTO schema_migrations (version, name)
       SELECT v, CASE v WHEN 1 THEN 'send_path' WHEN 26 THEN 'strikes' ELSE 'other' END
       FROM unnest($1::integer[]) v`,
      [versions],
    );
  const migrated = (database = old.database) =>
    database.query('SELECT version, name FROM schema_migrations ORDER BY version');

  it('that has every migration of then goes on from the baseline', async () => {
    await pretend([...FORMER, 23, 25, 26]);
    expect(await migrate(old.database)).toEqual(laterVersions);
    expect(await migrated()).toEqual(await migrated(test.database));
  });

  it('gets what it lacks of the last ones, and its hours keep their meaning', async () => {
    await pretend(FORMER);
    await old.database.query('DROP TABLE suppression_strikes');
    await old.database.query(
      `ALTER TABLE message_hours ALTER COLUMN counts TYPE bigint[] USING NULL`,
    );
    await old.database.query(`INSERT INTO accounts (name, plan) VALUES ('Old', 'paid')`);
    await old.database.query(
      `INSERT INTO message_hours (account_id, hour, counts)
       SELECT id, '2026-11-01T10:00Z', '{0,3,0,0,0,2,0}' FROM accounts`,
    );
    expect(await migrate(old.database)).toEqual(laterVersions);
    expect(await migrated()).toEqual(await migrated(test.database));
    expect(await describeSchema(old.database)).toBe(await describeSchema(test.database));
    expect(await old.database.query('SELECT counts FROM message_hours')).toEqual([
      { counts: { sent: 3, bounced: 2 } },
    ]);
  });

  it('that lacks an older one is refused with what to do, and left as it is', async () => {
    await pretend(FORMER.slice(0, -1));
    const before = await migrated();
    await expect(migrate(old.database)).rejects.toMatchObject({
      code: 'unavailable',
      detail: expect.stringMatching(/before 0\.1\.0 \(schema 16\).*DATA_DIR to a new folder/),
    });
    expect(await migrated()).toEqual(before);
  });
});
