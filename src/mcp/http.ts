// The MCP door over HTTP: who may connect from where is checked here, before any protocol. Mounted
// by main.ts at /mcp and /v1/mcp on the service's port, and at /mcp on its own port if MCP_PORT is
// set. Calls of tools take the short path (http/plain-requests.ts) if nothing about them is
// unusual, and so does what clients say before them over the same connection. After it: server.ts.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';
import type { Caller, Directory } from '../accounts/directory.ts';
import { orProblem, Problem } from '../errors.ts';
import { type HttpAnswer, type HttpHandler, oneOf, readerOf, writeAnswer } from '../http/answer.ts';
import { apiKeyIn } from '../http/api-key.ts';
import type { Bodies } from '../http/body.ts';
import { readJson } from '../http/json-bytes.ts';
import { type AnswerPlain, type Fields, takePlainRequests } from '../http/plain-requests.ts';
import { CALLERS_IN_LINE, createHttpServer, type HttpServerOptions } from '../http/server.ts';
import { closeAnswered } from '../http/stop.ts';
import { refuse } from '../operations/refusal.ts';
import type { Asking } from '../process/asked.ts';
import type { Log } from '../process/log.ts';
import type { LoopWatch } from '../process/loop-watch.ts';
import type { Metrics } from '../process/metrics.ts';
import { authInfoOf, type McpServer } from './server.ts';
import { type Field, readToolCall } from './tool-call.ts';

export interface McpHttpDeps {
  server: McpServer;
  directory: Directory;
  metrics: Metrics;
  log: Log;
  loopWatch: LoopWatch;
  /** Shared by all doors. */
  bodies: Bodies;
  /** The client's address, from that of the connection and X-Forwarded-For. */
  addressOf: (peer: string | undefined, forwardedFor: string | undefined) => string;
  asking: Asking;
  /** Host names of the service; browsers that use any other are refused (DNS rebinding). */
  hosts: readonly string[];
}

export interface McpHttp {
  answer: HttpHandler;
  /** For requests that took the short path. */
  answerPlain: AnswerPlain;
}

export function createMcpHttp(deps: McpHttpDeps): McpHttp {
  const hosts = [...deps.hosts];
  const protocol = toNodeHandler(deps.server, {
    onerror: (error) => deps.log.error({ door: 'mcp', err: error }, 'a request failed'),
  });
  /** Most requests use the same name, so it is not parsed each time. */
  let knownHost: string | null = null;

  function admit(field: Field, socket: Socket): Caller | Promise<Caller> {
    const host = field('host');
    if (host !== knownHost) {
      if (!isKnownHost(host, hosts)) return refuseHost(host, field, socket);
      knownHost = host;
      deps.asking.noteHost(field);
    }
    const origin = field('origin');
    if (origin !== undefined) requireKnownOrigin(origin, hosts);
    return authenticate(field, socket);
  }

  const authenticate = (field: Field, socket: Socket) =>
    deps.directory.authenticate(apiKeyIn(field('x-api-key'), field('authorization')), () =>
      deps.addressOf(socket.remoteAddress, field('x-forwarded-for')),
    );

  /** With a valid key it was an agent of ours, and `doctor` says what to set. */
  async function refuseHost(
    host: string | undefined,
    field: Field,
    socket: Socket,
  ): Promise<never> {
    const key = (async () => await authenticate(field, socket))();
    await key.then(() => deps.asking.noteRefused(host)).catch(() => undefined);
    throw new Problem(
      'forbidden',
      `The Host ${String(host).slice(0, 100)} is not a name of this service. Set BASE_URL or MCP_ALLOWED_HOSTS to the name at which it is reached.`,
    );
  }

  const answerPlain: AnswerPlain = async ({ fields, body }, socket) => {
    const field: Field = (name) => fields.get(name);
    try {
      const known = admit(field, socket);
      const caller = known instanceof Promise ? await known : known;
      deps.loopWatch.note('mcp', caller.accountId);
      const message = acceptsJson(field('accept')) ? orProblem(readJson, body) : undefined;
      const call = readToolCall(field, message);
      if (call?.opensPages) return undefined;
      const called = call && deps.server.answerCall(caller, call);
      if (called) return { status: 200, headers: JSON_TYPE, text: await called };
      return isOpening(message) ? await opening(caller, fields, message) : undefined;
    } catch (error) {
      return asAnswer(deps, error);
    }
  };

  /** The package answers these at once and as a whole. */
  async function opening(caller: Caller, fields: Fields, message: unknown): Promise<HttpAnswer> {
    const { 'x-api-key': _, authorization: __, ...headers } = Object.fromEntries(fields);
    const response = await deps.server.fetch(
      new Request('http://localhost/mcp', { method: 'POST', headers: { ...headers, ...BOTH } }),
      { authInfo: authInfoOf(caller, {}), parsedBody: message },
    );
    const { status } = response;
    return { status, headers: Object.fromEntries(response.headers), text: await response.text() };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const field: Field = (name) => oneOf(request.headers[name]);
    const caller = await admit(field, request.socket);
    if (request.method !== 'POST') return await speak(request, response, caller, undefined);
    if (!acceptsJson(field('accept'))) return writeAnswer(response, NOT_ACCEPTABLE);
    const read = await readBody(deps, request, caller);
    if ('refused' in read) return writeAnswer(response, read.refused);
    const { bytes, release } = read;
    try {
      const body = await parse(bytes);
      if (body instanceof Problem) return writeAnswer(response, notJson(body));
      const call = readToolCall(field, body);
      if (call?.opensPages) {
        const gone = new AbortController();
        const asked = deps.server.askAndAnswer(caller, call, gone.signal);
        if (asked)
          return await stream(
            response.once('close', () => gone.abort()),
            asked,
          );
      }
      const called = call && deps.server.answerCall(caller, call);
      if (called)
        return writeAnswer(response, { status: 200, headers: JSON_TYPE, text: await called });
      await speak(request, response, caller, body);
    } finally {
      release();
    }
  }

  /** The package answers everything that the specification covers. */
  async function speak(
    request: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
    body: unknown,
  ): Promise<void> {
    // The key stays here.
    Object.assign(request.headers, BOTH);
    delete request.headers['x-api-key'];
    delete request.headers.authorization;
    await protocol(
      Object.assign(request, { auth: authInfoOf(caller, readerOf(response)) }),
      response,
      body,
    );
  }

  return {
    answer: (request, response) => {
      answer(request, response).catch((error) => writeAnswer(response, asAnswer(deps, error)));
    },
    answerPlain,
  };
}

/** The package insists on both types; a client that came this far accepts JSON. */
const BOTH = { accept: 'application/json, text/event-stream' };

/** What clients say before their first call, usually over the same connection. */
const OPENING: ReadonlySet<unknown> = new Set([
  ...['initialize', 'notifications/initialized', 'server/discover', 'tools/list', 'ping'],
]);

const isOpening = (message: unknown): boolean =>
  typeof message === 'object' &&
  message !== null &&
  OPENING.has((message as { method?: unknown }).method);

type Body = Awaited<ReturnType<Bodies['read']>>;

/** From here on the client speaks the protocol, so errors in its message are reported in it. */
async function readBody(
  deps: McpHttpDeps,
  request: IncomingMessage,
  caller: Caller,
): Promise<Body | { refused: HttpAnswer }> {
  try {
    return await deps.bodies.read(request, { key: caller.keyId ?? undefined });
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'invalid') throw error;
    const { status, body } = refuse(deps, { door: 'mcp' }, error);
    return { refused: rpcError(status, -32600, body.detail) };
  }
}

/** Messages as they come, for a client that is asked something before its call is answered. */
async function stream(response: ServerResponse, messages: AsyncIterable<string>): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  for await (const message of messages) response.write(`event: message\ndata: ${message}\n\n`);
  response.end();
}

// Host and Origin are checked as the transport's specification requires.

const isKnownHost = (host: string | undefined, known: string[]): host is string =>
  host !== undefined && validateHostHeader(host, known).ok;

function requireKnownOrigin(origin: string, known: string[]): void {
  if (validateOriginHeader(origin, known).ok) return;
  throw new Problem(
    'forbidden',
    `Pages from ${origin.slice(0, 100)} may not call this service. Set MCP_ALLOWED_HOSTS if they should.`,
  );
}

const JSON_TYPE = { 'content-type': 'application/json' };

const json = (status: number, body: object, headers: Record<string, string> = {}): HttpAnswer => ({
  status,
  headers: { ...JSON_TYPE, ...headers },
  text: JSON.stringify(body),
});

const rpcError = (status: number, code: number, message: string): HttpAnswer =>
  json(status, { jsonrpc: '2.0', error: { code, message }, id: null });

const notJson = ({ detail }: Problem): HttpAnswer =>
  rpcError(400, -32700, `Parse error: ${detail}`);
const NOT_ACCEPTABLE = rpcError(
  406,
  -32000,
  'Answers are application/json: send an Accept header that includes it.',
);

/** Before the protocol begins, problems are plain HTTP, as in REST. */
function asAnswer(deps: McpHttpDeps, error: unknown): HttpAnswer {
  const { status, headers, body } = refuse(deps, { door: 'mcp' }, error);
  return json(status, body, headers);
}

/**
 * Also accepts plain `application/json` and wildcards, which the package's own check would refuse.
 */
function acceptsJson(accept: string | undefined): boolean {
  return (
    accept === undefined || /(^|[\s,])(application\/json|application\/\*|\*\/\*)/i.test(accept)
  );
}

async function parse(bytes: Buffer): Promise<unknown> {
  try {
    return await readJson(bytes);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** MCP on its own port. */
export async function listenMcp(
  { answer, answerPlain }: McpHttp,
  at: { host: string; port: number; http: HttpServerOptions },
): Promise<{ port: number; stop(): Promise<void> }> {
  const http = createHttpServer(at.http);
  const { server, guard } = http;
  const plainRequests = takePlainRequests(http, { 'POST /mcp': answerPlain });
  server.on(
    'request',
    guard((request, response) => {
      if (/^\/mcp\/?(\?|$)/.test(request.url ?? '')) answer(request, response);
      else writeAnswer(response, json(404, { detail: 'MCP is at /mcp.', code: 'not-found' }));
    }),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: at.host, port: at.port, backlog: CALLERS_IN_LINE }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        plainRequests.closeIdle();
        closeAnswered(server);
      }),
  };
}
