// What Fastify and node:http refuse by themselves, in the contract's words and statuses.
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Problem, type ProblemCode } from '../errors.ts';
import { problemOf } from '../process/connection-fault.ts';

/**
 * Also what Fastify itself refuses, in the contract's words and statuses; undefined: the fault is
 * ours.
 */
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
  const [status, detail, code = 'invalid'] = NO_REQUEST[error.code ?? ''] ?? NOT_HTTP;
  const json = JSON.stringify({ detail, code });
  socket.write(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
  );
  socket.destroySoon();
}

const NO_REQUEST: Record<string, [status: number, detail: string, code?: ProblemCode]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time. Send it again.', 'too-slow'],
  HPE_HEADER_OVERFLOW: [
    431,
    'The header fields are larger than 16 KB. Send fewer or shorter ones.',
  ],
};
const NOT_HTTP: [number, string, undefined?] = [400, 'This is not a complete HTTP/1.1 request.'];
