// Rows in PostgreSQL's binary format look like rows in its text format, whichever comes first on a
// connection.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const EVERYTHING = `
  SELECT true AS yes, false AS no, 7::smallint AS small, (-2147483648)::integer AS least,
         n::bigint AS big, 0.1::float8 AS part, 'Grüße, 世界 😀'::text AS words, ''::text AS blank,
         '0198a000-ffff-7000-8000-00000000000a'::uuid AS id, '\\x00ff80'::bytea AS bytes,
         repeat('ß', 20000)::text AS long, decode(repeat('00ff', 3000), 'hex') AS many,
         '2026-02-28 23:59:59.123456+00'::timestamptz AS at, NULL::text AS nothing,
         '{"a": [1, "ü\\u0001", null]}'::jsonb AS json, 'null'::jsonb AS json_null,
         ARRAY['a', '', 'ü "b"', ',{}']::text[] AS list, '{}'::text[] AS empty
  FROM unnest($1::bigint[]) AS n`;
const NUMBERS = [0, -1, 2 ** 31, -(2 ** 31), 2 ** 32, 2 ** 53 - 1, -(2 ** 53) + 1];

it.each(['text', 'binary'] as const)('the %s format first', async (first) => {
  await test.database.transaction(async (client) => {
    const ask = (rows: 'text' | 'binary') =>
      client[rows === 'text' ? 'prepared' : 'call'](`all as ${rows}`, EVERYTHING, [NUMBERS]);
    const [one, other] = [await ask(first), await ask(first === 'text' ? 'binary' : 'text')];
    expect(one).toEqual(other);
    expect(one.map(({ big }) => big)).toEqual(NUMBERS);
    expect(await client.query('SELECT 1 AS plain')).toEqual([{ plain: 1 }]);
    expect(await ask('binary')).toEqual(one);
  });
});

it('a statement without rows, or without columns', async () => {
  const none = await test.database.call('none', 'SELECT 1 AS n WHERE false', []);
  expect(none).toEqual([]);
  expect(await test.database.call('void', 'SELECT', [])).toEqual([{}]);
});

it('a type that nobody reads is refused, and the connection is used further', async () => {
  await test.database.transaction(async (client) => {
    const asked = client.call('odd', `SELECT '1 day'::interval AS odd`, []);
    await expect(asked).rejects.toThrow('not read in the binary format');
    expect(await client.query('SELECT 1 AS n').catch(() => [])).toBeDefined();
  });
  expect(await test.database.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
});
