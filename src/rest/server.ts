// The REST door: keys, bodies and errors as HTTP; what is done is in the operations. Also health, metrics and /openapi.json.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { ByteBudget } from '../byte-budget.ts';
import { Problem } from '../errors.ts';
import { parseJson, readBody } from '../http-body.ts';
import { closeAnswered } from '../http-stop.ts';
import { type Refusal, refusalOf, refuse } from '../operations/refusal.ts';
import { answerNoRequest, asProblem } from './errors.ts';
import { describeApi } from './openapi.ts';
import { type BareHandler, takePlainSends, withSendDoor } from './send-door.ts';
import { type ServeDeps, serveOperations } from './serve-operations.ts';

export interface RestDeps extends ServeDeps {
  /** Memory for large bodies, shared by all doors. */
  bodyBudget: ByteBudget;
  /** What /readyz asks; a rejection's message is the answer. */
  checkReady: () => Promise<void>;
  /** Called before /metrics answers, to bring gauges up to date. */
  refreshGauges: () => Promise<void>;
  /** Other doors on the same port, by path; they read and answer the bare request. */
  mounts: Record<string, BareHandler>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Gives back the memory that the body took. */
    releaseBody: (() => void) | null;
  }
}

export function createRestServer(deps: RestDeps): FastifyInstance {
  const bare = createServer({ keepAliveTimeout: 75_000 });
  const plainSends = takePlainSends(bare, deps);
  const server = Fastify({
    serverFactory: (handler) =>
      bare.on('request', withSendDoor(deps, withMounts(deps.mounts, handler))),
    forceCloseConnections: 'idle',
    // A request that was begun before the stop is answered like any other.
    return503OnClosing: false,
    clientErrorHandler: answerNoRequest,
    // No error handler is asked about paths that cannot be routed: badly encoded ones, and ids that are much too long.
    frameworkErrors: (error, request, reply) =>
      void sendRefusal(
        reply,
        refusalOf(
          error.code === 'FST_ERR_BAD_URL'
            ? new Problem('invalid', error.message)
            : nothingAt(request),
        ),
      ),
    routerOptions: { ignoreTrailingSlash: true },
    requestIdHeader: 'x-request-id',
    genReqId: () => `req_${randomUUID()}`,
  });
  server.addHook('preClose', async () => {
    plainSends.closeIdle();
    closeAnswered(bare);
  });
  server.decorateRequest('releaseBody', null);
  answerErrors(server, deps);
  readJsonBodies(server, deps.bodyBudget);
  serveOperations(server, deps);
  serveHealth(server, deps);
  serveMounts(server, deps.mounts);
  server.get('/openapi.json', () => describeApi(deps.baseUrl()));
  return server;
}

function readJsonBodies(server: FastifyInstance, budget: ByteBudget): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', async (request: FastifyRequest) => {
    const { bytes, release } = await readBody(request.raw, budget);
    request.releaseBody = release;
    return parseJson(bytes);
  });
  server.addHook('onResponse', async (request) => request.releaseBody?.());
}

/** Where the path is exactly one of theirs, other doors are spared the framework too. */
function withMounts(mounts: RestDeps['mounts'], otherwise: BareHandler): BareHandler {
  const byPath = new Map(Object.entries(mounts));
  return (request, response) => (byPath.get(request.url ?? '') ?? otherwise)(request, response);
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
    const about = {
      door: 'rest',
      request: request.id,
      account: request.admitted?.caller.accountId,
    };
    return sendRefusal(reply, refuse(deps, about, error, asProblem));
  });
  server.setNotFoundHandler((request, reply) => sendRefusal(reply, refusalOf(nothingAt(request))));
}

const nothingAt = ({ method, url }: FastifyRequest): Problem =>
  new Problem(
    'not-found',
    `There is nothing at ${method} ${url.slice(0, 200)}. The API is described at /openapi.json.`,
  );

const sendRefusal = (reply: FastifyReply, { status, headers, body }: Refusal): FastifyReply =>
  reply.code(status).headers(headers).send(body);

function serveHealth(server: FastifyInstance, deps: RestDeps): void {
  server.get('/healthz', () => ({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    try {
      await deps.checkReady();
      return { status: 'ready' };
    } catch (error) {
      return reply.code(503).send({ status: 'not ready', detail: (error as Error).message });
    }
  });
  server.get('/metrics', async (_request, reply) => {
    // Without the database the gauges stay as they were: the rest is wanted most just then.
    await deps.refreshGauges().catch((error) => deps.log.warn({ err: error }, 'gauges are old'));
    return reply
      .header('content-type', deps.metrics.registry.contentType)
      .send(await deps.metrics.registry.metrics());
  });
}
