// The first owner: the person who sets up a new service over the link that it prints. Before it: a
// checked link (dashboard/routes/session.ts). After it: a user who owns every existing account.
import { type Account, createAccount, listAccounts } from '../accounts/accounts.ts';
import { Problem } from '../errors.ts';
import type { Clock } from '../process/clock.ts';
import type { Database, Queryable } from '../store/pool.ts';
import { addUser, noUsersYet, prepareUser, setMember, type User } from './users.ts';

/** If two people set up at once, one wins. */
const SET_UP_LOCK = 7_263_006;

export async function addFirstOwner(
  { database, clock }: { database: Database; clock: Clock },
  wish: { email: string; name: string; password: string; accountName: string },
): Promise<User> {
  if (!(await noUsersYet(database))) throw alreadySetUp();
  const { accountName, ...person } = wish;
  const prepared = await prepareUser({ ...person, operator: true });
  return await database.transaction(async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [SET_UP_LOCK]);
    if (!(await noUsersYet(client))) throw alreadySetUp();
    const owner = await addUser(client, clock, prepared);
    for (const { id } of await firstAccounts(client, accountName)) {
      await setMember(client, id, owner.id, 'owner');
    }
    return owner;
  });
}

/**
 * Accounts created by command before anyone could sign in belong to the first owner; if there are
 * none, one is created.
 */
async function firstAccounts(client: Queryable, name: string): Promise<Account[]> {
  const present = await listAccounts(client);
  return present.length > 0 ? present : [await createAccount(client, { name, plan: 'paid' })];
}

const alreadySetUp = (): Problem =>
  new Problem('forbidden', 'The service is already set up. Sign in instead.');
