// Two accounts, all operations: whatever the two do, in whatever order and with whatever they know
// about each other, nothing that one wrote ever appears in an answer to the other, and what one
// does changes no row of the other.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ALL_SCOPES } from '../../src/accounts/scopes.ts';
import { OPERATIONS } from '../../src/operations/all.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { LONGER } from '../support/longer.ts';
import { readSamples } from './samples.ts';
import {
  type Fields,
  isOperators,
  operationNamed,
  type Party,
  startWorld,
  viaClient,
  viaRest,
  viaTool,
  type World,
} from './world.ts';

const samples = await readSamples();
/** One without a sample fails in every-operation.test.ts, which says what to add. */
const called = OPERATIONS.map(({ name }) => name).filter(
  (name) => name in samples && samples[name]!.needsDelivery !== true,
);

let world: World;
beforeAll(async () => {
  // Nothing is delivered: rows change only by what the two do.
  world = await startWorld({ ROLES: 'api' });
});
afterAll(() => world?.stop());

/** One of the two, and what it may see: what it wrote itself, and what it was answered. */
interface Side extends Party {
  given: Set<string>;
  ids: Set<string>;
}

const DOORS = { rest: viaRest, mcp: viaTool, client: viaClient };

interface Step {
  by: 'ada' | 'bob';
  operation: string;
  /** With what is its own, with what the other has, or some fields of each. */
  input: 'own' | 'theirs' | 'mixed';
  door: keyof typeof DOORS;
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    by: fc.constantFrom('ada' as const, 'bob' as const),
    operation: fc.constantFrom(...called),
    input: fc.constantFrom('own' as const, 'theirs' as const, 'mixed' as const),
    door: fc.constantFrom('rest' as const, 'mcp' as const, 'client' as const),
  }),
  { minLength: 4, maxLength: 14, size: 'max' },
);

it('nothing of one account is seen or changed by the other', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (wanted) => {
      const sides = { ada: await newSide('adas-own'), bob: await newSide('bobs-own') };
      for (const step of wanted) {
        const other = step.by === 'ada' ? sides.bob : sides.ada;
        await take(step, sides[step.by], other);
      }
    }),
    { numRuns: 4 * LONGER },
  );
});

async function newSide(mark: string): Promise<Side> {
  const { id } = await world.service.account();
  const who = await world.keyWith(id, ALL_SCOPES);
  return { accountId: id, mark, ...who, given: new Set(), ids: new Set() };
}

// Each once: what a short run draws of them is little.
it('what operators do to one account neither shows nor changes the other', async () => {
  const [self, other] = [await newSide('adas-own'), await newSide('bobs-own')];
  // Something of each to be mixed up.
  for (const side of [self, other]) {
    const given = await inputOf(operationNamed('create_webhook_endpoint'), side);
    await world.done('create_webhook_endpoint', given, side);
  }
  for (const name of called.filter((one) => isOperators(operationNamed(one)))) {
    await operate(operationNamed(name), self, other);
  }
});

/** An operator does it to `self`, where it is about an account; and `self` may not. */
async function operate(operation: Operation, self: Side, other: Side): Promise<void> {
  const isOfAccount = operation.rest.path.startsWith('/v1/accounts/{id}');
  const sample = await samples[operation.name]!.input(world, self);
  const wanted = isOfAccount ? { ...sample, id: self.accountId } : sample;
  const before = await rowsOf(other);
  const aimed = isOfAccount ? { ...wanted, id: other.accountId } : wanted;
  const refused = await viaRest(world.service, operation, aimed, self);
  expect(refused.status, operation.name).toBe(403);
  expect(await rowsOf(other), operation.name).toEqual(before);
  const { status, body } = await viaClient(world.service, operation, wanted, world.operator);
  const about = `${operation.name} with ${JSON.stringify(wanted)} → ${JSON.stringify(body)}`;
  expect(status, about).toBeLessThan(300);
  expect(await rowsOf(other), about).toEqual(before);
  if (!isOfAccount) return;
  expect([...traces(body, self, other)].filter((it) => belongsTo(it, other))).toEqual([]);
  await world.done('resume_account', { id: self.accountId }, world.operator);
}

async function take(step: Step, self: Side, other: Side): Promise<void> {
  const { input, door } = step;
  const operation = operationNamed(step.operation);
  if (isOperators(operation)) return await operate(operation, self, other);
  const own = input === 'theirs' ? {} : await inputOf(operation, self);
  const theirs = input === 'own' ? {} : await inputOf(operation, other);
  const wanted = input === 'mixed' ? mix(own, theirs) : { ...own, ...theirs };
  for (const text of traces(wanted, self, other)) self.given.add(text);
  const before = await rowsOf(other);
  const via = door === 'mcp' && operation.tool === undefined ? viaRest : DOORS[door];
  const { status, body } = await via(world.service, operation, wanted, self);
  const about = `${operation.name} with ${JSON.stringify(wanted)} → ${JSON.stringify(body)}`;
  expect(status, about).toBeLessThan(500);
  const seen = [...traces(body, self, other)].filter((text) => belongsTo(text, other));
  expect(
    seen.filter((text) => !self.given.has(text)),
    about,
  ).toEqual([]);
  expect(await rowsOf(other), about).toEqual(before);
  if (status < 300) {
    for (const id of idsIn(body)) if (!self.given.has(id)) self.ids.add(id);
  }
}

/** A sample made in the account of `side`, with a mark that no other has. */
async function inputOf({ name }: Operation, side: Side): Promise<Fields> {
  const marked = { ...side, mark: `${side.mark}-${world.next()}` };
  const input = await samples[name]!.input(world, marked);
  for (const text of [...marksIn(input, side), ...idsIn(input), marked.mark]) side.given.add(text);
  for (const id of idsIn(input)) side.ids.add(id);
  return input;
}

/** Every second field of the other's. */
const mix = (own: Fields, theirs: Fields): Fields =>
  Object.fromEntries(
    Object.keys({ ...own, ...theirs }).map((name, at) => [
      name,
      at % 2 === 0 ? (theirs[name] ?? own[name]) : (own[name] ?? theirs[name]),
    ]),
  );

const traces = (value: unknown, ...sides: Side[]): Set<string> =>
  new Set([...sides.flatMap((side) => marksIn(value, side)), ...idsIn(value)]);

const belongsTo = (text: string, side: Side): boolean =>
  text.startsWith(side.mark) || side.ids.has(text);

const marksIn = (value: unknown, { mark }: Party): string[] =>
  JSON.stringify(value).match(new RegExp(`${mark}-\\d+`, 'g')) ?? [];

const idsIn = (value: unknown): string[] =>
  JSON.stringify(value).match(/\b[a-z]{3,4}_[0-9A-HJKMNP-TV-Z]{26}\b/g) ?? [];

/** A digest of every row that an account has, table by table. */
async function rowsOf({ accountId }: Party): Promise<Record<string, string | null>> {
  tables ??= await tablesOfAccounts();
  const rows = await world.service.database.query<{ name: string; digest: string | null }>(
    tables
      .map(
        (name) =>
          `SELECT '${name}' AS name, md5(string_agg(${shown(name)}, ',' ORDER BY ${shown(name)})) AS digest
           FROM ${name} t WHERE ${name === 'accounts' ? 'id' : 'account_id'} = $1`,
      )
      .join(' UNION ALL '),
    [accountId],
  );
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}

let tables: string[] | undefined;

/**
 * What the service writes down by itself a little later, so that it may come in between: when a
 * key was used last, when the approvers were written to.
 */
const LATER: Record<string, string> = { api_keys: 'last_used_at', approvals: 'told_at' };

const shown = (table: string): string =>
  table in LATER ? `(to_jsonb(t) - '${LATER[table]}')::text` : 't::text';

async function tablesOfAccounts(): Promise<string[]> {
  const found = await world.service.database.query<{ name: string }>(
    `SELECT DISTINCT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace
       AND a.attname = 'account_id' AND NOT a.attisdropped`,
  );
  return [...found.map(({ name }) => name), 'accounts'].sort();
}
