// Problems as HTTP answers. `detail` is public; the cause is only logged.
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { problemOf } from '../connection-fault.ts';
import { Problem } from '../errors.ts';
import { STATUS_OF } from '../operations/status.ts';

export interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: { detail: string };
}

export function answerProblem(problem: Problem): ErrorAnswer {
  const headers: Record<string, string> = {};
  if (problem.retryAfterSeconds !== undefined) {
    headers['retry-after'] = String(Math.max(1, Math.ceil(problem.retryAfterSeconds)));
  }
  if (problem.limit) Object.assign(headers, limitHeaders(problem.limit));
  return { status: STATUS_OF[problem.code], headers, body: { detail: problem.detail } };
}

/** IETF draft "RateLimit header fields for HTTP". */
export function limitHeaders(limit: NonNullable<Problem['limit']>): Record<string, string> {
  return {
    'ratelimit-limit': String(limit.limit),
    'ratelimit-remaining': String(limit.remaining),
    'ratelimit-reset': String(limit.resetSeconds),
    'ratelimit-policy': `${limit.limit};w=${limit.windowSeconds}`,
  };
}

/** Also what Fastify itself refuses, in the contract's words and statuses; undefined: the fault is ours. */
export function asProblem(error: unknown): Problem | undefined {
  const known = problemOf(error);
  if (known !== undefined) return known;
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new Problem('invalid', 'Send the body as JSON, with Content-Type: application/json.');
  }
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new Problem('invalid', (error as Error).message);
  }
  return undefined;
}

/** What node:http gives up on before it is a request: to be answered by hand. */
export function answerNoRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, detail] = NO_REQUEST[error.code ?? ''] ?? NOT_HTTP;
  const json = JSON.stringify({ detail });
  socket.write(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
  );
  socket.destroySoon();
}

const NO_REQUEST: Record<string, [status: number, detail: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time. Send it again.'],
  HPE_HEADER_OVERFLOW: [
    431,
    'The header fields are larger than 16 KB. Send fewer or shorter ones.',
  ],
};
const NOT_HTTP: [number, string] = [400, 'This is not a whole HTTP/1.1 request.'];
