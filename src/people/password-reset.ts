// A new password for a person who forgot the old one, through an emailed link. Nothing is stored:
// the link names the user and its hour and is signed together with the password's hash, so it is
// void as soon as the password changes, and works once.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Problem } from '../errors.ts';
import { readUuid, showUuid } from '../ids.ts';
import type { Clock } from '../process/clock.ts';
import type { Database, Queryable } from '../store/pool.ts';
import { hashPassword, requireGoodPassword } from './passwords.ts';
import type { User } from './users.ts';

export interface ResetDeps {
  database: Database;
  clock: Clock;
  /** Signs the links. */
  resetKey: Buffer;
}

const VALID_MS = 3_600_000;

/** What follows the # in the link. */
export async function makeResetToken(
  { database, clock, resetKey }: ResetDeps,
  user: Pick<User, 'id'>,
): Promise<string> {
  const until = String(clock.nowMs() + VALID_MS);
  const kept = await readKept(database, user.id);
  if (kept === undefined) throw new Error('a user was gone before their link was made');
  return [user.id, until, signatureOf(resetKey, user.id, until, kept.password)].join('.');
}

/** Whose link it is; a Problem if it is not ours, has expired or was used. */
export async function findReset(
  { database, clock, resetKey }: ResetDeps,
  token: string,
): Promise<Kept> {
  const [id = '', until = '', signature = ''] = token.split('.');
  const kept = Number(until) > clock.nowMs() ? await readKept(database, id) : undefined;
  const expected = Buffer.from(signatureOf(resetKey, id, until, kept?.password ?? ''));
  const given = Buffer.from(signature);
  const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
  if (kept !== undefined && isOurs) return kept;
  throw new Problem(
    'not-found',
    'This link no longer works: it can be used once, within an hour, and not after the password was changed. Ask for a new one.',
  );
}

/**
 * Uses up the link. One wins, even when it is used twice at once. Ending sessions is up to the
 * caller.
 */
export async function resetPassword(
  deps: ResetDeps,
  answer: { token: string; password: string },
): Promise<Pick<User, 'id' | 'email'>> {
  const kept = await findReset(deps, answer.token);
  requireGoodPassword(answer.password, kept.email);
  const changed = await deps.database.query(
    'UPDATE users SET password = $3 WHERE id = $1 AND password = $2 RETURNING id',
    [readUuid('usr_', kept.id), kept.password, await hashPassword(answer.password)],
  );
  if (changed.length === 0) {
    throw new Problem('not-found', 'This link was used just now. Sign in instead.');
  }
  return { id: kept.id, email: kept.email };
}

interface Kept {
  id: string;
  email: string;
  /** The password's hash. */
  password: string;
}

async function readKept(database: Queryable, id: string): Promise<Kept | undefined> {
  const [row] = await database.query<{ uuid: string; email: string; password: string }>(
    'SELECT id AS uuid, email, password FROM users WHERE id = $1',
    [readUuid('usr_', id) ?? null],
  );
  return row && { id: showUuid('usr_', row.uuid), email: row.email, password: row.password };
}

const signatureOf = (key: Buffer, id: string, until: string, password: string): string =>
  createHmac('sha256', key).update(`${id} ${until} ${password}`).digest('base64url');
