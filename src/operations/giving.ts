// Nobody can give away more rights than they have: checked when a caller creates a key, invites a
// person or changes a role.
import type { Caller } from '../accounts/directory.ts';
import { getKey } from '../accounts/keys.ts';
import { beyond, type Scope } from '../accounts/scopes.ts';
import { Problem } from '../errors.ts';
import { showUuid } from '../ids.ts';
import type { Queryable } from '../store/pool.ts';

export async function requireToHave(
  database: Queryable,
  caller: Caller,
  scopes: readonly Scope[],
  /** The field that grants them. */
  at: 'scopes' | 'role',
): Promise<void> {
  const tooMuch = beyond(caller.scopes, scopes);
  if (tooMuch.length > 0) {
    const [who, ask] =
      caller.keyId === null
        ? ['your role allows', 'ask an owner of the account']
        : ['this API key may do itself', 'use a key that may'];
    throw new Problem(
      'forbidden',
      `Nobody can be given more than ${who} (${tooMuch.join(', ')}). Leave that out, or ${ask}.`,
      { at },
    );
  }
  if (caller.keyId !== null) await requireUnbounded(database, caller.accountId, caller.keyId);
}

/**
 * Otherwise a key limited to the sandbox, to one network or to a day could create one without
 * limits.
 */
async function requireUnbounded(
  database: Queryable,
  accountId: number,
  keyId: string,
): Promise<void> {
  const own = await getKey(database, accountId, showUuid('key_', keyId));
  if (own.limits === null && own.expiresAt === null && own.networks === null) return;
  throw new Problem(
    'forbidden',
    'This API key has rules, an expiry or networks of its own, and could give someone rights without them. An owner of the account can do it in the dashboard.',
  );
}
