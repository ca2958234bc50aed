// The sender of emails that the dashboard itself sends for an account: tests, invitations, the
// quickstart.
import { listIdentities } from '../accounts/identities.ts';
import type { Queryable } from '../store/pool.ts';

/** A verified address, otherwise one at a verified domain; undefined: nothing is verified yet. */
export async function ownSender(
  database: Queryable,
  accountId: number,
): Promise<string | undefined> {
  const verified = (await listIdentities(database, accountId)).filter((it) => it.verified);
  const address = verified.find((it) => it.kind === 'address');
  const domain = verified.find((it) => it.kind === 'domain');
  return address?.value ?? (domain && `hello@${domain.value}`);
}
