// Sessions: who is signed in, by a cookie of which only the hash is kept. Before it: users.ts
// checked a password. The cookie changes every hour and when rights change; the one before stays
// good for a minute, for requests under way.
import { createHash, randomBytes } from 'node:crypto';
import type { Plan } from '../accounts/plans.ts';
import type { MemberRole } from '../accounts/scopes.ts';
import type { Clock } from '../clock.ts';
import { Problem } from '../errors.ts';
import { bytesToUuid, newIdBytes, readUuid, showUuid } from '../ids.ts';
import type { Database, Queryable } from '../store/pool.ts';

const ROTATED_EVERY = '1 hour';
const PREVIOUS_GOOD_FOR = '1 minute';
const IDLE_AFTER = '7 days';
const OVER_AFTER = '30 days';
/** How exact `seen_at` is; not every request has to write. */
const SEEN_EVERY = '1 minute';
/** For how long after giving a password or passkey nobody is asked again before what is grave. */
const PROOF_GOOD_FOR = '10 minutes';

export interface Session {
  id: string;
  user: { id: string; email: string; name: string; operator: boolean };
  account: SessionAccount | null;
  /** A second factor was shown. */
  secondFactor: boolean;
  /** Its person said who they are a moment ago. */
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

/** The account asks for a second factor, and none was shown. */
export const isLocked = ({ account, secondFactor }: Session): boolean =>
  account?.secondFactorRequired === true && !secondFactor;

export interface NewSession {
  /** Else the first of the user's. */
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

/** Undefined: none, or one that is over. `newToken` comes when the cookie is to change. */
export async function readSession(
  database: Queryable,
  token: string,
): Promise<{ session: Session; newToken: string | undefined } | undefined> {
  const hash = hashOf(token);
  const [row] = await database.prepared<SessionRow>(
    'read-session',
    `SELECT s.id, u.id AS "userId", u.email, u.name, u.operator, m.role,
            a.id AS "accountId", a.name AS "accountName", a.plan, a.suspended_at IS NOT NULL AS suspended,
            a.second_factor_required AS "secondFactorRequired", s.second_factor AS "secondFactor",
            s.proved_at > now() - interval '${PROOF_GOOD_FOR}' AS fresh,
            s.hash = $1 AND s.rotated_at < now() - interval '${ROTATED_EVERY}' AS "toRotate",
            s.seen_at < now() - interval '${SEEN_EVERY}' AS "toNote"
     FROM sessions s JOIN users u ON u.id = s.user_id
     LEFT JOIN members m ON m.user_id = s.user_id AND m.account_id = s.account_id
     LEFT JOIN accounts a ON a.id = m.account_id
     WHERE (s.hash = $1 OR (s.previous_hash = $1 AND s.previous_until > now()))
       AND s.seen_at > now() - interval '${IDLE_AFTER}' AND s.created_at > now() - interval '${OVER_AFTER}'`,
    [hash],
  );
  if (row === undefined) return undefined;
  if (row.toNote) {
    await database.query('UPDATE sessions SET seen_at = now() WHERE id = $1', [row.id]);
  }
  const renewed = row.toRotate ? await rotate(database, hash) : undefined;
  return { session: toSession(row), newToken: renewed };
}

/** Whether it still goes on in that account, for what outlives a request. */
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
 * Two requests may come to change the same cookie: the first does, the other goes on with what it
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

/** The session goes on in another account, under another cookie; the one before is void at once. */
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

/** The same session under another cookie, as after a change of password. */
export async function renewSession(database: Queryable, session: Session): Promise<OpenedSession> {
  const token = newToken();
  await database.query(
    `UPDATE sessions SET hash = $2, previous_hash = NULL, previous_until = NULL, rotated_at = now() WHERE id = $1`,
    [session.id, hashOf(token)],
  );
  return { token };
}

/** Its person said again who they are. */
export async function proveSession(database: Queryable, session: Session): Promise<void> {
  await database.query('UPDATE sessions SET proved_at = now() WHERE id = $1', [session.id]);
}

/** Where somebody is signed in. */
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

/** All of a user; `but` is kept. Answers how many there were. */
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

export async function listOwnAccounts(
  database: Queryable,
  userId: string,
): Promise<{ id: number; name: string; role: MemberRole }[]> {
  return await database.query(
    `SELECT a.id, a.name, m.role FROM members m JOIN accounts a ON a.id = m.account_id
     WHERE m.user_id = $1 ORDER BY a.name, a.id`,
    [readUuid('usr_', userId)],
  );
}

/** What is over goes; called by maintenance. */
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
  accountName: string;
  plan: Plan;
  suspended: boolean;
  secondFactorRequired: boolean;
  secondFactor: boolean;
  fresh: boolean;
  toRotate: boolean;
  toNote: boolean;
}

function toSession(row: SessionRow): Session {
  const { id, email, name, operator, role, accountId, accountName, plan, suspended } = row;
  const { secondFactor, fresh, secondFactorRequired } = row;
  return {
    ...{ id, secondFactor, fresh },
    user: { id: showUuid('usr_', row.userId), email, name, operator },
    account:
      role === null || accountId === null
        ? null
        : { id: accountId, name: accountName, role, plan, suspended, secondFactorRequired },
  };
}

const newToken = (): string => randomBytes(32).toString('base64url');

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();
