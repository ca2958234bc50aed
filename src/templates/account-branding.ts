// The branding of an account as it is kept: every change is a new version. Before it:
// operations/branding.ts. After it: resolution.ts hands the newest to every render, and each
// message records which version that was.
import { isDeepStrictEqual } from 'node:util';
import { lockAccount } from '../accounts/accounts.ts';
import { raiseVersion } from '../accounts/version.ts';
import { Problem } from '../errors.ts';
import { type Database, joined, type Queryable } from '../store/pool.ts';
import { changeBranding } from './branding.ts';
import { type Branding, brandingFields, defaultBranding } from './branding-fields.ts';
import { keepLogo, logoUrl, readLogo } from './logos.ts';

export interface AccountBranding {
  /** 0: nothing was ever set, so the defaults apply. */
  version: number;
  fields: Branding;
  /** The brand's name while none is set. */
  accountName: string;
}

export async function readBranding(
  database: Queryable,
  accountId: number,
): Promise<AccountBranding> {
  const [row] = await database.prepared<{
    accountName: string;
    version: number | null;
    fields: Branding | null;
  }>(
    'branding-newest',
    `SELECT a.name AS "accountName", b.version, b.fields FROM accounts a
     LEFT JOIN branding b ON b.account_id = a.id
     WHERE a.id = $1 ORDER BY b.version DESC LIMIT 1`,
    [accountId],
  );
  if (row === undefined) throw new Problem('not-found', `There is no account ${accountId}.`);
  const { accountName, version, fields } = row;
  return { accountName, version: version ?? 0, fields: fields ?? defaultBranding };
}

/**
 * Sets some fields; `null` and `''` take one back to its default. A Problem names the field at
 * fault, or says that someone else changed the branding since `baseVersion`.
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
    const fields = changeBranding(current.fields, changes);
    if (isDeepStrictEqual(fields, current.fields)) return current;
    const next = { ...current, version: current.version + 1, fields };
    await client.query('INSERT INTO branding (account_id, version, fields) VALUES ($1, $2, $3)', [
      accountId,
      next.version,
      JSON.stringify(next.fields),
    ]);
    await raiseVersion(client, accountId);
    return next;
  });
}

/** The uploaded image becomes the logo; `inline` undefined: carried by emails or not, as before. */
export async function putLogo(
  database: Database,
  accountId: number,
  base64: string,
  {
    baseUrl,
    inline,
    baseVersion,
  }: { baseUrl: string; inline: boolean | undefined; baseVersion?: number | undefined },
): Promise<AccountBranding> {
  const logo = readLogo(base64);
  return await database.transaction(async (client) => {
    await lockAccount(client, accountId);
    await keepLogo(client, accountId, logo);
    const changes = {
      logo_url: logoUrl(baseUrl, accountId, logo),
      ...(inline === undefined ? {} : { logo_inline: inline }),
    };
    return await setBranding(joined(client), accountId, changes, baseVersion);
  });
}

/** Says what others changed. */
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
    `Someone changed the branding in the meantime: version ${version} is the newest, not ${baseVersion}. Changed since: ${changed.join(', ') || 'nothing visible'}. Read it, apply your change to it and try again.`,
    {
      faults: changed.map((path) => ({
        path,
        message: `${path} is ${fields[path] ?? 'not set'} in version ${version}`,
      })),
    },
  );
}
