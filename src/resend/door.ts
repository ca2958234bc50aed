// The Resend door: for programs written for Resend's API, with only its base URL changed. It reads
// keys, paths and bodies as Resend's libraries write them and answers in their format; the work is
// done by the same operations as everywhere. Served under /resend, and at the root for requests
// with a bearer key: /emails and the like are not pages of ours. Before it: rest/server.ts, which
// passes on the bare request. After it: routes.ts.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../accounts/directory.ts';
import { Problem } from '../errors.ts';
import { type HttpHandler, oneOf, readerOf, writeAnswer } from '../http/answer.ts';
import { apiKeyIn } from '../http/api-key.ts';
import type { Bodies } from '../http/body.ts';
import { longJson } from '../http/json-answer.ts';
import { readJson } from '../http/json-bytes.ts';
import { requestIdOf } from '../http/request-id.ts';
import type { OperationDeps } from '../operations/deps.ts';
import type { NewVia } from '../operations/perform.ts';
import { limitHeaders, refuse, warningHeader } from '../operations/refusal.ts';
import { NotServed, notServed, resendError } from './errors.ts';
import { RESOURCES, routeFor } from './routes.ts';

export interface ResendDeps extends OperationDeps {
  /** Shared by all doors. */
  bodies: Bodies;
  /** The client's address, from that of the connection and X-Forwarded-For. */
  addressOf: (peer: string | undefined, forwardedFor: string | undefined) => string;
}

const PREFIX = '/resend';

/** Answers the request, if it is one for this door. */
export function createResendDoor(
  deps: ResendDeps,
): (request: IncomingMessage) => HttpHandler | undefined {
  const handler: HttpHandler = (request, response) => void answer(deps, request, response);
  return ({ url = '', headers }) => {
    if (url.startsWith(`${PREFIX}/`)) return handler;
    const [, resource = ''] = url.split(/[/?]/, 2);
    const hasBearer = /^Bearer\s/i.test(headers.authorization ?? '');
    return hasBearer && RESOURCES.has(resource) ? handler : undefined;
  };
}

interface Written {
  status: number;
  headers: Record<string, string>;
  body: object;
}

async function answer(
  deps: ResendDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const requestId = requestIdOf(oneOf(request.headers['x-request-id']));
  const {
    status,
    headers: told,
    body,
  } = await answerCall(deps, request, requestId, readerOf(response));
  const headers = {
    'x-request-id': requestId,
    ...told,
    'content-type': 'application/json; charset=utf-8',
  };
  const long = longJson({ ...body });
  if (long === undefined) {
    writeAnswer(response, { status, headers, text: JSON.stringify(body) });
    return;
  }
  response.writeHead(status, headers);
  long.pipe(response);
}

async function answerCall(
  deps: ResendDeps,
  request: IncomingMessage,
  requestId: string,
  reader: ReturnType<typeof readerOf>,
): Promise<Written> {
  const { method = 'GET', headers } = request;
  const key = apiKeyIn(oneOf(headers['x-api-key']), headers.authorization);
  let caller: Caller | undefined;
  let release: (() => void) | undefined;
  try {
    caller = await deps.directory.authenticate(key, () =>
      deps.addressOf(request.socket.remoteAddress, oneOf(headers['x-forwarded-for'])),
    );
    const { path, query } = addressOf(request);
    const { route, id } = routeFor(method, path);
    const read = await readBody(deps, request, caller);
    release = read.release;
    const via: NewVia = {
      ...{ door: 'rest', requestId, person: null, ...reader },
      idempotencyKey: oneOf(headers['idempotency-key']),
    };
    const validation = oneOf(headers['x-batch-validation']);
    const body = await route.answer(deps, { caller, body: read.body, query, via, validation }, id);
    const told = {
      ...(via.limit && limitHeaders(via.limit)),
      ...(via.warnings?.length && warningHeader(via.warnings)),
    };
    return { status: 200, headers: told, body };
  } catch (error) {
    if (error instanceof NotServed) return refused(notServed(error));
    const about = { door: 'resend', request: requestId, account: caller?.accountId };
    const refusal = refuse(deps, about, error);
    return refused(resendError(refusal, key !== undefined), refusal.headers);
  } finally {
    release?.();
  }
}

const refused = (body: { statusCode: number }, headers: Record<string, string> = {}): Written => ({
  ...{ status: body.statusCode, headers, body },
});

function addressOf({ url = '' }: IncomingMessage): { path: string; query: URLSearchParams } {
  const [path = '', query = ''] = url.split('?', 2);
  if (path.includes('%00') || !isDecodable(path)) {
    throw new Problem('invalid', 'The path cannot be read. Check how it is encoded.');
  }
  const own = path.startsWith(`${PREFIX}/`) ? path.slice(PREFIX.length) : path;
  return { path: own.replace(/\/$/, ''), query: new URLSearchParams(query) };
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

async function readBody(
  { bodies }: ResendDeps,
  request: IncomingMessage,
  { keyId }: Caller,
): Promise<{ body: unknown; release: () => void }> {
  const { bytes, release } = await bodies.read(request, { key: keyId ?? undefined });
  try {
    return { body: bytes.length === 0 ? undefined : await readJson(bytes), release };
  } catch (error) {
    release();
    throw error;
  }
}
