// Users: people with a password, and the accounts they are members of. Created by set-up,
// invitations and the CLI; sessions.ts recognises them by a cookie.

import { getAccount, lockAccount } from '../accounts/accounts.ts';
import { MEMBER_ROLES, type MemberRole } from '../accounts/scopes.ts';
import { addressKey, parseAddress } from '../addresses.ts';
import { Problem } from '../errors.ts';
import { bytesToUuid, newIdBytes, readUuid, showUuid } from '../ids.ts';
import type { Clock } from '../process/clock.ts';
import type { Database, Queryable } from '../store/pool.ts';
import {
  hashPassword,
  isOutdated,
  isPassword,
  pretendToCheck,
  requireGoodPassword,
} from './passwords.ts';

/** A role includes those before it. */

export const includesRole = (has: MemberRole, needed: MemberRole): boolean =>
  MEMBER_ROLES.indexOf(has) >= MEMBER_ROLES.indexOf(needed);

export interface User {
  id: string;
  email: string;
  name: string;
  operator: boolean;
  createdAt: string;
}

export interface NewUser {
  email: string;
  name: string;
  password: string;
  operator?: boolean;
}

interface UserRow extends Omit<User, 'id' | 'createdAt'> {
  uuid: string;
  createdAt: Date;
}

const COLUMNS = 'id AS uuid, email, name, operator, created_at AS "createdAt"';

export function readEmail(text: string, at = 'email'): string {
  const read = parseAddress(text.trim());
  if ('fault' in read) {
    throw new Problem(
      'invalid',
      `email: "${text.slice(0, 200)}" is not an address: ${read.fault}.`,
      {
        at,
      },
    );
  }
  return addressKey(read.address);
}

/** Slow (scrypt), so call it before a transaction begins and pass the result to `addUser`. */
export async function prepareUser(wish: NewUser): Promise<NewUser> {
  const email = readEmail(wish.email);
  const name = wish.name.trim();
  if (name === '' || name.length > 200 || /\p{Cc}/u.test(name)) {
    throw new Problem('invalid', 'name: give a name of 1 to 200 characters.', { at: 'name' });
  }
  requireGoodPassword(wish.password, email);
  return { ...wish, email, name, password: await hashPassword(wish.password) };
}

/** `user` comes from `prepareUser`. */
export async function addUser(client: Queryable, clock: Clock, user: NewUser): Promise<User> {
  const [row] = await client.query<UserRow>(
    `INSERT INTO users (id, email, name, password, operator) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (email) DO NOTHING RETURNING ${COLUMNS}`,
    [
      bytesToUuid(newIdBytes(clock.nowMs())),
      user.email,
      user.name,
      user.password,
      user.operator ?? false,
    ],
  );
  if (row === undefined) {
    throw new Problem('invalid', `email: ${user.email} already has a login.`, { at: 'email' });
  }
  return toUser(row);
}

export async function noUsersYet(database: Queryable): Promise<boolean> {
  const [row] = await database.query<{ some: boolean }>(
    'SELECT EXISTS (SELECT FROM users) AS some',
  );
  return !row?.some;
}

export async function listUsers(database: Queryable): Promise<User[]> {
  const rows = await database.query<UserRow>(`SELECT ${COLUMNS} FROM users ORDER BY email`);
  return rows.map(toUser);
}

export async function findUser(database: Queryable, email: string): Promise<User | undefined> {
  const [row] = await database.query<UserRow>(`SELECT ${COLUMNS} FROM users WHERE email = $1`, [
    readEmail(email),
  ]);
  return row && toUser(row);
}

/** Undefined: no such user, or a wrong password. Both take the same time. */
export async function checkCredentials(
  database: Queryable,
  email: string,
  password: string,
): Promise<User | undefined> {
  const [row] = await database.query<UserRow & { password: string }>(
    `SELECT ${COLUMNS}, password FROM users WHERE email = $1`,
    [addressKey(email.trim())],
  );
  if (row === undefined) {
    await pretendToCheck(password);
    return undefined;
  }
  const { password: kept, ...user } = row;
  if (!(await isPassword(password, kept))) return undefined;
  if (isOutdated(kept)) await keepPassword(database, user.uuid, password);
  return toUser(user);
}

export async function setPassword(
  database: Queryable,
  user: Pick<User, 'id' | 'email'>,
  password: string,
): Promise<void> {
  requireGoodPassword(password, user.email);
  await keepPassword(database, uuidOf(user.id), password);
}

async function keepPassword(database: Queryable, uuid: string, password: string): Promise<void> {
  await database.query('UPDATE users SET password = $2 WHERE id = $1', [
    uuid,
    await hashPassword(password),
  ]);
}

export async function setOperator(
  database: Queryable,
  user: Pick<User, 'id'>,
  operator: boolean,
): Promise<void> {
  await database.query('UPDATE users SET operator = $2 WHERE id = $1', [uuidOf(user.id), operator]);
  await expireCookies(database, uuidOf(user.id));
}

/** Their sessions end with them. */
export async function removeUser(database: Queryable, user: Pick<User, 'id'>): Promise<void> {
  await database.query('DELETE FROM users WHERE id = $1', [uuidOf(user.id)]);
}

// ---- Members ------------------------------------------------------------------------------------

export interface MemberUser extends User {
  role: MemberRole;
  joinedAt: string;
  lastSeenAt: string | null;
  secondFactor: boolean;
}

interface MemberRow extends UserRow {
  role: MemberRole;
  secondFactor: boolean;
  joinedAt: Date;
  lastSeenAt: Date | null;
}

const SELECT_MEMBERS = `
  SELECT u.id AS uuid, u.email, u.name, u.operator, u.created_at AS "createdAt", m.role, m.created_at AS "joinedAt",
         EXISTS (SELECT FROM authenticator_apps f WHERE f.user_id = u.id AND f.confirmed_at IS NOT NULL)
           OR EXISTS (SELECT FROM passkeys f WHERE f.user_id = u.id) AS "secondFactor",
         (SELECT max(seen_at) FROM sessions s WHERE s.user_id = u.id) AS "lastSeenAt"
  FROM members m JOIN users u ON u.id = m.user_id WHERE m.account_id = $1`;

export async function listMembers(database: Queryable, accountId: number): Promise<MemberUser[]> {
  const rows = await database.query<MemberRow>(`${SELECT_MEMBERS} ORDER BY u.email`, [accountId]);
  return rows.map(toMember);
}

export async function getMember(
  database: Queryable,
  accountId: number,
  userId: string,
): Promise<MemberUser> {
  const [row] = await database.query<MemberRow>(`${SELECT_MEMBERS} AND m.user_id = $2`, [
    accountId,
    readUuid('usr_', userId) ?? null,
  ]);
  return toMember(row ?? noMember(userId));
}

const toMember = (row: MemberRow): MemberUser => ({
  ...toUser(row),
  role: row.role,
  joinedAt: row.joinedAt.toISOString(),
  lastSeenAt: row.lastSeenAt?.toISOString() ?? null,
  secondFactor: row.secondFactor,
});

function noMember(userId: string): never {
  throw new Problem('not-found', `This account has no member ${userId.slice(0, 64)}.`, {
    see: 'list_members',
  });
}

export async function countMembers(database: Queryable): Promise<Map<number, number>> {
  const rows = await database.query<{ accountId: number; count: number }>(
    'SELECT account_id AS "accountId", count(*) AS count FROM members GROUP BY 1',
  );
  return new Map(rows.map(({ accountId, count }) => [accountId, count]));
}

/**
 * Someone who is already a member keeps their role, and no member has an invitation: an old link
 * must neither change a role nor bring back someone who was removed.
 */
export async function addMember(
  client: Queryable,
  accountId: number,
  { id, email }: Pick<User, 'id' | 'email'>,
  role: MemberRole,
): Promise<void> {
  await lockAccount(client, accountId);
  await client.query(
    'INSERT INTO members (account_id, user_id, role) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [accountId, uuidOf(id), role],
  );
  await client.query('DELETE FROM invitations WHERE account_id = $1 AND email = $2', [
    accountId,
    email,
  ]);
}

/** Adds a member, or changes a member's role. */
export async function setMember(
  client: Queryable,
  accountId: number,
  userId: string,
  role: MemberRole,
): Promise<void> {
  await getAccount(client, accountId);
  await client.query(
    `INSERT INTO members (account_id, user_id, role) VALUES ($1, $2, $3)
     ON CONFLICT (account_id, user_id) DO UPDATE SET role = excluded.role`,
    [accountId, uuidOf(userId), role],
  );
}

export async function changeRole(
  database: Database,
  accountId: number,
  userId: string,
  role: MemberRole,
): Promise<void> {
  await database.transaction(async (client) => {
    const member = await lockMember(client, accountId, userId);
    if (role !== 'owner') await keepAnOwner(client, accountId, member);
    await setMember(client, accountId, userId, role);
    // Rights are read with every request; the cookie changes anyway.
    await expireCookies(client, member.uuid);
  });
}

/** A person who is no longer a member of any account, and not an operator, loses the login too. */
export async function removeMember(
  database: Database,
  accountId: number,
  userId: string,
): Promise<void> {
  await database.transaction(async (client) => {
    const member = await lockMember(client, accountId, userId);
    await keepAnOwner(client, accountId, member);
    await client.query('DELETE FROM members WHERE account_id = $1 AND user_id = $2', [
      accountId,
      member.uuid,
    ]);
    await client.query('DELETE FROM sessions WHERE user_id = $2 AND account_id = $1', [
      accountId,
      member.uuid,
    ]);
    await client.query(
      `DELETE FROM users u WHERE id = $1 AND NOT operator
         AND NOT EXISTS (SELECT FROM members m WHERE m.user_id = u.id)`,
      [member.uuid],
    );
  });
}

/** Under the account's lock, so that two owners cannot remove each other at once. */
async function lockMember(
  client: Queryable,
  accountId: number,
  userId: string,
): Promise<{ uuid: string; role: MemberRole }> {
  await lockAccount(client, accountId);
  const [row] = await client.query<{ uuid: string; role: MemberRole }>(
    'SELECT user_id AS uuid, role FROM members WHERE account_id = $1 AND user_id = $2',
    [accountId, readUuid('usr_', userId) ?? null],
  );
  return row ?? noMember(userId);
}

async function keepAnOwner(
  client: Queryable,
  accountId: number,
  leaving: { uuid: string; role: MemberRole },
): Promise<void> {
  if (leaving.role !== 'owner') return;
  const others = await client.query(
    `SELECT FROM members WHERE account_id = $1 AND role = 'owner' AND user_id <> $2 LIMIT 1`,
    [accountId, leaving.uuid],
  );
  if (others.length > 0) return;
  throw new Problem(
    'invalid',
    'An account needs an owner, and this is the last one. Make someone else an owner first.',
  );
}

/** Each session's next request gets a new cookie, and the previous one stops working at once. */
async function expireCookies(client: Queryable, userUuid: string): Promise<void> {
  await client.query(
    `UPDATE sessions SET rotated_at = '-infinity', previous_hash = NULL, previous_until = NULL WHERE user_id = $1`,
    [userUuid],
  );
}

const uuidOf = (id: string): string => readUuid('usr_', id)!;

const toUser = (row: UserRow): User => ({
  id: showUuid('usr_', row.uuid),
  email: row.email,
  name: row.name,
  operator: row.operator,
  createdAt: row.createdAt.toISOString(),
});
