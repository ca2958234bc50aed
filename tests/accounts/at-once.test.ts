// Two callers at once, where the second finds what the first has just changed: it is told, and
// nothing breaks.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAccount } from '../../src/accounts/accounts.ts';
import { makeAddressToken } from '../../src/accounts/address-verification.ts';
import { addIdentity, removeIdentity } from '../../src/accounts/identities.ts';
import { createInvitation, listInvitations } from '../../src/people/invitations.ts';
import { systemClock } from '../../src/process/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { countLockWaits } from '../support/lock-waits.ts';
import { until } from '../support/until.ts';

let own: TestDatabase;
let accountId: number;
beforeAll(async () => {
  own = await createTestDatabase();
  accountId = (await createAccount(own.database, { name: 'Busy', plan: 'paid' })).id;
});
afterAll(() => own.drop());

it('of several invitations of one person each gets its answer, and the last one works', async () => {
  const wish = { accountId, email: 'ada@example.com', role: 'viewer', invitedBy: 'Bob' } as const;
  const made = await Promise.all(
    Array.from({ length: 40 }, () => createInvitation(own.database, systemClock, wish)),
  );
  const left = await listInvitations(own.database, accountId);
  expect(left).toHaveLength(1);
  expect(made.map(({ invitation }) => invitation.id)).toContain(left[0]!.id);
});

it('a link for an address that is being removed is refused, not a fault', async () => {
  const address = 'ada@example.com';
  await addIdentity(own.database, accountId, address, false);
  const link = await own.database.transaction(async (client) => {
    await removeIdentity(client, accountId, address);
    const refused = makeAddressToken(own.database, accountId, address).catch((error) => error);
    await until(async () => (await countLockWaits(own.database)) > 0);
    return { refused };
  });
  expect(await link.refused).toMatchObject({ code: 'not-found' });
});
