// Every operation as a REST route, built from its definition: method, path, status, ETag. The work
// is done by the operation.
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, Directory } from '../accounts/directory.ts';
import type { Base64Text } from '../bytes/base64-text.ts';
import { piecesOf } from '../bytes/chunks.ts';
import { Problem } from '../errors.ts';
import { readerOf } from '../http/answer.ts';
import { apiKeyIn } from '../http/api-key.ts';
import { attachmentHeaders } from '../http/file-headers.ts';
import { longJson } from '../http/json-answer.ts';
import { OPERATIONS } from '../operations/all.ts';
import type { OperationDeps } from '../operations/deps.ts';
import { type Operation, type Person, requireScope } from '../operations/operation.ts';
import { type NewVia, perform } from '../operations/perform.ts';
import { etagOf, noIfMatch, precondition, takesIfMatch } from '../operations/preconditions.ts';
import { limitHeaders, warningHeader } from '../operations/refusal.ts';
import { sendEmail } from '../operations/send-email.ts';
import { readQuery } from './query.ts';

/** Who is calling: a program with its key, or a person with a dashboard session. */
export interface Admitted {
  caller: Caller;
  person: Person | null;
}

/**
 * The person behind a request from the dashboard's own pages; undefined: it came from elsewhere.
 */
export type AdmitPerson = (
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<Admitted | undefined>;

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the door once it knows who is calling. */
    admitted: Admitted | null;
  }
}

export interface ServeDeps extends OperationDeps {
  directory: Directory;
  /** The requester's address, from the connection and X-Forwarded-For. */
  addressOf: (peer: string | undefined, forwardedFor: string | undefined) => string;
  admitPerson: AdmitPerson;
}

export function serveOperations(server: FastifyInstance, deps: ServeDeps): void {
  server.decorateRequest('admitted', null);
  for (const operation of OPERATIONS) {
    // The busiest operation has a door of its own: send-door.ts.
    if (operation !== (sendEmail as unknown as Operation)) serve(server, deps, operation);
  }
}

function serve(server: FastifyInstance, deps: ServeDeps, operation: Operation): void {
  const { method, path, status = 200 } = operation.rest;
  server.route({
    method,
    url: path.replace(/\{(\w+)\}/g, ':$1'),
    // Who is calling, and what they may do, is checked before a byte of the body is read.
    onRequest: async (request, reply) => {
      request.admitted = await admit(deps, request, reply);
      requireScope(request.admitted.caller, operation.scope);
    },
    handler: async (request, reply) => {
      const { caller, person } = request.admitted!;
      const ifMatch = ifMatchIn(operation, request);
      const input = inputOf(operation, request, ifMatch);
      const via: NewVia & { limit?: unknown } = {
        door: person === null ? 'rest' : 'dashboard',
        requestId: request.id,
        person,
        idempotencyKey: oneHeader(request, 'idempotency-key'),
        precondition: precondition(operation, ifMatch, caller, input),
        ...readerOf(reply.raw),
      };
      const answer = await perform(deps, operation, caller, input, via);
      if (via.limit) reply.headers(limitHeaders(via.limit as never));
      if (via.warnings?.length) reply.headers(warningHeader(via.warnings));
      const etag = etagOf(operation, answer);
      if (etag !== undefined) reply.header('etag', etag);
      if (operation.rest.file && wantsBytes(request)) return sendFile(reply, answer);
      reply.code(status).type('application/json; charset=utf-8');
      return reply.send(longJson(answer) ?? answer);
    },
  });
}

/** JSON, as everywhere, unless the caller asks for the bytes. */
const wantsBytes = ({ headers }: FastifyRequest): boolean =>
  headers.accept?.includes('application/octet-stream') ?? false;

/** Whatever the sender called it, no browser must show it as one of our pages. */
function sendFile(reply: FastifyReply, file: Record<string, unknown>): FastifyReply {
  const { chunks, size } = file.content_base64 as Base64Text;
  return reply
    .headers(attachmentHeaders(String(file.filename), 'application/octet-stream'))
    .header('content-length', size)
    .send(Readable.from(piecesOf(chunks), { objectMode: false }));
}

async function admit(
  deps: ServeDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Admitted> {
  const key = apiKeyIn(oneHeader(request, 'x-api-key'), request.headers.authorization);
  const person = key === undefined ? await deps.admitPerson(request, reply) : undefined;
  if (person !== undefined) {
    request.asker = { door: 'dashboard', account: person.caller.accountId };
    return person;
  }
  const caller = await deps.directory.authenticate(key, () =>
    deps.addressOf(request.socket.remoteAddress, oneHeader(request, 'x-forwarded-for')),
  );
  request.bodyOf = caller.keyId;
  request.asker = { door: 'rest', account: caller.accountId };
  return { caller, person: null };
}

/** Fields of the path, then those of the query or the body; If-Match where the operation has it. */
function inputOf(
  operation: Operation,
  request: FastifyRequest,
  base: string | undefined,
): Record<string, unknown> {
  const { method, ifMatch } = operation.rest;
  const byQuery = method === 'GET' || method === 'DELETE';
  const rest = byQuery
    ? readQuery(operation.input, request.query as Record<string, string | string[]>)
    : bodyOf(operation, request);
  const expected = ifMatch === undefined ? undefined : versionIn(base);
  return {
    ...rest,
    ...headersOf(operation, request),
    ...readQuery(operation.input, request.params as Record<string, string>),
    ...(expected === undefined ? {} : { [ifMatch!]: expected }),
  };
}

function headersOf({ rest: { headers = {} } }: Operation, request: FastifyRequest) {
  const given: Record<string, string> = {};
  for (const [field, name] of Object.entries(headers)) {
    const value = oneHeader(request, name);
    if (value !== undefined) given[field] = value;
  }
  return given;
}

function bodyOf({ rest }: Operation, { body }: FastifyRequest): Record<string, unknown> {
  if (body === undefined || body === null) return {};
  if (rest.list !== undefined && Array.isArray(body)) return { [rest.list]: body };
  if (typeof body === 'object' && !Array.isArray(body)) return body as Record<string, unknown>;
  throw new Problem('invalid', 'The body must be a JSON object.');
}

/** A call that changes nothing does not depend on it. */
function ifMatchIn(operation: Operation, request: FastifyRequest): string | undefined {
  const ifMatch = oneHeader(request, 'if-match');
  if (ifMatch === undefined || takesIfMatch(operation)) return ifMatch;
  if (operation.effect === 'changes') throw noIfMatch(operation);
  return undefined;
}

/** `"7"`, `W/"7"` or 7; `*` expects nothing in particular. */
function versionIn(ifMatch: string | undefined): number | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  const version = /^(?:W\/)?"?(\d{1,9})"?$/.exec(ifMatch.trim())?.[1];
  if (version !== undefined) return Number(version);
  throw new Problem('stale', 'If-Match: pass the ETag of the version that you read.', {
    at: 'If-Match',
  });
}

function oneHeader(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
