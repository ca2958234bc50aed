// Signing in and out, the first owner, accepting invitations, a new password for a person who
// forgot it.
import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { Problem } from '../../errors.ts';
import { emailResetLink } from '../../notices/reset-email.ts';
import { takeAppCode } from '../../people/authenticator-app.ts';
import { makeChallenge, makeTicket, readTicket } from '../../people/challenges.ts';
import { factorsOf, hasFactor, recoveryCodeWasUsed } from '../../people/factors.ts';
import { addFirstOwner } from '../../people/first-owner.ts';
import { acceptInvitation, findInvitation } from '../../people/invitations.ts';
import { makeMark } from '../../people/known-browser.ts';
import { SIGN_IN, takePasskey } from '../../people/passkeys.ts';
import { findReset, resetPassword } from '../../people/password-reset.ts';
import { takeRecoveryCode } from '../../people/recovery-codes.ts';
import {
  endSession,
  endSessions,
  membershipsOf,
  type NewSession,
  openSession,
  renewSession,
  switchAccount,
} from '../../people/sessions.ts';
import { deviceOf, noteSignIn } from '../../people/sign-in-places.ts';
import {
  countCode,
  countPasskey,
  countReset,
  countTry,
  forgiveCode,
  forgivePasskey,
  forgiveTry,
} from '../../people/sign-in-throttle.ts';
import { checkCredentials, findUser, noUsersYet, setPassword } from '../../people/users.ts';
import { relyingParty } from '../../people/webauthn.ts';
import type { DashboardDeps } from '../deps.ts';
import { meBehind, toMe } from '../me.ts';
import type { Call, Works } from '../route.ts';
import { dropCookie, setCookie } from '../session-cookie.ts';
import type { Entered, Me } from '../views/session.ts';
import { passkeyAssertion } from './passkey-assertion.ts';
import { tryOf } from './sign-in-try.ts';

const password = z.string().max(1000);
const email = z.string().max(320);
const token = z.string().min(1).max(200);

type Names =
  | 'getSession'
  | 'signIn'
  | 'signInWithCode'
  | 'askPasskey'
  | 'signInWithPasskey'
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
      const attempt = { ...tryOf(deps, call), email: call.body.email };
      await countTry(deps.database, attempt);
      const user = await checkCredentials(deps.database, call.body.email, call.body.password);
      if (user === undefined) {
        throw new Problem(
          'unauthenticated',
          'The email address or the password is wrong. Check both; the password is case-sensitive.',
        );
      }
      await forgiveTry(deps.database, attempt);
      return await enter(deps, call, user.id);
    },
  },

  signInWithCode: {
    body: z.strictObject({ ticket: z.string().max(300), code: z.string().max(100) }),
    async run(deps, call) {
      const { userId, email, accountId } = await readTicket(deps, call.body.ticket);
      const attempt = { ...tryOf(deps, call), email: email };
      await countCode(deps.database, attempt);
      if (!(await isCode(deps, userId, call.body.code))) {
        throw new Problem(
          'unauthenticated',
          'This code is wrong or was already used. Wait for the next one your app shows, or type one of your recovery codes.',
        );
      }
      await forgiveCode(deps.database, attempt);
      return await begin(deps, call, userId, { accountId, secondFactor: true });
    },
  },

  askPasskey: {
    async run(deps) {
      const { id: host } = relyingParty(deps.baseUrl());
      return { challenge: makeChallenge(deps, SIGN_IN), host };
    },
  },

  signInWithPasskey: {
    body: z.strictObject({ assertion: passkeyAssertion, accountId: z.number().int().optional() }),
    async run(deps, call) {
      const { assertion, accountId } = call.body;
      const attempt = tryOf(deps, call);
      await countPasskey(deps.database, attempt);
      const { userId } = await deps.database.transaction((client) =>
        takePasskey(deps, client, relyingParty(deps.baseUrl()), { purpose: SIGN_IN, assertion }),
      );
      await forgivePasskey(deps.database, attempt);
      const own = await membershipsOf(deps.database, userId);
      const wished = own.find(({ id }) => id === accountId)?.id;
      return await begin(deps, call, userId, { accountId: wished, secondFactor: true });
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
      const attempt = { ...tryOf(deps, { request }), email: session.user.email };
      await countTry(deps.database, attempt);
      const user = await checkCredentials(deps.database, session.user.email, body.current);
      if (user === undefined) {
        throw new Problem('forbidden', 'current: this is not your password.', { at: 'current' });
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
      const { token: _, ...wish } = call.body;
      const user = await addFirstOwner(deps, wish);
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
      const attempt = { ...tryOf(deps, call), email: email };
      await countTry(deps.database, attempt);
      const { user, accountId } = await acceptInvitation(deps, call.body);
      await forgiveTry(deps.database, attempt);
      return await enter(deps, call, user.id, accountId);
    },
  },

  askForReset: {
    body: z.strictObject({ email }),
    async run(deps, { body, request }) {
      await countReset(deps.database, { ...tryOf(deps, { request }), email: body.email });
      // Not awaited: the time of the answer must not reveal whether anyone has the address.
      void emailResetLink(deps, body.email);
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
      // Anyone signed in with the old password, perhaps not its owner, is signed out.
      await endSessions(deps.database, user.id);
      return await enter(deps, call, user.id);
    },
  },
};

type SigningIn = Pick<Call<'signIn'>, 'session' | 'reply' | 'request'>;

/** The password, or a link in its place, was right: begins a session, unless a factor is needed. */
async function enter(
  deps: DashboardDeps,
  call: SigningIn,
  userId: string,
  accountId?: number,
): Promise<Entered> {
  const factors = await factorsOf(deps.database, userId);
  if (!hasFactor(factors)) return await begin(deps, call, userId, { accountId });
  const ticket = await makeTicket(deps, userId, accountId);
  const { app, passkeys } = factors;
  return {
    secondFactor: { ticket, app, passkey: passkeys > 0, accountId: accountId ?? null },
  };
}

/** Used up in one transaction with its effects. */
const isCode = (deps: DashboardDeps, userId: string, given: string): Promise<boolean> =>
  deps.database.transaction(async (client) => {
    const code = given.replaceAll(/[\s-]/g, '');
    if (/^\d{6}$/.test(code)) return await takeAppCode(deps, client, userId, code);
    if (!(await takeRecoveryCode(client, userId, code))) return false;
    await recoveryCodeWasUsed(client, userId);
    return true;
  });

/** A new session under a new cookie; this browser's previous one ends. */
async function begin(
  deps: DashboardDeps,
  { session, reply, request }: SigningIn,
  userId: string,
  wish: NewSession = {},
): Promise<Me> {
  if (session !== null) await endSession(deps.database, session);
  const { ipAddress, userAgent } = deps.requesterOf(request.raw);
  await noteSignIn(deps.database, userId, { client: ipAddress, userAgent });
  const place = { device: deviceOf(userAgent), ipAddress };
  const opened = await openSession(deps.database, deps.clock, userId, { ...wish, ...place });
  setCookie(reply, deps.baseUrl(), opened.token);
  setCookie(reply, deps.baseUrl(), makeMark(deps, userId), 'sm_browser');
  deps.noteOpenedAt(request.headers.origin);
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
