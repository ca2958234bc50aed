// Challenges for passkeys, and tickets between a password and the second factor. Both are signed,
// not stored: asking for one writes nothing. An answered challenge is remembered until it expires,
// so an answer counts once.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Problem } from '../errors.ts';
import { readUuid } from '../ids.ts';
import type { Clock } from '../process/clock.ts';
import type { Database, Queryable } from '../store/pool.ts';

export interface ChallengeDeps {
  database: Database;
  clock: Clock;
  /** Signs challenges and tickets. */
  factorKey: Buffer;
}

const CHALLENGE_MS = 5 * 60_000;
const TICKET_MS = 10 * 60_000;
const TIME_BYTES = 6;
const CHANCE_BYTES = 16;

/** `purpose` says what the answer may be used for, and by whom. */
export function makeChallenge({ clock, factorKey }: ChallengeDeps, purpose: string): string {
  const body = Buffer.alloc(TIME_BYTES + CHANCE_BYTES);
  body.writeUIntBE(clock.nowMs() + CHALLENGE_MS, 0, TIME_BYTES);
  randomBytes(CHANCE_BYTES).copy(body, TIME_BYTES);
  return Buffer.concat([body, sign(factorKey, purpose, body)]).toString('base64url');
}

/** A Problem unless it is ours, for this purpose, not expired and not answered before. */
export async function takeChallenge(
  { clock, factorKey }: ChallengeDeps,
  client: Queryable,
  purpose: string,
  challenge: string,
): Promise<void> {
  const bytes = Buffer.from(challenge, 'base64url');
  const body = bytes.subarray(0, TIME_BYTES + CHANCE_BYTES);
  const signature = bytes.subarray(TIME_BYTES + CHANCE_BYTES);
  const expected = sign(factorKey, purpose, body);
  const ours = signature.length === expected.length && timingSafeEqual(signature, expected);
  if (!ours || body.readUIntBE(0, TIME_BYTES) <= clock.nowMs()) throw tooLate();
  const rows = await client.query(
    `INSERT INTO answered_challenges (hash, expires_at) VALUES ($1, now() + interval '10 minutes')
     ON CONFLICT (hash) DO NOTHING RETURNING hash`,
    [createHash('sha256').update(body).digest()],
  );
  if (rows.length === 0) throw tooLate();
}

const tooLate = (): Problem =>
  new Problem('forbidden', 'The passkey was asked for too long ago, or already used. Try again.');

export async function pruneChallenges(database: Queryable): Promise<void> {
  await database.query('DELETE FROM answered_challenges WHERE expires_at < now()');
}

/** Who gave the right password, and for which account. Void once the password changes. */
export interface Ticket {
  userId: string;
  email: string;
  accountId: number | undefined;
}

export async function makeTicket(
  { database, clock, factorKey }: ChallengeDeps,
  userId: string,
  accountId: number | undefined,
): Promise<string> {
  const said = [userId, accountId ?? '', clock.nowMs() + TICKET_MS].join('.');
  const kept = await keptOf(database, userId);
  return `${said}.${signTicket(factorKey, said, kept?.password ?? '')}`;
}

export async function readTicket(
  { database, clock, factorKey }: ChallengeDeps,
  ticket: string,
): Promise<Ticket> {
  const [userId = '', account = '', until = '', signature = ''] = ticket.split('.');
  const kept = Number(until) > clock.nowMs() ? await keptOf(database, userId) : undefined;
  const said = [userId, account, until].join('.');
  const expected = Buffer.from(signTicket(factorKey, said, kept?.password ?? ''));
  const given = Buffer.from(signature);
  const ours = given.length === expected.length && timingSafeEqual(given, expected);
  if (kept === undefined || !ours) {
    throw new Problem(
      'unauthenticated',
      'This took too long, or the password was changed in the meantime. Sign in again.',
    );
  }
  return { userId, email: kept.email, accountId: account === '' ? undefined : Number(account) };
}

async function keptOf(
  database: Queryable,
  userId: string,
): Promise<{ email: string; password: string } | undefined> {
  const [row] = await database.query<{ email: string; password: string }>(
    'SELECT email, password FROM users WHERE id = $1',
    [readUuid('usr_', userId) ?? null],
  );
  return row;
}

const sign = (key: Buffer, purpose: string, body: Buffer): Buffer =>
  createHmac('sha256', key).update(`challenge ${purpose} `).update(body).digest();

const signTicket = (key: Buffer, said: string, password: string): string =>
  createHmac('sha256', key).update(`ticket ${said} ${password}`).digest('base64url');
