// Passkeys of people: added while signed in, then used instead of password and code. webauthn.ts
// checks what the authenticator says, challenges.ts that we asked for it.
import { createPublicKey } from 'node:crypto';
import { Problem } from '../errors.ts';
import { readUuid, showUuid } from '../ids.ts';
import type { Queryable } from '../store/pool.ts';
import { type ChallengeDeps, takeChallenge } from './challenges.ts';
import {
  type Assertion,
  type AuthenticatorResponse,
  challengeOf,
  checkSigned,
  type RelyingParty,
  readNewKey,
} from './webauthn.ts';

export interface Passkey {
  /** base64url. */
  id: string;
  name: string;
  createdAt: string;
  lastUsedAt: string | null;
}

const MOST = 20;

export const SIGN_IN = 'sign-in';
export const toAdd = (userId: string): string => `add ${userId}`;
export const toProve = (userId: string): string => `prove ${userId}`;

/** 16 bytes that reveal nothing about the person, as the standard requires. */
export const handleOf = (userId: string): string =>
  Buffer.from(readUuid('usr_', userId)!.replaceAll('-', ''), 'hex').toString('base64url');

export async function listPasskeys(database: Queryable, userId: string): Promise<Passkey[]> {
  const rows = await database.query<{ id: Buffer; name: string; at: Date; used: Date | null }>(
    `SELECT id, name, created_at AS at, last_used_at AS used FROM passkeys
     WHERE user_id = $1 ORDER BY created_at`,
    [readUuid('usr_', userId)],
  );
  return rows.map(({ id, name, at, used }) => ({
    id: id.toString('base64url'),
    name,
    createdAt: at.toISOString(),
    lastUsedAt: used?.toISOString() ?? null,
  }));
}

export async function addPasskey(
  deps: ChallengeDeps,
  client: Queryable,
  party: RelyingParty,
  { userId, name, response }: { userId: string; name: string; response: AuthenticatorResponse },
): Promise<void> {
  await takeChallenge(deps, client, toAdd(userId), challengeOf(response));
  const { id, key, counter } = readNewKey(response, party);
  if ((await listPasskeys(client, userId)).length >= MOST) {
    throw new Problem('invalid', `You have ${MOST} passkeys. Remove one that you do not use.`);
  }
  const rows = await client.query(
    `INSERT INTO passkeys (id, user_id, name, public_key, counter) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (id) DO NOTHING RETURNING id`,
    [id, readUuid('usr_', userId), name, key.export({ type: 'spki', format: 'der' }), counter],
  );
  if (rows.length === 0) throw new Problem('invalid', 'This passkey is already set up.');
}

/** Whose passkey it was. Its counter never goes back: if it does, the passkey was copied. */
export async function takePasskey(
  deps: ChallengeDeps,
  client: Queryable,
  party: RelyingParty,
  { purpose, assertion }: { purpose: string; assertion: Assertion },
): Promise<{ userId: string }> {
  const id = Buffer.from(assertion.id, 'base64url');
  const [row] = await client.query<{ uuid: string; key: Buffer; counter: number }>(
    'SELECT user_id AS uuid, public_key AS key, counter FROM passkeys WHERE id = $1 FOR UPDATE',
    [id],
  );
  if (row === undefined) {
    throw new Problem(
      'unauthenticated',
      'Nobody here has this passkey: it was removed, or belongs to another service. Sign in with your password.',
    );
  }
  const key = createPublicKey({ key: row.key, format: 'der', type: 'spki' });
  const { counter } = checkSigned(assertion, party, key);
  await takeChallenge(deps, client, purpose, challengeOf(assertion));
  if (Number(row.counter) > 0 && counter <= Number(row.counter)) {
    throw new Problem(
      'forbidden',
      'This passkey was used elsewhere with a later count, as a copy would be. Sign in another way, remove it and add it again.',
    );
  }
  await client.query('UPDATE passkeys SET counter = $2, last_used_at = now() WHERE id = $1', [
    id,
    counter,
  ]);
  return { userId: showUuid('usr_', row.uuid) };
}

export async function removePasskey(
  client: Queryable,
  userId: string,
  id: string,
): Promise<string> {
  const [row] = await client.query<{ name: string }>(
    'DELETE FROM passkeys WHERE id = $1 AND user_id = $2 RETURNING name',
    [Buffer.from(id, 'base64url'), readUuid('usr_', userId)],
  );
  if (row === undefined) throw new Problem('not-found', 'You have no such passkey.');
  return row.name;
}
