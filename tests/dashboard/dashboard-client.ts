// A browser without pages for the tests of the dashboard: calls routes by their names in the
// contract and keeps the cookie.

import type { MemberRole } from '../../src/accounts/scopes.ts';
import { Sandmartin, SandmartinError } from '../../src/client/sandmartin.ts';
import { API_PREFIX, type Api, ROUTES, type RouteName } from '../../src/dashboard/contract.ts';
import type { SecondFactorNeeded } from '../../src/dashboard/views/session.ts';
import { openSession } from '../../src/people/sessions.ts';
import { addUser, prepareUser, setMember } from '../../src/people/users.ts';
import { systemClock } from '../../src/process/clock.ts';
import type { Database } from '../../src/store/pool.ts';

export const PASSWORD = 'three unrelated words';

type Part<Name extends RouteName, Key extends string> =
  Api[Name] extends Record<Key, infer Value> ? { [K in Key]: Value } : { [K in Key]?: undefined };

export type Request<Name extends RouteName> = Part<Name, 'params'> &
  Part<Name, 'query'> &
  Part<Name, 'body'> & { headers?: Record<string, string | undefined> };

export interface Answer<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

/**
 * People of most tests have no second factor; those of second-factor.test.ts look for themselves.
 */
type AnswerOf<Name extends RouteName> = Exclude<Api[Name]['answer'], SecondFactorNeeded>;

/** What is refused answers this instead. */
export type Refused = { detail: string };

export interface DashboardClient {
  cookie: string | undefined;
  /** The API's operations, called as the pages call them. */
  api: Sandmartin;
  /** A path of the API, as a page asks for it; whatever it answers. */
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what the tests are about
  get(path: string): Promise<Answer<any>>;
  raw(name: RouteName, request?: LooseRequest): Promise<Response>;
  /** Fails unless it answers 2xx. */
  call<Name extends RouteName>(name: Name, request: Request<Name>): Promise<AnswerOf<Name>>;
  /** Whatever it answers. */
  try<Name extends RouteName>(
    name: Name,
    request?: LooseRequest,
  ): Promise<Answer<AnswerOf<Name> & Refused>>;
}

export interface LooseRequest {
  params?: Record<string, string> | undefined;
  query?: object | undefined;
  body?: unknown;
  headers?: Record<string, string | undefined>;
}

export function openClient(url: string, cookie?: string): DashboardClient {
  const fromOurPage = () => ({
    'x-sm-dashboard': '1',
    origin: url,
    ...(client.cookie === undefined ? {} : { cookie: client.cookie }),
  });
  const keepCookie = (response: Response): Response => {
    const set = response.headers.get('set-cookie');
    if (set !== null) client.cookie = set.split(';')[0];
    return response;
  };
  const client: DashboardClient = {
    cookie,

    api: new Sandmartin({
      baseUrl: url,
      retries: 0,
      fetch: async (input, init) =>
        keepCookie(
          await fetch(input, {
            ...init,
            headers: { ...(init?.headers as Record<string, string>), ...fromOurPage() },
          }),
        ),
    }),

    async get(path) {
      const response = keepCookie(await fetch(url + path, { headers: fromOurPage() }));
      const body = JSON.parse(await response.text());
      return { status: response.status, headers: response.headers, body };
    },

    async raw(name, { params = {}, query, body, headers = {} } = {}) {
      const route = ROUTES[name];
      const path = route.path.replace(/:(\w+)/g, (_, key) => encodeURIComponent(params[key] ?? ''));
      const search = new URLSearchParams(query as Record<string, string> | undefined).toString();
      const sent = {
        ...(route.method === 'GET' ? {} : { 'x-sm-dashboard': '1', origin: url }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(client.cookie === undefined ? {} : { cookie: client.cookie }),
        ...headers,
      };
      const response = await fetch(`${url}${API_PREFIX}${path}${search && `?${search}`}`, {
        method: route.method,
        headers: Object.entries(sent).filter(([, value]) => value !== undefined) as [
          string,
          string,
        ][],
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return keepCookie(response);
    },

    async try(name, request) {
      const response = await client.raw(name, request);
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.includes('json');
      return {
        status: response.status,
        headers: response.headers,
        body: (isJson ? JSON.parse(text) : text) as never,
      };
    },

    async call(name, request) {
      const answer = await client.try(name, request as LooseRequest);
      if (answer.status >= 300) {
        throw new Error(`${name} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      }
      return answer.body;
    },
  };
  return client;
}

let hashed: Promise<string> | undefined;
let made = 0;

/** A user with PASSWORD; hashing it takes time, so all share one hash. */
export async function makeUser(
  database: Database,
  wish: { accountId?: number; role?: MemberRole; operator?: boolean; email?: string },
): Promise<{ id: string; email: string }> {
  hashed ??= prepareUser({ email: 'a@example.com', name: 'A', password: PASSWORD }).then(
    ({ password }) => password,
  );
  const email = wish.email ?? `user${++made}@people.example`;
  const user = await addUser(database, systemClock, {
    email,
    name: `User of ${email}`,
    password: await hashed,
    operator: wish.operator ?? false,
  });
  if (wish.accountId !== undefined) {
    await setMember(database, wish.accountId, user.id, wish.role ?? 'owner');
  }
  return { id: user.id, email };
}

/** Signed in, without the time that a password takes. */
export async function openSignedIn(
  service: { url: string; database: Database },
  wish: Parameters<typeof makeUser>[1],
): Promise<DashboardClient & { userId: string; email: string }> {
  const user = await makeUser(service.database, wish);
  const { token } = await openSession(service.database, systemClock, user.id);
  return Object.assign(openClient(service.url, `sm_session=${token}`), {
    userId: user.id,
    email: user.email,
  });
}

/** What a call of the API answered: 200 where it was done. */
export async function statusOf(call: PromiseLike<unknown>): Promise<number> {
  try {
    await call;
    return 200;
  } catch (error) {
    if (error instanceof SandmartinError) return error.status;
    throw error;
  }
}

/**
 * Wrong tries of one place since then: five at once, one after a second more, one after two more,
 * after four …
 */
export const mostTriesSince = (startedMs: number): number =>
  5 + Math.floor(Math.log2(1 + (performance.now() - startedMs) / 1000));
