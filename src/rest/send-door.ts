// POST /v1/send on the bare request: the one hot route, without the framework's routing, hooks and serialising.
// Measured: the framework took half of the process' time for a send. What is done is the same operation as everywhere.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../accounts/directory.ts';
import { Problem } from '../errors.ts';
import { parseJson, readBody } from '../http-body.ts';
import { requireScope } from '../operations/operation.ts';
import { readInput } from '../operations/read-input.ts';
import { sendEmail } from '../operations/send-email.ts';
import { OUR_FAULT } from '../operations/status.ts';
import { answerProblem, limitHeaders } from './errors.ts';
import type { RestDeps } from './server.ts';

export type BareHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Takes POST /v1/send and leaves everything else to `otherwise`. */
export function withSendDoor(deps: RestDeps, otherwise: BareHandler): BareHandler {
  return (request, response) => {
    if (request.method === 'POST' && request.url === '/v1/send') {
      void answerSend(deps, request, response);
    } else otherwise(request, response);
  };
}

async function answerSend(
  deps: RestDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let caller: Caller | undefined;
  let release: (() => void) | undefined;
  try {
    // Key, plan and scope are judged before a byte of the body is read.
    caller = await deps.directory.authenticate(headerOf(request, 'x-api-key'));
    requireScope(caller, sendEmail.scope);
    requireJson(request);
    const body = await readBody(request, deps.bodyBudget);
    release = body.release;
    const input = readInput(sendEmail.input, parseJson(body.bytes));
    const { answer, limit } = await sendEmail.run(deps, caller, input, {
      door: 'rest',
      idempotencyKey: headerOf(request, 'idempotency-key'),
    });
    deps.metrics.accepted.inc();
    if (deps.log.isLevelEnabled('info')) {
      deps.log.info(
        { request: requestId(request), account: caller.accountId, message: answer.id },
        'accepted',
      );
    }
    respond(response, 202, JSON.stringify(answer), limit ? limitHeaders(limit) : {});
  } catch (error) {
    refuse(deps, request, response, caller, error);
  } finally {
    release?.();
  }
}

function refuse(
  deps: RestDeps,
  request: IncomingMessage,
  response: ServerResponse,
  caller: Caller | undefined,
  error: unknown,
): void {
  const ids = { request: requestId(request), account: caller?.accountId };
  if (error instanceof Problem) {
    deps.metrics.refused.inc({ code: error.code });
    deps.log.info({ ...ids, code: error.code, err: error.cause }, 'refused');
    const { status, headers, body } = answerProblem(error);
    respond(response, status, JSON.stringify(body), headers);
  } else {
    deps.log.error({ ...ids, err: error }, 'a request failed');
    respond(response, OUR_FAULT.status, JSON.stringify({ detail: OUR_FAULT.detail }), {});
  }
  // What is left of the body is neither kept nor waited for.
  if (!request.complete) request.resume();
}

/** Adds to the headers it is given: they are made for this answer. */
function respond(
  response: ServerResponse,
  status: number,
  json: string,
  headers: Record<string, string | number>,
): void {
  headers['content-type'] = 'application/json; charset=utf-8';
  headers['content-length'] = Buffer.byteLength(json);
  response.writeHead(status, headers);
  response.end(json);
}

function requireJson(request: IncomingMessage): void {
  const type = request.headers['content-type'];
  if (type === undefined || !/^application\/json\s*(;|$)/i.test(type)) {
    throw new Problem('invalid', 'Send the body as JSON, with Content-Type: application/json.');
  }
}

/** Only asked for where it is logged. */
const requestId = (request: IncomingMessage): string =>
  headerOf(request, 'x-request-id') ?? `req_${randomUUID()}`;

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
