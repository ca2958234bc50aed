// What domains.ts and addresses.ts share: both are senders, and operators can vouch for either.
import { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import { listIdentities, normaliseIdentity } from '../accounts/identities.ts';
import { Problem } from '../errors.ts';
import type { Queryable } from '../store/pool.ts';

export const verification = {
  verified: z.boolean().describe('Whether the account may send from it.'),
  verified_by: z
    .enum(['operator', 'dns', 'link'])
    .nullable()
    .describe(
      'Who vouches for it: the operator, its DNS, or the reader of its email; null: nobody yet.',
    ),
  created_at: z.string().describe('When it was added: ISO 8601, UTC.'),
};

export const vouched = z
  .boolean()
  .optional()
  .describe('For operators of the service: it is known to belong to the account.');

export function mayVouch({ scopes }: Caller, wanted: boolean | undefined): boolean {
  if (!wanted) return false;
  if (scopes.has('accounts:write')) return true;
  throw new Problem('forbidden', 'vouched: only operators of the service can vouch for a sender.', {
    at: 'vouched',
  });
}

/** For the audit: what existed before it was added; null: nothing. */
export async function addedBefore(
  database: Queryable,
  accountId: number,
  sender: string,
): Promise<{ verified: boolean } | null> {
  const value = normaliseIdentity(sender);
  const found = (await listIdentities(database, accountId)).find((it) => it.value === value);
  return found === undefined ? null : { verified: found.verified };
}
