// A person's authenticator app: its secret is created and shown, counts once the first code was
// entered, and then checks their codes. Sealed in the database; each code works once.
import { randomBytes } from 'node:crypto';
import { Problem } from '../errors.ts';
import { readUuid, showUuid } from '../ids.ts';
import type { Clock } from '../process/clock.ts';
import type { Database, Queryable } from '../store/pool.ts';
import type { SealedColumn } from '../store/sealed-columns.ts';
import type { Vault } from '../store/vault.ts';
import { stepOfCode } from './totp.ts';

export interface AppDeps {
  database: Database;
  clock: Clock;
  vault: Vault;
}

/** RFC 4226 4: 160 bits. */
const SECRET_BYTES = 20;

/** A new secret, which has no effect before `confirmApp`. */
export async function startApp(
  { database, vault }: AppDeps,
  user: { id: string; email: string },
): Promise<Buffer> {
  const secret = randomBytes(SECRET_BYTES);
  await database.transaction(async (client) => {
    const sealed = await vault.seal(client, labelOf(user.id), secret);
    const rows = await client.query(
      `INSERT INTO authenticator_apps AS kept (user_id, secret) VALUES ($1, $2)
       ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, last_step = 0
       WHERE kept.confirmed_at IS NULL RETURNING user_id`,
      [readUuid('usr_', user.id), sealed],
    );
    if (rows.length === 0) {
      throw new Problem(
        'invalid',
        'You already have an authenticator app. Remove it before you set up another one.',
      );
    }
  });
  return secret;
}

/** The first code: from now on the app is a factor. */
export async function confirmApp(
  deps: AppDeps,
  client: Queryable,
  userId: string,
  code: string,
): Promise<void> {
  if (!(await takeCode(deps, client, userId, code, 'confirmed_at IS NULL'))) {
    throw new Problem(
      'invalid',
      'code: this is not the code your app shows now. Check that the clock of your device is right, then type the newest code.',
      { at: 'code' },
    );
  }
  await client.query('UPDATE authenticator_apps SET confirmed_at = now() WHERE user_id = $1', [
    readUuid('usr_', userId),
  ]);
}

/** Whether it is one of their codes and unused; this call uses it up. */
export const takeAppCode = (
  deps: AppDeps,
  client: Queryable,
  userId: string,
  code: string,
): Promise<boolean> => takeCode(deps, client, userId, code, 'confirmed_at IS NOT NULL');

/** If the same code arrives twice at once, the row lets one through. */
async function takeCode(
  { clock, vault }: AppDeps,
  client: Queryable,
  userId: string,
  code: string,
  which: string,
): Promise<boolean> {
  const uuid = readUuid('usr_', userId);
  const [row] = await client.query<{ secret: Buffer }>(
    `SELECT secret FROM authenticator_apps WHERE user_id = $1 AND ${which}`,
    [uuid],
  );
  if (row === undefined) return false;
  const secret = vault.open(labelOf(userId), row.secret);
  if (secret === undefined) {
    throw new Problem(
      'unavailable',
      'The secret of your authenticator app cannot be decrypted with this SECRET_KEY. Use a recovery code or a passkey, or ask an operator to reset your second factors.',
    );
  }
  const step = stepOfCode(secret, code, clock.nowMs());
  if (step === undefined) return false;
  const taken = await client.query(
    'UPDATE authenticator_apps SET last_step = $2 WHERE user_id = $1 AND last_step < $2 RETURNING user_id',
    [uuid, step],
  );
  return taken.length > 0;
}

export async function removeApp(client: Queryable, userId: string): Promise<boolean> {
  const rows = await client.query<{ confirmed: boolean }>(
    'DELETE FROM authenticator_apps WHERE user_id = $1 RETURNING confirmed_at IS NOT NULL AS confirmed',
    [readUuid('usr_', userId)],
  );
  return rows[0]?.confirmed ?? false;
}

const labelOf = (userId: string): string => `authenticator app of ${userId}`;

/** All their sealed values (roles/secrets.ts). */
export const APP_COLUMNS: readonly SealedColumn[] = [
  {
    table: 'authenticator_apps',
    column: 'secret',
    key: ['user_id'],
    label: (row) => labelOf(showUuid('usr_', String(row.user_id))),
    name: (row) => `The authenticator app of ${showUuid('usr_', String(row.user_id))}`,
  },
];
