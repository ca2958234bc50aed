// Where a sign-in attempt comes from: the network, and the browser if it is known. Before it: a
// route. After it: people/sign-in-throttle.ts counts it.
import type { FastifyRequest } from 'fastify';
import { readMark } from '../../people/known-browser.ts';
import type { SignInTry } from '../../people/sign-in-throttle.ts';
import type { DashboardDeps } from '../deps.ts';
import { readCookie } from '../session-cookie.ts';

export function tryOf(
  deps: DashboardDeps,
  { request }: { request: FastifyRequest },
): Omit<SignInTry, 'email'> {
  const mark = readCookie(request, deps.baseUrl(), 'sm_browser');
  return {
    client: deps.requesterOf(request.raw).ipAddress,
    browser: mark === undefined ? undefined : readMark(deps, mark),
  };
}
