// How the client makes calls: one request, retried if that is safe, and lists that are read page by
// page. Only fetch is used, so that it runs in Node, in browsers and at the edge.

export interface ClientOptions {
  /** `sm_live_…`, or `sm_test_…` in tests. Keep it on your server. */
  apiKey?: string;
  /** Where the service runs, such as `https://mail.example.com`. */
  baseUrl: string;
  /** How often a call is retried after a temporary fault; 2 by default. */
  retries?: number;
  /** More header fields for every call. */
  headers?: Record<string, string>;
  fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  /**
   * Makes a send safe to repeat: the same key within 24 hours sends nothing twice. A send without
   * one gets a generated key.
   */
  idempotencyKey?: string;
  /**
   * The `etagOf` an earlier answer: the change is refused with 412 if something else changed it
   * since.
   */
  ifMatch?: string;
  signal?: AbortSignal;
}

export interface Page<Item> {
  data: Item[];
  has_more: boolean;
  next: string | null;
}

/** A list: await it for one page, or loop over it with `for await` for everything. */
export interface Pages<Item> extends PromiseLike<Page<Item>>, AsyncIterable<Item> {}

export interface Fault {
  path: string;
  message: string;
  line?: number;
  column?: number;
}

/** What is wrong with one email of a batch, counted from 0. */
export interface BatchFault {
  index: number;
  detail: string;
  code: string;
  faults: Fault[];
}

/** A refusal: what is wrong and what to do, as the service says it. */
export class SandmartinError extends Error {
  override readonly name = 'SandmartinError';
  /** The HTTP status; 0: the service did not answer. */
  readonly status: number;
  /** The kind of problem, such as `invalid` or `over-limit`. */
  readonly code: string;
  /** What is wrong where. */
  readonly faults: readonly Fault[];
  /** For a batch: what is wrong with which of its emails. */
  readonly errors: readonly BatchFault[];
  /** Seconds to wait before trying again. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    problem: {
      detail: string;
      code?: string;
      faults?: readonly Fault[];
      errors?: readonly BatchFault[];
    },
    more: { retryAfter?: number | undefined; cause?: unknown } = {},
  ) {
    super(problem.detail, { cause: more.cause });
    this.status = status;
    this.code = problem.code ?? 'unknown';
    this.faults = problem.faults ?? [];
    this.errors = problem.errors ?? [];
    this.retryAfter = more.retryAfter;
  }
}

export interface RouteShape {
  readonly method: string;
  readonly path: string;
  readonly sends?: true;
  readonly list?: true;
  readonly ifMatch?: string;
}

type Input = Record<string, unknown>;

export function callRoute(
  client: ClientOptions,
  route: RouteShape,
  input: Input = {},
  options: CallOptions = {},
): Promise<unknown> {
  const { url, init } = requestOf(client, route, input, options);
  return withRetries(client, route, options.signal, () => once(client, url, init));
}

/** Path, query, body and headers from one object of input. */
function requestOf(
  client: ClientOptions,
  { method, path, sends, ifMatch }: RouteShape,
  input: Input,
  { idempotencyKey, ifMatch: etag, signal }: CallOptions,
): { url: string; init: RequestInit } {
  const rest = { ...input };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return encodeURIComponent(String(value));
  });
  const headers: Record<string, string> = { accept: 'application/json', ...client.headers };
  if (client.apiKey !== undefined) headers['x-api-key'] = client.apiKey;
  if (sends) headers['idempotency-key'] = idempotencyKey ?? globalThis.crypto.randomUUID();
  if (ifMatch !== undefined && rest[ifMatch] !== undefined) {
    headers['if-match'] = `"${rest[ifMatch]}"`;
    delete rest[ifMatch];
  }
  if (etag !== undefined) headers['if-match'] = etag;
  const init: RequestInit = { method, headers, ...(signal === undefined ? {} : { signal }) };
  const base = client.baseUrl.replace(/\/+$/, '');
  if (method === 'GET' || method === 'DELETE') {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(rest)) {
      if (value !== undefined && value !== '' && value !== null) query.set(name, String(value));
    }
    return { url: `${base}${filled}${query.size > 0 ? `?${query}` : ''}`, init };
  }
  headers['content-type'] = 'application/json';
  return { url: base + filled, init: { ...init, body: JSON.stringify(rest) } };
}

async function once(client: ClientOptions, url: string, init: RequestInit): Promise<unknown> {
  const fetch = client.fetch ?? globalThis.fetch;
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, init);
    text = await response.text();
  } catch (cause) {
    init.signal?.throwIfAborted();
    const detail = 'The service did not answer. Check that it is running and can be reached.';
    throw new SandmartinError(0, { detail, code: 'unreachable' }, { cause });
  }
  if (response.ok) return noteETag(response, answerIn(response, text));
  throw new SandmartinError(response.status, problemIn(response, text), {
    retryAfter: Number(response.headers.get('retry-after')) || undefined,
  });
}

const etags = new WeakMap<object, string>();

function noteETag({ headers }: Response, answer: unknown): unknown {
  const etag = headers.get('etag');
  if (etag !== null && typeof answer === 'object' && answer !== null) etags.set(answer, etag);
  return answer;
}

/** The ETag that came with an answer; undefined: it has none. */
export const etagOf = (answer: object): string | undefined => etags.get(answer);

function answerIn({ status }: Response, text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch (cause) {
    const detail = `The answer (${status}) is not JSON. Check that baseUrl is the address of the service.`;
    throw new SandmartinError(status, { detail }, { cause });
  }
}

/** A proxy in between may answer in its own format. */
function problemIn(response: Response, text: string): { detail: string; code?: string } {
  try {
    const body = JSON.parse(text);
    if (typeof body.detail === 'string') return body;
  } catch {}
  return { detail: `The service answered ${response.status} ${response.statusText}.` };
}

const LONGEST_WAIT_SECONDS = 30;

async function withRetries<Answer>(
  { retries = 2 }: ClientOptions,
  route: RouteShape,
  signal: AbortSignal | undefined,
  call: () => Promise<Answer>,
): Promise<Answer> {
  for (let tried = 0; ; tried++) {
    try {
      return await call();
    } catch (error) {
      const fault = error instanceof SandmartinError ? error : undefined;
      if (fault === undefined || tried >= retries || !mayPass(fault, route)) throw error;
      const waitSeconds = fault.retryAfter ?? 0.2 * 2 ** tried * (1 + Math.random());
      if (waitSeconds > LONGEST_WAIT_SECONDS) throw error;
      await pause(waitSeconds * 1000, signal);
    }
  }
}

/** Until it is time to try again, or the caller aborts. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((over) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      over();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
  signal?.throwIfAborted();
}

/**
 * After 429, and if the service says that the relay is down, nothing was done. Otherwise (also
 * after the 502 of a proxy) that is not certain: only what may be done twice is retried.
 */
function mayPass({ status, code }: SandmartinError, { method, sends }: RouteShape): boolean {
  if (status === 429 || code === 'relay-down') return true;
  return (status === 0 || status >= 500) && (sends === true || SAFE.includes(method));
}

const SAFE = ['GET', 'PUT', 'DELETE'];

export function pagesOf<Item>(
  read: (cursor: string | undefined) => Promise<Page<Item>>,
  cursor?: string,
): Pages<Item> {
  return {
    // biome-ignore lint/suspicious/noThenProperty: a list can be awaited for one page
    then: (done, failed) => read(cursor).then(done, failed),
    async *[Symbol.asyncIterator]() {
      let next: string | null | undefined = cursor;
      do {
        const page: Page<Item> = await read(next ?? undefined);
        yield* page.data;
        next = page.next;
      } while (next !== null);
    },
  };
}
