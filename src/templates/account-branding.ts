// The branding of an account as it is kept: every change is a new version. Before it: the dashboard or the CLI.
// After it: resolution.ts hands the newest to every render, and each message records which version that was.
import { lockAccount } from '../accounts/accounts.ts';
import { Problem } from '../errors.ts';
import type { Database, Queryable } from '../store/pool.ts';
import { changeBranding } from './branding.ts';
import { type Branding, defaultBranding } from './branding-fields.ts';

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
 * Sets some fields; `null` and `''` take one back to its default. A Problem names the field at fault, or says that
 * somebody else changed the branding since `baseVersion`.
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
      throw new Problem(
        'stale',
        `The branding was changed meanwhile: version ${current.version} is the newest, not ${baseVersion}. Read it, apply your change to it and try again.`,
      );
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
