// Batches are passed to SQL functions column by column: the list in the code and the function's own
// must be equal, and inside the functions no column may be mistaken for another.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVENT_COLUMNS } from '../../src/events/record.ts';
import { SEND_COLUMNS } from '../../src/sending/packed-send.ts';
import { columnList } from '../../src/store/columns.ts';
import { CHANGE_COLUMNS, OUTCOME_COLUMNS } from '../../src/webhooks/outcomes.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const FUNCTIONS = join(import.meta.dirname, '../../src/store/functions');

it.each([
  ['accept_sends', 'p_', SEND_COLUMNS],
  ['record_events', 'p_', EVENT_COLUMNS],
  ['record_webhook_news', 'p_', OUTCOME_COLUMNS],
  ['record_webhook_news', 'c_', CHANGE_COLUMNS],
])('%s takes the columns of the list, once each, as %s', async (name, prefix, list) => {
  const functions = await test.database.query<{ names: string[]; types: string[] }>(
    `SELECT proargnames[1:pronargs] AS names,
            array(SELECT format_type(t, NULL) FROM unnest(proargtypes) WITH ORDINALITY AS a (t, n) ORDER BY n) AS types
     FROM pg_proc WHERE proname = $1`,
    [name],
  );
  expect(functions).toHaveLength(1);
  const { names, types } = functions[0]!;
  const taken = names.map((name, n) => [name, types[n]!] as const);
  const columns = taken.filter(
    ([name, type]) => name.startsWith(prefix) && type.endsWith('[]') && name !== 'p_home',
  );
  expect(new Map(columns)).toEqual(
    new Map(list.types.map(([column, type]) => [`${prefix}${column}`, `${type}[]`])),
  );
});

// unnest(p_a, p_b) AS t (b, a) would put one column's values under another's name, and often both
// are texts.
describe.each(['accept_sends', 'record_events', 'record_webhook_news'])('%s', (name) => {
  const sql = readFileSync(join(FUNCTIONS, `${name}.sql`), 'utf8');
  const unnests = sql.matchAll(
    /unnest\(([^()]+)\)(\s+WITH ORDINALITY)?\s+AS\s+(\w+)\s+\(([^()]+)\)/g,
  );
  it.each([...unnests].map((match) => [match[0].replace(/\s+/g, ' '), match]))('%s', (_, match) => {
    const words = (text: string) => text.split(',').map((word) => word.trim());
    // p_, c_: an argument; n_: of the new events; m_: what their messages become.
    const given = words(match[1]!).map((name) => name.replace(/^[pcnm]_/, '').replace(/s$/, ''));
    const called = words(match[4]!).map((name) => name.replace(/s$/, ''));
    expect(called).toEqual(match[2] === undefined ? given : [...given, 'n']);
  });
});

it('values go where their names say, whatever order the statement has them in', async () => {
  const list = columnList<{ name: string; size: number | null }>({
    size: { type: 'integer', of: (row) => row.size },
    name: { type: 'text', of: (row) => row.name },
  });
  await test.database.query(
    `CREATE FUNCTION swapped(p_name text[], p_size integer[]) RETURNS SETOF text LANGUAGE sql
     AS $$ SELECT format('%s:%s', n, coalesce(s, 0)) FROM unnest(p_name, p_size) AS t (n, s) $$`,
  );
  const rows = [
    { name: 'é "quoted", {1}', size: 7 },
    { name: '', size: null },
  ];
  expect(
    await test.database.query(`SELECT swapped(${list.asArguments()}) AS it`, list.values(rows)),
  ).toEqual([{ it: 'é "quoted", {1}:7' }, { it: ':0' }]);
  expect(
    await test.database.query(`SELECT $1::text AS before, r.* FROM ${list.asRows('r', 2)}`, [
      'x',
      ...list.values(rows),
    ]),
  ).toEqual(rows.map((row) => ({ before: 'x', ...row })));
  expect(await test.database.query(`SELECT FROM ${list.asRows('r')}`, list.values([]))).toEqual([]);
});
