// Admission: whether a request comes from our own pages, who sent it, and whether they may. Before
// it: server.ts. After it: a route.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../accounts/directory.ts';
import { scopesOfPerson } from '../accounts/scopes.ts';
import { Problem } from '../errors.ts';
import { isLocked, readSession, type Session } from '../people/sessions.ts';
import { includesRole } from '../people/users.ts';
import { ACCOUNT_HEADER, DASHBOARD_HEADER, type Route } from './contract.ts';
import type { DashboardDeps } from './deps.ts';
import { secure } from './security-headers.ts';
import { readCookie, setCookie } from './session-cookie.ts';

/** A sign-in or an invitation is small; nobody without a session needs more. */
const MOST_PUBLIC_BYTES = 16 * 1024;

/**
 * For the API's routes: the person who calls from our own pages, as a caller with the rights of
 * their role; undefined: there is none.
 */
export async function admitPerson(
  deps: DashboardDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<{ caller: Caller; person: Session['user'] } | undefined> {
  if (request.headers[DASHBOARD_HEADER] === undefined) return undefined;
  if (request.method !== 'GET') requireOwnPage(request, deps.baseUrl());
  const session = await findSession(deps, request, reply);
  if (session === null) throw signedOut();
  requireSameAccount(request, session);
  requireFactor(session);
  request.bodyOf = `user ${session.user.id}`;
  secure(reply, deps.baseUrl());
  reply.header('cache-control', 'no-store');
  return { caller: callerOf(session), person: session.user };
}

/** With the rights of their role. */
export const callerOf = ({ account, user }: Session): Caller => ({
  accountId: account?.id ?? 0,
  keyId: null,
  scopes: scopesOfPerson(account?.role, user.operator),
  limits: null,
  // Sends check the account's own state: operations/perform.ts.
  paused: null,
});

const signedOut = (): Problem =>
  new Problem('unauthenticated', 'You are not signed in, or your session has ended. Sign in.');

/** The session; null only if the route is public and there is none. */
export async function admit(
  deps: DashboardDeps,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Session | null> {
  const baseUrl = deps.baseUrl();
  if (route.method !== 'GET') requireOwnPage(request, baseUrl);
  if (route.access === 'public') requireSmall(request);
  const session = await findSession(deps, request, reply);
  if (route.access === 'public') return session;
  if (session === null) throw signedOut();
  if (isOfAccount(route)) requireSameAccount(request, session);
  requireAccess(route, session);
  return session;
}

/**
 * SameSite keeps the cookie out of other sites' forms; these two keep out their scripts and older
 * browsers as well.
 */
function requireOwnPage(request: FastifyRequest, baseUrl: string): void {
  if (request.headers[DASHBOARD_HEADER] === undefined) {
    throw new Problem('forbidden', `The header ${DASHBOARD_HEADER}: 1 is missing.`);
  }
  const { origin = '', host } = request.headers;
  const ours = URL.canParse(origin)
    ? new URL(origin).origin === new URL(baseUrl).origin || new URL(origin).host === host
    : false;
  if (!ours) {
    throw new Problem(
      'forbidden',
      `Pages from ${origin.slice(0, 100) || 'nowhere'} may not change anything here. Open the dashboard at ${baseUrl}, or set BASE_URL to the address you use.`,
    );
  }
}

function requireSmall(request: FastifyRequest): void {
  const { 'content-length': length, 'transfer-encoding': chunked } = request.headers;
  if (chunked === undefined && Number(length ?? 0) <= MOST_PUBLIC_BYTES) return;
  throw new Problem(
    'invalid',
    `The body must be at most ${MOST_PUBLIC_BYTES} bytes, with a Content-Length.`,
  );
}

async function findSession(
  deps: DashboardDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Session | null> {
  const baseUrl = deps.baseUrl();
  const token = readCookie(request, baseUrl);
  const found = token === undefined ? undefined : await readSession(deps.database, token);
  if (found?.newToken !== undefined) setCookie(reply, baseUrl, found.newToken);
  if (found !== undefined) deps.noteOpenedAt(request.headers.origin);
  return found?.session ?? null;
}

const isOfAccount = ({ access }: Route): boolean =>
  access === 'viewer' || access === 'developer' || access === 'owner';

function requireSameAccount(request: FastifyRequest, { account }: Session): void {
  const { account: asked } = request.query as { account?: unknown };
  const shown =
    request.headers[ACCOUNT_HEADER] ?? (request.url.startsWith('/v1/') ? undefined : asked);
  if (shown === undefined || Number(shown) === account?.id) return;
  throw new Problem(
    'conflict',
    `This page belongs to a different account from the one you are working in now, which is ${account?.name ?? 'none'}: another tab switched accounts. Nothing was changed.`,
    { at: ACCOUNT_HEADER },
  );
}

/**
 * What people may do without a factor is about themselves: set one up, or switch to another
 * account.
 */
function requireFactor(session: Session): void {
  if (!isLocked(session)) return;
  throw new Problem(
    'forbidden',
    `${session.account?.name} requires a second factor, and you signed in without one. Add a passkey or an authenticator app under Profile.`,
  );
}

function requireAccess({ access }: Route, session: Session): void {
  if (access === 'public' || access === 'user') return;
  if (access === 'operator') {
    if (session.user.operator) return;
    throw new Problem('forbidden', 'Only operators of this service may do this.');
  }
  if (session.account === null) {
    throw new Problem(
      'forbidden',
      'You are not a member of any account. Ask an owner to invite you.',
    );
  }
  requireFactor(session);
  const { role } = session.account;
  if (includesRole(role, access)) return;
  throw new Problem(
    'forbidden',
    `You are a ${role} of this account, and this needs ${access === 'owner' ? 'an owner' : `a ${access}`}. An owner can change that under Team.`,
  );
}
