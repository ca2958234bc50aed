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

export interface Session {
  id: string;
  user: { id: string; email: string; name: string; operator: boolean };
  account: SessionAccount | null;
}

export interface SessionAccount {
  id: number;
  name: string;
  role: MemberRole;
  plan: Plan;
  suspended: boolean;
}

/** A session that just began or changed its cookie. */
export interface OpenedSession {
  token: string;
}

/** In the account given, else in the first of the user's. */
export async function openSession(
  database: Queryable,
  clock: Clock,
  userId: string,
  accountId?: number,
): Promise<OpenedSession> {
  const token = newToken();
  await database.query(
    `INSERT INTO sessions (id, user_id, account_id, hash)
     VALUES ($1, $2, coalesce($3, (SELECT min(account_id) FROM members WHERE user_id = $2)), $4)`,
    [
      bytesToUuid(newIdBytes(clock.nowMs())),
      readUuid('usr_', userId),
      accountId ?? null,
      hashOf(token),
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
    throw new Problem('not-found', `You are no member of account ${accountId}.`);
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
  toRotate: boolean;
  toNote: boolean;
}

function toSession(row: SessionRow): Session {
  const { id, email, name, operator, role, accountId, accountName, plan, suspended } = row;
  return {
    id,
    user: { id: showUuid('usr_', row.userId), email, name, operator },
    account:
      role === null || accountId === null
        ? null
        : { id: accountId, name: accountName, role, plan, suspended },
  };
}

const newToken = (): string => randomBytes(32).toString('base64url');

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();
