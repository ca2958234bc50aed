// Signing in and out, the first owner, invitations accepted, a new password for who forgot it.
import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { type Account, createAccount, listAccounts } from '../../accounts/accounts.ts';
import { Problem } from '../../errors.ts';
import { mailResetLink } from '../../notices/reset-mail.ts';
import { acceptInvitation, findInvitation } from '../../people/invitations.ts';
import { findReset, resetPassword } from '../../people/password-reset.ts';
import {
  endSession,
  endSessions,
  openSession,
  renewSession,
  switchAccount,
} from '../../people/sessions.ts';
import { noteSignIn } from '../../people/sign-in-places.ts';
import { countReset, countTry, forgiveTry, type SignInTry } from '../../people/sign-in-throttle.ts';
import {
  addUser,
  checkCredentials,
  findUser,
  noUsersYet,
  prepareUser,
  setMember,
  setPassword,
} from '../../people/users.ts';
import type { Queryable } from '../../store/pool.ts';
import type { DashboardDeps } from '../deps.ts';
import { meBehind, toMe } from '../me.ts';
import type { Call, Works } from '../route.ts';
import { dropCookie, setCookie } from '../session-cookie.ts';
import type { Me } from '../views/session.ts';

/** Two who set up at once: one wins. */
const SET_UP_LOCK = 7_263_006;

const password = z.string().max(1000);
const email = z.string().max(320);
const token = z.string().min(1).max(200);

type Names =
  | 'getSession'
  | 'signIn'
  | 'signOut'
  | 'signOutOthers'
  | 'switchAccount'
  | 'changePassword'
  | 'setUp'
  | 'showInvitation'
  | 'acceptInvitation'
  | 'askForReset'
  | 'showReset'
  | 'resetPassword';

export const sessionRoutes: Works<Names> = {
  getSession: {
    async run(deps, { session }) {
      if (session !== null) return { state: 'signed-in', me: await toMe(deps, session) };
      const fresh = await noUsersYet(deps.database);
      return { state: fresh ? 'set-up' : 'signed-out', me: null };
    },
  },

  signIn: {
    body: z.strictObject({ email, password }),
    async run(deps, call) {
      const attempt = tryOf(deps, call, call.body.email);
      await countTry(deps.database, attempt);
      const user = await checkCredentials(deps.database, call.body.email, call.body.password);
      if (user === undefined) {
        throw new Problem(
          'unauthenticated',
          'This address and password do not go together. Check both; capital letters count in the password.',
        );
      }
      await forgiveTry(deps.database, attempt);
      return await begin(deps, call, user.id);
    },
  },

  signOut: {
    async run(deps, { session, reply }) {
      await endSession(deps.database, session);
      dropCookie(reply, deps.baseUrl());
      return {};
    },
  },

  signOutOthers: {
    async run(deps, { session }) {
      return { ended: await endSessions(deps.database, session.user.id, session) };
    },
  },

  switchAccount: {
    body: z.strictObject({ accountId: z.number().int() }),
    async run(deps, { session, body, reply }) {
      const opened = await switchAccount(deps.database, session, body.accountId);
      setCookie(reply, deps.baseUrl(), opened.token);
      return await meBehind(deps, opened.token);
    },
  },

  changePassword: {
    body: z.strictObject({ current: password, password }),
    async run(deps, { session, body, reply, request }) {
      const attempt = tryOf(deps, { request }, session.user.email);
      await countTry(deps.database, attempt);
      const user = await checkCredentials(deps.database, session.user.email, body.current);
      if (user === undefined) {
        throw new Problem('forbidden', 'current: this is not your password.');
      }
      await forgiveTry(deps.database, attempt);
      await setPassword(deps.database, user, body.password);
      await endSessions(deps.database, user.id, session);
      const renewed = await renewSession(deps.database, session);
      setCookie(reply, deps.baseUrl(), renewed.token);
      return {};
    },
  },

  setUp: {
    body: z.strictObject({
      token,
      email,
      password,
      name: z.string().max(200),
      accountName: z.string().trim().min(1, 'give the account a name').max(200),
    }),
    async run(deps, call) {
      requireSetUpToken(deps, call.body.token);
      if (!(await noUsersYet(deps.database))) throw alreadySetUp();
      const prepared = await prepareUser({ ...call.body, operator: true });
      const user = await deps.database.transaction(async (client) => {
        await client.query('SELECT pg_advisory_xact_lock($1)', [SET_UP_LOCK]);
        if (!(await noUsersYet(client))) throw alreadySetUp();
        const added = await addUser(client, deps.clock, prepared);
        for (const { id } of await firstAccounts(client, call.body.accountName)) {
          await setMember(client, id, added.id, 'owner');
        }
        return added;
      });
      return await begin(deps, call, user.id);
    },
  },

  showInvitation: {
    body: z.strictObject({ token }),
    async run(deps, { body }) {
      const invitation = await findInvitation(deps.database, body.token);
      const { email, accountName, role, invitedBy, expiresAt } = invitation;
      const known = (await findUser(deps.database, email)) !== undefined;
      return { email, accountName, role, invitedBy, expiresAt, known };
    },
  },

  acceptInvitation: {
    body: z.strictObject({ token, password, name: z.string().max(200).optional() }),
    async run(deps, call) {
      const { email } = await findInvitation(deps.database, call.body.token);
      const attempt = tryOf(deps, call, email);
      await countTry(deps.database, attempt);
      const { user, accountId } = await acceptInvitation(deps, call.body);
      await forgiveTry(deps.database, attempt);
      return await begin(deps, call, user.id, accountId);
    },
  },

  askForReset: {
    body: z.strictObject({ email }),
    async run(deps, { body, request }) {
      await countReset(deps.database, tryOf(deps, { request }, body.email));
      // Not waited for: how long the answer takes must not tell whether there was somebody to write
      // to.
      void mailResetLink(deps, body.email);
      return { captured: deps.service().sandbox };
    },
  },

  showReset: {
    body: z.strictObject({ token }),
    async run(deps, { body }) {
      return { email: (await findReset(deps, body.token)).email };
    },
  },

  resetPassword: {
    body: z.strictObject({ token, password }),
    async run(deps, call) {
      const user = await resetPassword(deps, call.body);
      // Whoever is signed in with the old one, perhaps not its owner, is out.
      await endSessions(deps.database, user.id);
      return await begin(deps, call, user.id);
    },
  },
};

/**
 * Accounts that were made by command before anybody could sign in belong to the first owner; else
 * there is a new one.
 */
async function firstAccounts(client: Queryable, name: string): Promise<Account[]> {
  const present = await listAccounts(client);
  return present.length > 0 ? present : [await createAccount(client, { name, plan: 'paid' })];
}

const tryOf = (
  deps: DashboardDeps,
  { request }: Pick<Call<'signIn'>, 'request'>,
  email: string,
): SignInTry => ({ email, client: deps.requesterOf(request.raw).ipAddress });

/** A new session under a new cookie; the one this browser may have had ends. */
async function begin(
  deps: DashboardDeps,
  { session, reply, request }: Pick<Call<'signIn'>, 'session' | 'reply' | 'request'>,
  userId: string,
  accountId?: number,
): Promise<Me> {
  if (session !== null) await endSession(deps.database, session);
  const { ipAddress: client, userAgent } = deps.requesterOf(request.raw);
  await noteSignIn(deps.database, userId, { client, userAgent });
  const opened = await openSession(deps.database, deps.clock, userId, accountId);
  setCookie(reply, deps.baseUrl(), opened.token);
  return await meBehind(deps, opened.token);
}

function requireSetUpToken(deps: DashboardDeps, given: string): void {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  if (timingSafeEqual(digest(given), digest(deps.setUpToken))) return;
  throw new Problem(
    'forbidden',
    'This is not the set-up link of this service. It is printed when the service starts.',
  );
}

const alreadySetUp = (): Problem =>
  new Problem('forbidden', 'The service is set up already. Sign in instead.');
