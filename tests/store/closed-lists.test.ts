// Closed lists exist once in the code and once in the schema: the database is asked whether they
// are equal. The statuses, with their order, are compared in tests/spec/3-states.test.ts.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { UNKNOWN_OUTCOMES } from '../../src/accounts/accounts.ts';
import { PLANS } from '../../src/accounts/plans.ts';
import { MEMBER_ROLES } from '../../src/accounts/scopes.ts';
import { EVENT_KINDS, SUBSCRIPTION } from '../../src/events/kinds.ts';
import { DELIVERY_STATES } from '../../src/webhooks/delivery-state.ts';
import { DISABLED_REASONS } from '../../src/webhooks/health.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it.each<[table: string, column: string, list: readonly string[]]>([
  ['accounts', 'plan', Object.keys(PLANS)],
  ['accounts', 'unknown_outcome', UNKNOWN_OUTCOMES],
  ['members', 'role', MEMBER_ROLES],
  ['invitations', 'role', MEMBER_ROLES],
  ['events', 'kind', [...Object.keys(EVENT_KINDS), SUBSCRIPTION.hook]],
  ['webhook_deliveries', 'state', DELIVERY_STATES],
  ['webhook_endpoints', 'disabled_reason', Object.keys(DISABLED_REASONS)],
])('%s.%s takes what the code knows, and nothing else', async (table, column, list) => {
  const [check] = await test.database.query<{ text: string }>(
    `SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint
     WHERE conrelid = $1::regclass AND contype = 'c' AND pg_get_constraintdef(oid) LIKE $2`,
    [table, `CHECK ((${column} = ANY (ARRAY[%`],
  );
  const words = [...(check?.text ?? '').matchAll(/'([^']+)'::text/g)].map((match) => match[1]);
  expect(words.sort()).toEqual([...list].sort());
});
