// Sessions: who is signed in, by a cookie that is stored only as a hash. Before it: users.ts
// checked a password. The cookie changes every hour and when rights change; the previous one stays
// valid for a minute, for requests under way.
import { createHash, randomBytes } from 'node:crypto';
import type { Plan } from '../accounts/plans.ts';
import type { MemberRole } from '../accounts/scopes.ts';
import { Problem } from '../errors.ts';
import { bytesToUuid, newIdBytes, readUuid, showUuid } from '../ids.ts';
import type { Clock } from '../process/clock.ts';
import { databaseFault } from '../process/connection-fault.ts';
import { byShard } from '../store/places.ts';
import type { Database, Queryable } from '../store/pool.ts';

const ROTATED_EVERY = '1 hour';
const PREVIOUS_GOOD_FOR = '1 minute';
const IDLE_AFTER = '7 days';
const OVER_AFTER = '30 days';
/** How exact `seen_at` is, so that not every request has to write. */
const SEEN_EVERY = '1 minute';
/** How long after a password or passkey a sensitive action needs no new one. */
const PROOF_GOOD_FOR = '10 minutes';

export interface Session {
  id: string;
  user: { id: string; email: string; name: string; operator: boolean };
  account: SessionAccount | null;
  /** A second factor was shown. */
  secondFactor: boolean;
  /** Its person proved who they are a few minutes ago. */
  fresh: boolean;
}

export interface SessionAccount {
  id: number;
  name: string;
  role: MemberRole;
  plan: Plan;
  suspended: boolean;
  secondFactorRequired: boolean;
}

/** A session that just began or changed its cookie. */
export interface OpenedSession {
  token: string;
}

/** The account requires a second factor, and none was shown. */
export const isLocked = ({ account, secondFactor }: Session): boolean =>
  account?.secondFactorRequired === true && !secondFactor;

export interface NewSession {
  /** By default the user's first. */
  accountId?: number | undefined;
  secondFactor?: boolean;
  device?: string;
  ipAddress?: string;
}

export async function openSession(
  database: Queryable,
  clock: Clock,
  userId: string,
  { accountId, secondFactor = false, device = '', ipAddress = '' }: NewSession = {},
): Promise<OpenedSession> {
  const token = newToken();
  await database.query(
    `INSERT INTO sessions (id, user_id, account_id, hash, second_factor, device, ip_address, proved_at)
     VALUES ($1, $2, coalesce($3, (SELECT min(account_id) FROM members WHERE user_id = $2)), $4, $5, $6, $7, now())`,
    [
      bytesToUuid(newIdBytes(clock.nowMs())),
      readUuid('usr_', userId),
      accountId ?? null,
      hashOf(token),
      secondFactor,
      device,
      ipAddress,
    ],
  );
  return { token };
}

/** Undefined: none, or one that has ended. `newToken` is set when the cookie must change. */
export async function readSession(
  database: Database,
  token: string,
): Promise<{ session: Session; newToken: string | undefined } | undefined> {
  const hash = hashOf(token);
  const [row] = await database.prepared<SessionRow>(
    'read-session',
    `SELECT s.id, u.id AS "userId", u.email, u.name, u.operator, m.role,
            m.account_id AS "accountId", s.second_factor AS "secondFactor",
            s.proved_at > now() - interval '${PROOF_GOOD_FOR}' AS fresh,
            s.hash = $1 AND s.rotated_at < now() - interval '${ROTATED_EVERY}' AS "toRotate",
            s.seen_at < now() - interval '${SEEN_EVERY}' AS "toNote"
     FROM sessions s JOIN users u ON u.id = s.user_id
     LEFT JOIN members m ON m.user_id = s.user_id AND m.account_id = s.account_id
     WHERE (s.hash = $1 OR (s.previous_hash = $1 AND s.previous_until > now()))
       AND s.seen_at > now() - interval '${IDLE_AFTER}' AND s.created_at > now() - interval '${OVER_AFTER}'`,
    [hash],
  );
  if (row === undefined) return undefined;
  if (row.toNote) {
    await database.query('UPDATE sessions SET seen_at = now() WHERE id = $1', [row.id]);
  }
  const session = toSession(row, await readAccount(database, row));
  // Last: a new cookie that never reaches the browser would end the session.
  return { session, newToken: row.toRotate ? await rotate(database, hash) : undefined };
}

/** Read separately: people are on the coordinator, the account on its node. */
async function readAccount(
  database: Database,
  { accountId, role }: SessionRow,
): Promise<SessionAccount | null> {
  if (accountId === null) return null;
  const [row] = await database.near(accountId).prepared<Omit<SessionAccount, 'role'>>(
    'account-of-session',
    `SELECT id, name, plan, suspended_at IS NOT NULL AS suspended,
            second_factor_required AS "secondFactorRequired" FROM accounts WHERE id = $1`,
    [accountId],
  );
  return row === undefined ? null : { ...row, role: role! };
}

/** Whether it is still open in that account, for work that outlives a request. */
export async function isOpen(
  database: Queryable,
  session: Session,
  accountId: number,
): Promise<boolean> {
  const rows = await database.query(
    `SELECT FROM sessions s JOIN members m ON m.user_id = s.user_id AND m.account_id = s.account_id
     JOIN accounts a ON a.id = s.account_id AND (s.second_factor OR NOT a.second_factor_required)
     WHERE s.id = $1 AND s.account_id = $2 AND s.created_at > now() - interval '${OVER_AFTER}'`,
    [session.id, accountId],
  );
  return rows.length > 0;
}

/**
 * If two requests try to change the same cookie, the first does, and the other keeps the one it
 * has.
 */
async function rotate(database: Queryable, hash: Buffer): Promise<string | undefined> {
  const token = newToken();
  const rows = await database.query(
    `UPDATE sessions SET hash = $2, previous_hash = hash, previous_until = now() + interval '${PREVIOUS_GOOD_FOR}', rotated_at = now()
     WHERE hash = $1 RETURNING id`,
    [hash, hashOf(token)],
  );
  return rows.length > 0 ? token : undefined;
}

/** Moves the session to another account, under a new cookie; the previous one is void at once. */
export async function switchAccount(
  database: Queryable,
  session: Session,
  accountId: number,
): Promise<OpenedSession> {
  const token = newToken();
  const rows = await database.query(
    `UPDATE sessions s SET account_id = m.account_id, hash = $3, previous_hash = NULL, previous_until = NULL, rotated_at = now()
     FROM members m WHERE s.id = $1 AND m.user_id = s.user_id AND m.account_id = $2 RETURNING s.id`,
    [session.id, accountId, hashOf(token)],
  );
  if (rows.length === 0) {
    throw new Problem('not-found', `You are not a member of account ${accountId}.`);
  }
  return { token };
}

/** The same session under a new cookie, as after a change of password. */
export async function renewSession(database: Queryable, session: Session): Promise<OpenedSession> {
  const token = newToken();
  await database.query(
    `UPDATE sessions SET hash = $2, previous_hash = NULL, previous_until = NULL, rotated_at = now() WHERE id = $1`,
    [session.id, hashOf(token)],
  );
  return { token };
}

/** Its person proved again who they are. */
export async function proveSession(database: Queryable, session: Session): Promise<void> {
  await database.query('UPDATE sessions SET proved_at = now() WHERE id = $1', [session.id]);
}

/** Where a person is signed in. */
export interface OpenSession {
  id: string;
  device: string;
  ipAddress: string;
  secondFactor: boolean;
  createdAt: string;
  seenAt: string;
}

export async function listSessions(database: Queryable, userId: string): Promise<OpenSession[]> {
  const rows = await database.query<
    Omit<OpenSession, 'createdAt' | 'seenAt'> & { createdAt: Date; seenAt: Date }
  >(
    `SELECT id, device, ip_address AS "ipAddress", second_factor AS "secondFactor",
            created_at AS "createdAt", seen_at AS "seenAt"
     FROM sessions WHERE user_id = $1
       AND seen_at > now() - interval '${IDLE_AFTER}' AND created_at > now() - interval '${OVER_AFTER}'
     ORDER BY seen_at DESC, id`,
    [readUuid('usr_', userId)],
  );
  return rows.map(({ createdAt, seenAt, ...row }) => ({
    ...row,
    createdAt: createdAt.toISOString(),
    seenAt: seenAt.toISOString(),
  }));
}

/** One of the user's own. */
export async function endOwnSession(
  database: Queryable,
  userId: string,
  id: string,
): Promise<void> {
  const rows = await database.query(
    'DELETE FROM sessions WHERE user_id = $1 AND id::text = $2 RETURNING id',
    [readUuid('usr_', userId), id],
  );
  if (rows.length === 0) {
    throw new Problem('not-found', 'You have no such session: it has already ended.');
  }
}

export async function endSession(database: Queryable, session: Session): Promise<void> {
  await database.query('DELETE FROM sessions WHERE id = $1', [session.id]);
}

/** All sessions of a user except `but`. Returns how many there were. */
export async function endSessions(
  database: Queryable,
  userId: string,
  but?: Session,
): Promise<number> {
  const rows = await database.query(
    'DELETE FROM sessions WHERE user_id = $1 AND id IS DISTINCT FROM $2 RETURNING id',
    [readUuid('usr_', userId), but?.id ?? null],
  );
  return rows.length;
}

/** By name. An account whose node is unreachable is listed by its number instead. */
export async function listOwnAccounts(
  database: Database,
  userId: string,
): Promise<{ id: number; name: string; role: MemberRole }[]> {
  const own = await membershipsOf(database, userId);
  const names = new Map(own.map(({ id }) => [id, `Account ${id}`]));
  const groups = byShard(database, own, ({ id }) => id);
  const asked = await Promise.allSettled(
    groups.map((group) => {
      const ids = group.map(({ id }) => id);
      const statement = 'SELECT id, name FROM accounts WHERE id = ANY ($1)';
      return database.near(ids[0]!).query<{ id: number; name: string }>(statement, [ids]);
    }),
  );
  for (const answer of asked) {
    if (answer.status === 'fulfilled') for (const { id, name } of answer.value) names.set(id, name);
    else if (databaseFault(answer.reason) !== 'away' || groups.length === 1) throw answer.reason;
  }
  const named = own.map((membership) => ({ ...membership, name: names.get(membership.id)! }));
  return named.sort((one, other) => one.name.localeCompare(other.name) || one.id - other.id);
}

export async function membershipsOf(
  client: Queryable,
  userId: string,
): Promise<{ id: number; role: MemberRole }[]> {
  return await client.query(
    'SELECT account_id AS id, role FROM members WHERE user_id = $1 ORDER BY account_id',
    [readUuid('usr_', userId)],
  );
}

/** Deletes sessions that have ended; called by maintenance. */
export async function pruneSessions(database: Database): Promise<void> {
  await database.query(
    `DELETE FROM sessions WHERE seen_at < now() - interval '${IDLE_AFTER}' OR created_at < now() - interval '${OVER_AFTER}'`,
  );
}

interface SessionRow {
  id: string;
  userId: string;
  email: string;
  name: string;
  operator: boolean;
  role: MemberRole | null;
  accountId: number | null;
  secondFactor: boolean;
  fresh: boolean;
  toRotate: boolean;
  toNote: boolean;
}

function toSession(row: SessionRow, account: SessionAccount | null): Session {
  const { id, userId, email, name, operator, secondFactor, fresh } = row;
  return {
    ...{ id, account, secondFactor, fresh },
    user: { id: showUuid('usr_', userId), email, name, operator },
  };
}

const newToken = (): string => randomBytes(32).toString('base64url');

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();
