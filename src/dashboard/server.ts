// The dashboard's door: every route of the contract under /dashboard/api, the preview frame, and
// the pages at /. Mounted by main.ts on the API's server; what a route does is in routes/.
import { createHmac } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Session } from '../people/sessions.ts';
import { admit } from './admission.ts';
import { serveAssets } from './assets.ts';
import { API_PREFIX, PREVIEW_FRAME, ROUTES, type Route, type RouteName } from './contract.ts';
import type { DashboardDeps } from './deps.ts';
import { createStreams, type Streams } from './live.ts';
import { FRAME_HTML, FRAME_POLICY } from './preview-frame.ts';
import { readAs } from './route.ts';
import { WORKS } from './routes.ts';
import { secure } from './security-headers.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the request is admitted. */
    session: Session | null;
    streams: Streams;
  }
}

/** Built beside the program, even when it runs from src/. */
export const pagesFolder = fileURLToPath(new URL('../../dist/web', import.meta.url));

/** The same in every process and after every start, as long as nobody can sign in. */
export const setUpTokenOf = (key: Buffer): string =>
  createHmac('sha256', key).update('set-up').digest('base64url');

export function mountDashboard(server: FastifyInstance, deps: DashboardDeps): void {
  server.register(async (scope) => {
    const streams = createStreams(deps.log);
    scope.addHook('preClose', async () => streams.endAll());
    scope.decorateRequest('session', null);
    scope.decorateRequest('streams', { getter: () => streams });
    for (const name of Object.keys(ROUTES) as RouteName[]) serveRoute(scope, deps, name);
    serveFrame(scope, deps);
    serveAssets(scope, deps);
  });
}

/** As in the table, without the types that the routes were written against. */
interface AnyWork {
  body?: z.ZodType;
  query?: z.ZodType;
  run(deps: DashboardDeps, call: unknown): Promise<unknown>;
}

function serveRoute(scope: FastifyInstance, deps: DashboardDeps, name: RouteName): void {
  const route: Route = ROUTES[name];
  const work = WORKS[name] as unknown as AnyWork;
  scope.route({
    method: route.method,
    url: API_PREFIX + route.path,
    onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
      deps.asking.notePageCall();
      secure(reply, deps.baseUrl());
      reply.header('cache-control', 'no-store');
      request.asker = { door: 'dashboard' };
      request.session = await admit(deps, route, request, reply);
      request.asker.account = request.session?.account?.id;
      if (request.session !== null) request.bodyOf = `user ${request.session.user.id}`;
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const { session } = request;
      const answer = await work.run(deps, {
        params: request.params,
        query: work.query && readAs(work.query, request.query),
        body: work.body && readAs(work.body, request.body),
        session,
        accountId: session?.account?.id,
        request,
        reply,
      });
      // This process sees its own changes at once, such as a revoked key; others see them within a
      // second.
      if (route.method !== 'GET' && session?.account) deps.directory.forget(session.account.id);
      return reply.sent ? reply : answer;
    },
  });
}

function serveFrame(scope: FastifyInstance, deps: DashboardDeps): void {
  scope.get(PREVIEW_FRAME, (_request, reply) => {
    secure(reply, deps.baseUrl(), FRAME_POLICY);
    return reply
      .headers({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' })
      .send(FRAME_HTML);
  });
}
