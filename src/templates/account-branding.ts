// The branding of an account as it is kept: every change is a new version. Before it:
// operations/branding.ts. After it: resolution.ts hands the newest to every render, and each
// message records which version that was.
import { lockAccount } from '../accounts/accounts.ts';
import { Problem } from '../errors.ts';
import type { Database, Queryable } from '../store/pool.ts';
import { changeBranding } from './branding.ts';
import { type Branding, brandingFields, defaultBranding } from './branding-fields.ts';

export interface AccountBranding {
  /** 0: nothing was ever set, the defaults are in force. */
  version: number;
  fields: Branding;
}

export async function readBranding(
  database: Queryable,
  accountId: number,
): Promise<AccountBranding> {
  const [row] = await database.prepared<AccountBranding>(
    'branding-newest',
    'SELECT version, fields FROM branding WHERE account_id = $1 ORDER BY version DESC LIMIT 1',
    [accountId],
  );
  return row ?? { version: 0, fields: defaultBranding };
}

/**
 * Sets some fields; `null` and `''` take one back to its default. A Problem names the field at
 * fault, or says that somebody else changed the branding since `baseVersion`.
 */
export async function setBranding(
  database: Database,
  accountId: number,
  changes: Record<string, unknown>,
  baseVersion?: number,
): Promise<AccountBranding> {
  return await database.transaction(async (client) => {
    await lockAccount(client, accountId);
    const current = await readBranding(client, accountId);
    if (baseVersion !== undefined && baseVersion !== current.version) {
      throw await changedMeanwhile(client, accountId, current, baseVersion);
    }
    const next = {
      version: current.version + 1,
      fields: changeBranding(current.fields, changes),
    };
    await client.query('INSERT INTO branding (account_id, version, fields) VALUES ($1, $2, $3)', [
      accountId,
      next.version,
      JSON.stringify(next.fields),
    ]);
    return next;
  });
}

/** Says what the others changed. */
async function changedMeanwhile(
  client: Queryable,
  accountId: number,
  { version, fields }: AccountBranding,
  baseVersion: number,
): Promise<Problem> {
  const [base] = await client.query<{ fields: Branding }>(
    'SELECT fields FROM branding WHERE account_id = $1 AND version = $2',
    [accountId, baseVersion],
  );
  const before = base?.fields ?? defaultBranding;
  const changed = brandingFields.filter((field) => before[field] !== fields[field]);
  return new Problem(
    'stale',
    `Somebody changed the branding meanwhile: version ${version} is the newest, not ${baseVersion}. Changed since: ${changed.join(', ') || 'nothing that is seen'}. Read it, apply your change to it and try again.`,
    {
      faults: changed.map((path) => ({
        path,
        message: `${path} is ${fields[path] ?? 'not set'} in version ${version}`,
      })),
    },
  );
}
