// Who is signed in and where, as every page knows it.
import { isLocked, listOwnAccounts, readSession, type Session } from '../people/sessions.ts';
import type { DashboardDeps } from './deps.ts';
import type { Me } from './views/session.ts';

/** For a cookie that was just created or changed. */
export async function meBehind(deps: DashboardDeps, token: string): Promise<Me> {
  const found = await readSession(deps.database, token);
  if (found === undefined) throw new Error('a session was gone as soon as it was made');
  return await toMe(deps, found.session);
}

export async function toMe(deps: DashboardDeps, session: Session): Promise<Me> {
  const { user, account } = session;
  return {
    ...{ user, account, locked: isLocked(session) },
    accounts: await listOwnAccounts(deps.database, user.id),
    service: deps.service(),
  };
}
