// Signing secrets at rest: sealed when endpoint.ts writes them, opened for signing by attempt.ts
// and test-event.ts.
import { Problem } from '../errors.ts';
import { showUuid } from '../ids.ts';
import type { Queryable } from '../store/pool.ts';
import type { SealedColumn } from '../store/sealed-columns.ts';
import type { Vault } from '../store/vault.ts';

export interface SecretOwner {
  accountId: number;
  endpointUuid: string;
}

/** Opens a secret of an endpoint, the current or the previous one. */
export type OpenSecret = (owner: SecretOwner, sealed: Buffer) => string;

/**
 * Bound to its endpoint, not to its column: a rotation moves the sealed secret to the previous one
 * unchanged.
 */
const labelOf = ({ accountId, endpointUuid }: SecretOwner): string =>
  `webhook secret of ${endpointUuid} (account ${accountId})`;

/** Call it in the transaction that writes the row. */
export const sealSecret = (
  client: Queryable,
  vault: Vault,
  owner: SecretOwner,
  secret: string,
): Promise<Buffer> => vault.seal(client, labelOf(owner), Buffer.from(secret));

export function openSecretWith(vault: Vault): OpenSecret {
  return (owner, sealed) => {
    const secret = vault.open(labelOf(owner), sealed);
    if (secret !== undefined) return secret.toString();
    const id = showUuid('whe_', owner.endpointUuid);
    throw new Problem(
      'unavailable',
      `The secret of webhook endpoint ${id} (account ${owner.accountId}) cannot be decrypted with this SECRET_KEY: it was encrypted with another one, or changed since. Create a new one.`,
      { see: 'rotate_webhook_secret' },
    );
  };
}

export interface SealedSecrets extends SecretOwner {
  secret: Buffer;
  previousSecret: Buffer | null;
  previousUntilMs: number | null;
}

/** Newest first; two while the secret is being rotated. */
export function secretsOf(
  open: OpenSecret,
  endpoint: SealedSecrets,
  nowMs: number,
): [string, ...string[]] {
  const { secret, previousSecret, previousUntilMs } = endpoint;
  const newest = open(endpoint, secret);
  return previousSecret !== null && nowMs < previousUntilMs!
    ? [newest, open(endpoint, previousSecret)]
    : [newest];
}

/** What currently signs for an endpoint that exists. */
export async function readSecrets(
  database: Queryable,
  vault: Vault,
  owner: SecretOwner,
  nowMs: number,
): Promise<[string, ...string[]]> {
  const [row] = await database.query<{
    secret: Buffer;
    previousSecret: Buffer | null;
    previousUntil: Date | null;
  }>(
    `SELECT secret, previous_secret AS "previousSecret", previous_until AS "previousUntil"
     FROM webhook_endpoints WHERE account_id = $1 AND id = $2`,
    [owner.accountId, owner.endpointUuid],
  );
  const previousUntilMs = row!.previousUntil?.getTime() ?? null;
  return secretsOf(openSecretWith(vault), { ...owner, ...row!, previousUntilMs }, nowMs);
}

/** Twice as many as a worker serves at a time, and more: each endpoint may have two. */
const MOST_REMEMBERED = 1024;

/**
 * The same, for callers that sign many times with the same secret. A new secret is another
 * ciphertext, so nothing here becomes stale.
 */
export function rememberSecrets(open: OpenSecret): OpenSecret {
  const known = new Map<string, string>();
  return (owner, sealed) => {
    const name = `${owner.accountId} ${owner.endpointUuid} ${sealed.toString('latin1')}`;
    const remembered = known.get(name);
    if (remembered !== undefined) return remembered;
    const secret = open(owner, sealed);
    if (known.size >= MOST_REMEMBERED) known.clear();
    known.set(name, secret);
    return secret;
  };
}

/** All their sealed values (roles/secrets.ts). */
export const WEBHOOK_SECRET_COLUMNS: readonly SealedColumn[] = ['secret', 'previous_secret'].map(
  (column) => ({
    table: 'webhook_endpoints',
    column,
    key: ['account_id', 'id'],
    label: (row) => labelOf({ accountId: Number(row.account_id), endpointUuid: String(row.id) }),
    name: (row) =>
      `The ${column.replace('_', ' ')} of webhook endpoint ${showUuid('whe_', String(row.id))} (account ${row.account_id})`,
  }),
);
