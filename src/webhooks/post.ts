// One POST of a webhook and how it ended, as a value. attempt.ts calls it with an agent from
// address-guard.ts and records the result.
import type { Dispatcher } from 'undici';
import { BLOCKED_ADDRESS } from './address-guard.ts';

export const POST_ERRORS = [
  'timeout',
  'dns',
  'blocked-address',
  'refused',
  'unreachable',
  'reset',
  'tls',
  'protocol',
  'redirect',
  'gone',
  'status',
] as const;
export type PostErrorKind = (typeof POST_ERRORS)[number];

export interface PostError {
  kind: PostErrorKind;
  /** A sentence for the owner of the endpoint. */
  detail: string;
}

export interface PostResult {
  /** 2xx, answered in time. */
  ok: boolean;
  status?: number;
  /** The start of the answer's body. */
  responseBody?: string;
  responseTruncated: boolean;
  durationMs: number;
  error?: PostError;
}

export interface WebhookPost {
  url: string;
  body: Buffer;
  headers: Record<string, string>;
  /** For all of it: name, connection, headers and body. */
  timeoutMs?: number;
  maxBodyBytes?: number;
}

/**
 * Never throws because of the network or the endpoint, only for faults of ours. Redirects are not
 * followed. Uses undici's dispatch, not its request: a stream and an AbortSignal for each POST cost
 * 261 µs of CPU, this 182.
 */
export function postWebhook(
  agent: Dispatcher,
  { url, body, headers, timeoutMs = 15_000, maxBodyBytes = 16_384 }: WebhookPost,
): Promise<PostResult> {
  const { origin, pathname, search } = new URL(url);
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let room = maxBodyBytes;
    let status: number | undefined;
    let request: Dispatcher.DispatchController | undefined;
    let done = false;

    const finish = (error: PostError | undefined) => {
      done = true;
      clearTimeout(deadline);
      resolve({
        ok: error === undefined,
        ...(status === undefined ? {} : { status, responseBody: toText(chunks, room < 0) }),
        responseTruncated: room < 0,
        durationMs: Math.round(performance.now() - startedMs),
        ...(error === undefined ? {} : { error }),
      });
    };
    const deadline = setTimeout(() => {
      const detail = `There was no complete answer within ${timeoutMs / 1000} s.`;
      finish({ kind: 'timeout', detail });
      request?.abort(new Error(detail));
    }, timeoutMs);

    agent.dispatch(
      // The deadline covers headers and body.
      {
        origin,
        path: pathname + search,
        method: 'POST',
        headers,
        body,
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      {
        onRequestStart(controller) {
          request = controller;
          // The connection opened too late: what is already recorded as failed must not be sent.
          if (done) controller.abort(new Error('too late'));
        },
        onResponseStart(_controller, statusCode) {
          // 1xx only announce an answer.
          if (statusCode >= 200) status = statusCode;
        },
        onResponseData(controller, chunk) {
          if (done) return;
          if (room > 0) chunks.push(chunk.subarray(0, room));
          room -= chunk.length;
          if (room >= 0) return;
          finish(statusError(status));
          // This closes the connection, so the response cannot go on.
          controller.abort(new Error('enough'));
        },
        onResponseEnd() {
          if (!done) finish(statusError(status));
        },
        onResponseError(_controller, error) {
          if (done) return;
          const known = networkError(error);
          if (known !== undefined) return finish(known);
          clearTimeout(deadline);
          reject(error);
        },
      },
    );
  });
}

/**
 * Text that the database accepts, whatever the bytes are: a truncated character is left out, and
 * PostgreSQL has no NUL.
 */
function toText(chunks: Buffer[], truncated: boolean): string {
  if (chunks.length === 0) return '';
  const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  const text = truncated
    ? new TextDecoder().decode(bytes, { stream: true })
    : bytes.toString('utf8');
  return text.replaceAll('\0', '\ufffd');
}

function statusError(status = 0): PostError | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status >= 300 && status < 400) {
    return {
      kind: 'redirect',
      detail: `The endpoint answered ${status}. Redirects are not followed: register the final URL.`,
    };
  }
  if (status === 410) {
    return { kind: 'gone', detail: 'The endpoint answered 410 Gone: it wants no more events.' };
  }
  return {
    kind: 'status',
    detail: `The endpoint answered ${status}; only 2xx counts as received.`,
  };
}

const KIND_OF_CODE: Record<string, PostErrorKind> = {
  [BLOCKED_ADDRESS]: 'blocked-address',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  ETIMEDOUT: 'timeout',
  ENOTFOUND: 'dns',
  ENODATA: 'dns',
  ETIMEOUT: 'dns',
  ESERVFAIL: 'dns',
  EREFUSED: 'dns',
  EBADRESP: 'dns',
  EBADNAME: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  EAI_NODATA: 'dns',
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  EPROTO: 'tls',
};

/** A wrong argument, or an agent closed while we shut down: not the endpoint's fault. */
const OURS = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_CLOSED', 'UND_ERR_DESTROYED']);

const SENTENCE: Partial<Record<PostErrorKind, string>> = {
  timeout: 'No connection was made in time.',
  dns: 'The host name could not be resolved.',
  refused: 'The connection was refused: nothing listens on that port.',
  unreachable: 'The endpoint could not be reached.',
  reset: 'The connection was closed before the answer was complete.',
  tls: 'No trusted TLS connection could be made.',
  protocol: 'The answer was not valid HTTP.',
};

function networkError(thrown: NodeJS.ErrnoException): PostError | undefined {
  // undici 7.30 means to give its parser's errors a code, and gives none.
  const code = thrown.code ?? (thrown.name === 'HTTPParserError' ? 'HPE' : undefined);
  if (code === undefined || OURS.has(code)) return undefined;
  const kind = KIND_OF_CODE[code] ?? kindOfFamily(code);
  const detail = kind === 'blocked-address' ? thrown.message : `${SENTENCE[kind]} (${code})`;
  return { kind, detail };
}

function kindOfFamily(code: string): PostErrorKind {
  if (code.startsWith('HPE') || code.startsWith('UND_ERR_')) return 'protocol';
  // Node's "X509 certificate error codes" and OpenSSL's own.
  if (
    /^(ERR_TLS|ERR_SSL|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|INVALID_|PATH_LENGTH|HOSTNAME_|ERROR_IN_)/.test(
      code,
    )
  ) {
    return 'tls';
  }
  return 'unreachable';
}
