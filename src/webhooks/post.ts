// One POST of a webhook and how it ended, as a value. attempt.ts calls it with an agent of address-guard.ts and records the result.
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
  /** The start of the answer's body, whatever its encoding, as text a database takes. */
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

/** Never throws for what the network or the receiver does, only for faults of ours. Redirects are not followed. */
export async function postWebhook(
  agent: Dispatcher,
  { url, body, headers, timeoutMs = 15_000, maxBodyBytes = 16_384 }: WebhookPost,
): Promise<PostResult> {
  const { origin, pathname, search } = new URL(url);
  const startedMs = performance.now();
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  const result: PostResult = { ok: false, responseTruncated: false, durationMs: 0 };
  try {
    const response = await agent.request({
      origin,
      path: pathname + search,
      method: 'POST',
      headers,
      body,
      signal: deadline.signal,
      // The deadline covers both.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    result.status = response.statusCode;
    await readStart(response.body, maxBodyBytes, result);
    result.error = statusError(response.statusCode);
  } catch (error) {
    result.error = deadline.signal.aborted
      ? { kind: 'timeout', detail: `There was no complete answer within ${timeoutMs / 1000} s.` }
      : networkError(error);
  } finally {
    clearTimeout(timer);
  }
  result.ok = result.error === undefined;
  result.durationMs = Math.round(performance.now() - startedMs);
  return result;
}

/** Fills in the body as it comes, so that what was there before a fault is kept. */
async function readStart(
  stream: Dispatcher.ResponseData['body'],
  maxBytes: number,
  result: PostResult,
): Promise<void> {
  // `stream: true` holds back a character cut in half instead of showing it as damage.
  const decoder = new TextDecoder();
  let left = maxBytes;
  result.responseBody = '';
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const kept = chunk.subarray(0, left);
    left -= kept.length;
    // PostgreSQL's text has no NUL.
    result.responseBody += decoder.decode(kept, { stream: true }).replaceAll('\0', '\ufffd');
    if (kept.length < chunk.length) {
      result.responseTruncated = true;
      // Leaving the loop destroys the stream, and with it the connection: nobody streams at us for longer.
      break;
    }
  }
}

function statusError(status: number): PostError | undefined {
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

/** A wrong argument, or an agent closed while we shut down: nothing to hold against the receiver. */
const OURS = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_CLOSED', 'UND_ERR_DESTROYED']);

const SENTENCE: Partial<Record<PostErrorKind, string>> = {
  timeout: 'No connection came about in time.',
  dns: 'The host name could not be resolved.',
  refused: 'The connection was refused: nothing listens on that port.',
  unreachable: 'The endpoint could not be reached.',
  reset: 'The connection was closed before the answer was complete.',
  tls: 'No trusted TLS connection came about.',
  protocol: 'The answer was not valid HTTP.',
};

function networkError(error: unknown): PostError {
  const thrown = error as NodeJS.ErrnoException;
  // undici 7.30 means to give its parser's errors a code, and gives none.
  const code = thrown.code ?? (thrown.name === 'HTTPParserError' ? 'HPE' : undefined);
  if (code === undefined || OURS.has(code)) throw error;
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
