// Values on their way to PostgreSQL: whatever they are, they come back unchanged.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { columnList } from '../../src/store/columns.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it('texts, bytes, numbers, dates, lists and nothing come back as they went', async () => {
  const text = fc
    .string({ unit: 'binary' })
    .filter((it) => !it.includes('\0') && it.isWellFormed());
  const bytes = fc.uint8Array({ maxLength: 3000 }).map((it) => Buffer.from(it));
  const values = fc.record({
    text: fc.option(text),
    bytes: fc.option(bytes),
    whole: fc.option(fc.integer()),
    is: fc.option(fc.boolean()),
    at: fc.option(fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })),
    list: fc.option(fc.array(text)),
    json: fc.option(fc.record({ a: text, b: fc.integer() })),
  });
  await fc.assert(
    fc.asyncProperty(values, async (given) => {
      const [row] = await test.database.query(
        `SELECT $1::text AS text, $2::bytea AS bytes, $3::int AS whole, $4::boolean AS is,
                $5::timestamptz AS at, $6::text[] AS list, $7::jsonb AS json`,
        Object.values(given),
      );
      expect(row).toEqual(given);
    }),
    { numRuns: 200 },
  );
});

it('columns of a batch: plain texts, others, bytes, and rows that have nothing', async () => {
  interface Row {
    text: string | null;
    body: string | Buffer | null;
    count: number | null;
  }
  const columns = columnList<Row>({
    text: { type: 'text', of: (row) => row.text },
    body: { type: 'bytea', of: (row) => row.body },
    count: { type: 'bigint', of: (row) => row.count },
  });
  const word = fc
    .oneof(fc.string({ unit: 'grapheme-ascii' }), fc.string({ unit: 'binary' }))
    .filter((it) => !it.includes('\0') && it.isWellFormed());
  const row = fc.record({
    text: fc.option(word),
    body: fc.option(
      fc.oneof(
        word,
        fc.uint8Array().map((it) => Buffer.from(it)),
      ),
    ),
    count: fc.option(fc.maxSafeInteger()),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 40 }), async (rows) => {
      const found = await test.database.query(
        `SELECT text, body, count FROM ${columns.asRows('given')}`,
        columns.values(rows),
      );
      expect(found).toEqual(
        rows.map((it) => ({ ...it, body: it.body === null ? null : Buffer.from(it.body) })),
      );
    }),
    { numRuns: 200 },
  );
});

it('a statement without values, and one with megabytes of them', async () => {
  expect(await test.database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  const large = Buffer.alloc(20 * 2 ** 20, 7);
  const [row] = await test.database.query<{ length: number; word: string }>(
    'SELECT length($1::bytea) AS length, $2::text AS word',
    [large, 'behind it'],
  );
  expect(row).toEqual({ length: large.length, word: 'behind it' });
});
