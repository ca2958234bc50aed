// POST /v1/send: the one hot route, without the framework's routing, hooks and serialising, and
// mostly without node:http. Measured: the framework took half of the process' time for a send. The
// work is the same operation as everywhere.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../accounts/directory.ts';
import { Problem } from '../errors.ts';
import {
  answerJson,
  type HttpAnswer,
  type HttpHandler,
  oneOf,
  writeAnswer,
} from '../http/answer.ts';
import { apiKeyIn } from '../http/api-key.ts';
import type { ReadBody } from '../http/body.ts';
import { readJson } from '../http/json-bytes.ts';
import type { AnswerPlain } from '../http/plain-requests.ts';
import { requestIdOf } from '../http/request-id.ts';
import { requireScope } from '../operations/operation.ts';
import { readInput } from '../operations/read-input.ts';
import { limitHeaders, refuse, warningHeader } from '../operations/refusal.ts';
import { sendEmail } from '../operations/send-email.ts';
import { fewAtATime } from '../process/few-at-a-time.ts';
import { acceptSend } from '../sending/accept.ts';
import type { RestDeps } from './deps.ts';

/** Takes POST /v1/send and leaves everything else to `otherwise`. */
export function withSendDoor(deps: RestDeps, otherwise: HttpHandler): HttpHandler {
  return (request, response) => {
    if (request.method === 'POST' && SEND.test(request.url ?? '')) {
      void answerRequest(deps, request, response);
    } else otherwise(request, response);
  };
}

/** As Fastify matches its routes: with or without a trailing slash and a query. */
const SEND = /^\/v1\/send\/?(?:\?|$)/;

/** The same for requests that took the short path. */
export const answerPlainSend =
  (deps: RestDeps): AnswerPlain =>
  ({ fields, body }, socket) => {
    const field = (name: string) => fields.get(name);
    if (!deps.asking.asked.own) deps.asking.noteHost(field);
    return answerSend(deps, {
      peer: () => socket.remoteAddress,
      field,
      readBody: () => ({ bytes: body, release: () => undefined }),
    });
  };

async function answerRequest(
  deps: RestDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const answer = await answerSend(deps, {
    peer: () => request.socket.remoteAddress,
    field: (name) => oneOf(request.headers[name]),
    readBody: ({ keyId }) => deps.bodies.read(request, { key: keyId ?? undefined }),
  });
  writeAnswer(response, answer);
}

/** A send, however its bytes came. */
interface SendCall {
  /** Address at the other end of the connection. */
  peer: () => string | undefined;
  /** By its lower-case name. */
  field: (name: string) => string | undefined;
  readBody: (caller: Caller) => ReadBody | Promise<ReadBody>;
}

/** Two milliseconds of work, after which other accounts have their turn, whatever keys they use. */
const mayStart = fewAtATime(16);

async function answerSend(deps: RestDeps, call: SendCall): Promise<HttpAnswer> {
  const request = requestIdOf(call.field('x-request-id'));
  let caller: Caller | undefined;
  let release: (() => void) | undefined;
  try {
    // Plan and scope, too, are judged before the body is read.
    const known = deps.directory.authenticate(keyOf(call), () =>
      deps.addressOf(call.peer(), call.field('x-forwarded-for')),
    );
    caller = known instanceof Promise ? await known : known;
    const itsTurn = mayStart(caller.accountId);
    if (itsTurn !== undefined) await itsTurn;
    requireScope(caller, sendEmail.scope);
    requireJson(call.field('content-type'));
    const reading = call.readBody(caller);
    let body: ReadBody | undefined = reading instanceof Promise ? await reading : reading;
    release = body.release;
    deps.loopWatch.note('send', caller.accountId);
    const json = readJson(body.bytes);
    // Only what was parsed from the 25 MB is kept while the email is rendered and written.
    body = undefined;
    const input = readInput(sendEmail.input, json instanceof Promise ? await json : json);
    const { answer, limit, warnings } = await acceptSend(deps, caller, input, {
      door: 'rest',
      idempotencyKey: call.field('idempotency-key'),
    });
    if (deps.log.isLevelEnabled('info')) {
      deps.log.info({ request, account: caller.accountId, message: answer.id }, 'accepted');
    }
    const headers = limit === null ? {} : limitHeaders(limit);
    if (warnings.length > 0) Object.assign(headers, warningHeader(warnings));
    return answerJson(202, answer, request, headers);
  } catch (error) {
    const about = { door: 'rest', request, account: caller?.accountId };
    const { status, headers, body } = refuse(deps, about, error);
    return answerJson(status, body, request, headers);
  } finally {
    release?.();
  }
}

function requireJson(type: string | undefined): void {
  if (type === undefined || !/^application\/json\s*(;|$)/i.test(type)) {
    throw new Problem('invalid', 'Send the body as JSON, with Content-Type: application/json.');
  }
}

const keyOf = ({ field }: SendCall): string | undefined =>
  apiKeyIn(field('x-api-key'), field('authorization'));
