// A large value read as it arrives: it is complete, its connection can be used again, and a missing
// value is distinguished from a broken one.
import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readValue } from '../../src/store/copy-out.ts';
import { joined } from '../../src/store/pool.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let test: TestDatabase;
const uuid = randomUUID();
const bytes = randomBytes(3_000_001);
beforeAll(async () => {
  test = await createTestDatabase();
  await test.database.query('CREATE TABLE large (id uuid, bytes bytea)');
  await test.database.query('INSERT INTO large VALUES ($1, $2)', [uuid, bytes]);
});
afterAll(() => test.drop());

const select = (id: string, what = 'bytes') => `SELECT ${what} FROM large WHERE id = '${id}'`;

it('is the value, or a part of it', async () => {
  const whole = Buffer.alloc(bytes.length);
  expect(await test.database.readValue(select(uuid), whole)).toBe(true);
  expect(whole.equals(bytes)).toBe(true);
  const part = Buffer.alloc(1000);
  const some = select(uuid, 'substring(bytes FROM 2000001 FOR 1000)');
  expect(await test.database.readValue(some, part)).toBe(true);
  expect(part.equals(bytes.subarray(2_000_000, 2_001_000))).toBe(true);
});

it('many at a time, with other statements between them', async () => {
  const read = async () => {
    const whole = Buffer.alloc(bytes.length);
    await test.database.readValue(select(uuid), whole);
    const [row] = await test.database.query<{ two: number }>('SELECT 2 AS two');
    return whole.equals(bytes) && row!.two === 2;
  };
  expect(new Set(await Promise.all(Array.from({ length: 20 }, read)))).toEqual(new Set([true]));
});

it('no row, null, or another length: there is none', async () => {
  const whole = Buffer.alloc(10);
  expect(await test.database.readValue(select(randomUUID()), whole)).toBe(false);
  expect(await test.database.readValue(select(uuid, 'NULL::bytea'), whole)).toBe(false);
  expect(await test.database.readValue(select(uuid), whole)).toBe(false);
});

it('a statement that fails says why, and harms no other', async () => {
  await expect(test.database.readValue('SELECT nothing', Buffer.alloc(1))).rejects.toThrow(
    /column "nothing" does not exist/,
  );
  await test.database.transaction(async (client) => {
    const whole = Buffer.alloc(bytes.length);
    expect(await joined(client).readValue(select(uuid), whole)).toBe(true);
    expect(await client.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});

it('however its bytes are cut', async () => {
  const head = Buffer.concat([
    Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'),
    Buffer.alloc(8),
    Buffer.from([0, 1, 0, 0, 0, 5]),
  ]);
  const sent = Buffer.concat([head, Buffer.from('value'), Buffer.from([0xff, 0xff])]);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(sent.length)), async (places) => {
      const cuts = [0, ...places.sort((one, other) => one - other), sent.length];
      async function* chunks() {
        for (const [n, at] of cuts.slice(1).entries()) yield sent.subarray(cuts[n], at);
      }
      const whole = Buffer.alloc(5);
      expect(await readValue(chunks(), whole)).toBe(true);
      expect(whole.toString()).toBe('value');
    }),
  );
});
