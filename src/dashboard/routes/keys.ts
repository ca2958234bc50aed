// API keys: shown once, with rules they can carry; revoked at once.
import { z } from 'zod';
import { type ApiKey, createKey, listKeys, revokeKey } from '../../accounts/keys.ts';
import { ALL_SCOPES, beyond, type Scope, scopesOfPerson } from '../../accounts/scopes.ts';
import { Problem } from '../../errors.ts';
import type { Session } from '../../people/sessions.ts';
import type { Works } from '../route.ts';
import type { KeyRow } from '../views/keys.ts';

export const keyRoutes: Works<'listKeys' | 'createKey' | 'revokeKey'> = {
  listKeys: {
    async run({ database, directory }, { accountId }) {
      await directory.noteUses();
      const keys = await listKeys(database, accountId);
      return { keys: keys.map(toRow).reverse() };
    },
  },

  createKey: {
    body: z.strictObject({
      name: z.string().trim().max(200).optional(),
      scopes: z.array(z.enum(ALL_SCOPES)).min(1, 'choose at least one'),
      limits: z
        .strictObject({
          allowedRecipients: z.array(z.string().max(320)).max(500).nullable(),
          templatesOnly: z.boolean(),
          noBcc: z.boolean(),
          dailyCap: z.number().int().nullable(),
          sandboxOnly: z.boolean(),
        })
        .partial()
        .optional(),
      expiresAt: z.iso
        .datetime('must be a time such as 2030-01-31T00:00:00Z')
        .nullable()
        .optional(),
      networks: z.array(z.string().max(50)).max(100).nullable().optional(),
    }),
    async run({ database, clock }, { accountId, body, session }) {
      const { name, scopes, limits, expiresAt, networks } = body;
      requireOwnScopes(session, scopes);
      const made = await createKey(database, clock, {
        ...{ accountId, scopes, by: session.user.name },
        bounds: { expiresAt: expiresAt ? new Date(expiresAt) : null, networks: networks ?? null },
        ...(name ? { name } : {}),
        ...(limits === undefined ? {} : { limits }),
      });
      const keys = await listKeys(database, accountId);
      return { key: toRow(keys.find(({ id }) => id === made.id)!), secret: made.key };
    },
  },

  revokeKey: {
    async run({ database }, { accountId, params }) {
      await revokeKey(database, params.id, accountId);
      return {};
    },
  },
};

/** Else a developer could make a key that may do what only owners may. */
function requireOwnScopes({ account }: Session, scopes: readonly Scope[]): void {
  const tooMuch = beyond(scopesOfPerson(account?.role, false), scopes);
  if (tooMuch.length === 0) return;
  throw new Problem(
    'forbidden',
    `A key cannot be given more than your role allows (${tooMuch.join(', ')}). Leave that out, or ask an owner of the account.`,
  );
}

function toRow({ accountId: _, limits, ...key }: ApiKey): KeyRow {
  const recipients = limits?.allowedRecipients;
  return {
    ...key,
    limits: limits && { ...limits, allowedRecipients: recipients ? [...recipients] : null },
  };
}
