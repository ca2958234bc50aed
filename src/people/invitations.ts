// Invitations: one-time links by which a person becomes a member of an account. Before it: an owner
// invites. After it: users.ts has the member. Only a hash of the link is stored; it works once, for
// a week.

import { lockAccount } from '../accounts/accounts.ts';
import { makeToken, readToken } from '../accounts/one-time-token.ts';
import type { MemberRole } from '../accounts/scopes.ts';
import { Problem } from '../errors.ts';
import { bytesToUuid, newIdBytes, readUuid, showUuid } from '../ids.ts';
import type { Clock } from '../process/clock.ts';
import type { Database, Queryable } from '../store/pool.ts';
import {
  addMember,
  addUser,
  checkCredentials,
  findUser,
  prepareUser,
  readEmail,
  type User,
} from './users.ts';

export const INVITATION_DAYS = 7;

/** After the #, so that no server on the way logs it. */
export const invitationLink = (baseUrl: string, token: string): string =>
  `${baseUrl}/invitation#${token}`;

export interface Invitation {
  id: string;
  accountId: number;
  accountName: string;
  email: string;
  role: MemberRole;
  invitedBy: string;
  createdAt: string;
  expiresAt: string;
}

interface InvitationRow extends Omit<Invitation, 'id' | 'createdAt' | 'expiresAt'> {
  uuid: string;
  createdAt: Date;
  expiresAt: Date;
}

const COLUMNS = `i.id AS uuid, i.account_id AS "accountId", a.name AS "accountName", i.email, i.role,
  i.invited_by AS "invitedBy", i.created_at AS "createdAt", i.expires_at AS "expiresAt"`;
const SELECT = `SELECT ${COLUMNS} FROM invitations i JOIN accounts a ON a.id = i.account_id`;

/** A new link; an older one for the same address stops working. */
export async function createInvitation(
  database: Database,
  clock: Clock,
  wish: { accountId: number; email: string; role: MemberRole; invitedBy: string },
): Promise<{ invitation: Invitation; token: string }> {
  const email = readEmail(wish.email);
  const { token, hash } = makeToken(wish.accountId);
  const uuid = bytesToUuid(newIdBytes(clock.nowMs()));
  const [row] = await database.transaction(async (client) => {
    await lockAccount(client, wish.accountId);
    await refuseMember(client, wish.accountId, email);
    await client.query(
      `INSERT INTO invitations (account_id, id, email, role, invited_by, token_hash, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, now() + interval '${INVITATION_DAYS} days')
       ON CONFLICT (account_id, email) DO UPDATE SET id = excluded.id, role = excluded.role, invited_by = excluded.invited_by,
         token_hash = excluded.token_hash, created_at = now(), expires_at = excluded.expires_at`,
      [wish.accountId, uuid, email, wish.role, wish.invitedBy, hash],
    );
    // Still under the lock: the next invitation to the same address replaces this one.
    return await client.query<InvitationRow>(`${SELECT} WHERE i.account_id = $1 AND i.id = $2`, [
      wish.accountId,
      uuid,
    ]);
  });
  return { invitation: toInvitation(row!), token };
}

async function refuseMember(client: Queryable, accountId: number, email: string): Promise<void> {
  const members = await client.query(
    'SELECT FROM members m JOIN users u ON u.id = m.user_id WHERE m.account_id = $1 AND u.email = $2',
    [accountId, email],
  );
  if (members.length > 0) {
    throw new Problem('invalid', `email: ${email} is already a member of this account.`, {
      at: 'email',
    });
  }
}

export async function listInvitations(
  database: Queryable,
  accountId: number,
): Promise<Invitation[]> {
  const rows = await database.query<InvitationRow>(
    `${SELECT} WHERE i.account_id = $1 AND i.expires_at > now() ORDER BY i.email`,
    [accountId],
  );
  return rows.map(toInvitation);
}

export async function findInvitation(database: Queryable, token: string): Promise<Invitation> {
  const key = readToken(token);
  const [row] = await database.query<InvitationRow>(
    `${SELECT} WHERE i.account_id = $1 AND i.token_hash = $2 AND i.expires_at > now()`,
    [key?.accountId, key?.hash],
  );
  if (row !== undefined) return toInvitation(row);
  throw new Problem(
    'not-found',
    'This invitation no longer works: it was used, withdrawn or replaced, or it is too old. Ask for a new one.',
  );
}

export async function withdrawInvitation(
  database: Queryable,
  accountId: number,
  id: string,
): Promise<Invitation> {
  const [row] = await database.query<InvitationRow>(
    `DELETE FROM invitations i USING accounts a
     WHERE i.account_id = $1 AND i.id = $2 AND a.id = i.account_id RETURNING ${COLUMNS}`,
    [accountId, readUuid('inv_', id) ?? null],
  );
  if (row !== undefined) return toInvitation(row);
  throw new Problem('not-found', `This account has no invitation ${id.slice(0, 64)}.`);
}

/**
 * Uses up the link. A person with a login proves it by its password; otherwise a login is created.
 */
export async function acceptInvitation(
  deps: { database: Database; clock: Clock },
  answer: { token: string; password: string; name?: string | undefined },
): Promise<{ user: User; accountId: number }> {
  const { database, clock } = deps;
  const { email, accountId } = await findInvitation(database, answer.token);
  const known = await findUser(database, email);
  const proved = known && (await checkCredentials(database, email, answer.password));
  if (known !== undefined && proved === undefined) {
    throw new Problem('forbidden', `This is not the password of ${email}.`, { at: 'password' });
  }
  const prepared = proved ?? (await prepareUser({ ...answer, name: answer.name ?? '', email }));
  return await database.transaction(async (client) => {
    // First of all, as when someone is invited.
    await lockAccount(client, accountId);
    const role = await takeInvitation(client, answer.token);
    const user = 'id' in prepared ? prepared : await addUser(client, clock, prepared);
    await addMember(client, accountId, user, role);
    return { user, accountId };
  });
}

/** One wins, even if the link is used twice at once. */
async function takeInvitation(client: Queryable, token: string): Promise<MemberRole> {
  const key = readToken(token);
  const [row] = await client.query<{ role: MemberRole }>(
    `DELETE FROM invitations WHERE account_id = $1 AND token_hash = $2 AND expires_at > now()
     RETURNING role`,
    [key?.accountId, key?.hash],
  );
  if (row === undefined) {
    throw new Problem('not-found', 'This invitation was used just now. Sign in instead.');
  }
  return row.role;
}

export async function pruneInvitations(database: Database): Promise<void> {
  await database.query('DELETE FROM invitations WHERE expires_at < now()');
}

const toInvitation = ({ uuid, createdAt, expiresAt, ...row }: InvitationRow): Invitation => ({
  id: showUuid('inv_', uuid),
  ...row,
  createdAt: createdAt.toISOString(),
  expiresAt: expiresAt.toISOString(),
});
