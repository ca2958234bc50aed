// The REST door: keys, bodies and errors as HTTP; the work is done by the operations. Also health,
// metrics and /openapi.json.
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { Problem } from '../errors.ts';
import { type HttpHandler, oneOf } from '../http/answer.ts';
import type { Bodies } from '../http/body.ts';
import { readJson } from '../http/json-bytes.ts';
import { takePlainRequests } from '../http/plain-requests.ts';
import { requestIdOf } from '../http/request-id.ts';
import { createHttpServer } from '../http/server.ts';
import { closeAnswered } from '../http/stop.ts';
import { getMessage } from '../operations/get-message.ts';
import type { Operation } from '../operations/operation.ts';
import { type Refusal, refusalOf, refuse } from '../operations/refusal.ts';
import { sendEmail } from '../operations/send-email.ts';
import { inLongTurns } from '../process/in-turns.ts';
import type { RestDeps } from './deps.ts';
import { answerNoRequest, asProblem } from './errors.ts';
import { answerHealth, HEALTH_PATHS } from './health.ts';
import { describing } from './openapi/document.ts';
import { answerPlainSend, withSendDoor } from './send-door.ts';
import { serveOperations } from './serve-operations.ts';
import { answerPlainTimeline } from './timeline-door.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose body it is, if a door has found out; otherwise anyone's. */
    bodyOf: string | null;
    /** The door it came through, and the account, if known. */
    asker: { door: string; account?: number | undefined } | null;
    /** Gives back the memory that the body took. */
    releaseBody: (() => void) | null;
  }
}

/** An address of 254 characters in Unicode, of which each may take twelve in a path. */
const LONGEST_PARAMETER = 254 * 12;

export function createRestServer(deps: RestDeps): FastifyInstance {
  const http = createHttpServer(deps.http);
  const bare = http.server;
  bare.on('request', ({ method, url }) =>
    deps.loopWatch.note(`${method} ${url?.split('?', 1)[0]?.slice(0, 100)}`),
  );
  bare.on('request', ({ url, headers }) => {
    // Whoever watches a process calls it by its bare address.
    if (!deps.asking.asked.own && !HEALTH_PATHS.some((path) => path === url)) {
      deps.asking.noteHost((name) => oneOf(headers[name]));
    }
  });
  const plainRequests = takePlainRequests(http, {
    [routeOf(sendEmail)]: answerPlainSend(deps),
    [routeOf(getMessage)]: answerPlainTimeline(deps),
    ...deps.plainRequests,
  });
  const server = Fastify({
    serverFactory: (handler) =>
      bare.on(
        'request',
        http.guard(
          underBasePath(
            new URL(deps.baseUrl()).pathname,
            withSendDoor(deps, withMounts(deps, handler)),
          ),
        ),
      ),
    forceCloseConnections: 'idle',
    // A request that began before the stop is answered like any other.
    return503OnClosing: false,
    clientErrorHandler: answerNoRequest,
    // The error handler is not called for paths that cannot be routed: badly encoded ones, and ids
    // that are much too long.
    frameworkErrors: (error, request, reply) =>
      void sendRefusal(
        reply,
        refusalOf(
          error.code === 'FST_ERR_BAD_URL'
            ? new Problem('invalid', error.message)
            : nothingAt(request),
          'rest',
        ),
      ),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: LONGEST_PARAMETER },
    requestIdHeader: false,
    genReqId: ({ headers }) => requestIdOf(oneOf(headers['x-request-id'])),
  });
  server.addHook('preClose', async () => {
    plainRequests.closeIdle();
    closeAnswered(bare);
  });
  server.decorateRequest('bodyOf', null);
  server.decorateRequest('asker', null);
  server.decorateRequest('releaseBody', null);
  answerErrors(server, deps);
  refuseNowhere(server);
  readJsonBodies(server, deps.bodies);
  serveOperations(server, deps);
  serveHealth(server, deps);
  serveMounts(server, deps.mounts);
  serveDocument(server, deps.baseUrl);
  return server;
}

const routeOf = ({ rest: { method, path } }: Pick<Operation, 'rest'>) => `${method} ${path}`;

/**
 * Before a byte of the body is read. No id, slug or search contains a NUL, and PostgreSQL accepts
 * none.
 */
function refuseNowhere(server: FastifyInstance): void {
  server.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    const [path, query] = request.url.split('?', 2);
    if (request.is404 || path!.includes('%00')) throw nothingAt(request);
    if (query?.includes('%00')) {
      throw new Problem(
        'invalid',
        'The query contains a NUL (%00), which is not text. Leave it out.',
      );
    }
  });
}

function readJsonBodies(server: FastifyInstance, bodies: Bodies): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', async (request: FastifyRequest) => {
    const { bytes, release } = await bodies.read(request.raw, { key: request.bodyOf ?? undefined });
    request.releaseBody = release;
    // Many clients name the type even if there is nothing to send.
    return bytes.length === 0 ? undefined : readJson(bytes);
  });
  server.addHook('onResponse', async (request) => request.releaseBody?.());
}

/**
 * BASE_URL may have a path, as in `https://tools.example.com/mail`. Some proxies remove it before
 * they pass a request on, some do not: both work.
 */
function underBasePath(basePath: string, answer: HttpHandler): HttpHandler {
  const prefix = basePath.replace(/\/+$/, '');
  if (prefix === '') return answer;
  return (request, response) => {
    const url = request.url ?? '';
    if (url.startsWith(`${prefix}/`)) request.url = url.slice(prefix.length);
    else if (url === prefix) request.url = '/';
    return answer(request, response);
  };
}

/** For paths that are exactly theirs, other doors bypass the framework too. */
function withMounts({ mounts, otherDoor }: RestDeps, otherwise: HttpHandler): HttpHandler {
  const byPath = new Map(Object.entries(mounts));
  return (request, response) => {
    const handler = byPath.get(request.url ?? '') ?? otherDoor(request) ?? otherwise;
    handler(request, response);
  };
}

function serveMounts(server: FastifyInstance, mounts: RestDeps['mounts']): void {
  server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    for (const [path, answer] of Object.entries(mounts)) {
      scope.all(path, (request, reply) => {
        reply.hijack();
        answer(request.raw, reply.raw);
      });
    }
  });
}

function answerErrors(server: FastifyInstance, deps: RestDeps): void {
  server.setErrorHandler((error, request, reply) => {
    const about = { ...(request.asker ?? { door: 'rest' }), request: request.id };
    return sendRefusal(reply, refuse(deps, about, error, asProblem));
  });
  server.setNotFoundHandler((request, reply) =>
    sendRefusal(reply, refusalOf(nothingAt(request), 'rest')),
  );
}

const nothingAt = ({ method, url }: FastifyRequest): Problem =>
  new Problem(
    'not-found',
    `There is nothing at ${method} ${url.slice(0, 200)}. The API is described at /openapi.json.`,
  );

const sendRefusal = (reply: FastifyReply, { status, headers, body }: Refusal): FastifyReply =>
  reply
    .code(status)
    .headers({ 'x-request-id': reply.request.id, ...headers })
    .send(body);

/** Built once: anyone may ask for it, thousands of times over one connection. */
function serveDocument(server: FastifyInstance, baseUrl: RestDeps['baseUrl']): void {
  let kept: { baseUrl: string; json: Promise<Buffer> } | undefined;
  const write = async (at: string): Promise<Buffer> =>
    Buffer.from(JSON.stringify(await inLongTurns(describing(at))));
  server.get('/openapi.json', async (_request, reply) => {
    const now = baseUrl();
    if (kept?.baseUrl !== now) kept = { baseUrl: now, json: write(now) };
    const json = await kept.json;
    return reply.type('application/json; charset=utf-8').send(json);
  });
}

function serveHealth(server: FastifyInstance, { health, metricsExposure }: RestDeps): void {
  for (const path of HEALTH_PATHS) {
    server.get(path, async (request, reply) => {
      const answer = await answerHealth(health, path, metricsExposure, request.headers);
      return reply.code(answer.status).headers(answer.headers).send(answer.text);
    });
  }
}
