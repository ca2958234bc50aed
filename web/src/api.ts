// The client of the dashboard's API: calls by the names of the contract's route table, as plain
// promises and as query hooks. Before it: pages. After it: src/dashboard on the server, which
// answers by the same table.
import {
  keepPreviousData,
  QueryClient,
  type QueryKey,
  queryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { SandmartinError } from '../../src/client/calls.ts';
import {
  ACCOUNT_HEADER,
  API_PREFIX,
  type Api,
  DASHBOARD_HEADER,
  ROUTES,
  type RouteName,
} from '../../src/dashboard/contract.ts';
import type { Page, Refusal } from '../../src/dashboard/views/common.ts';
import type { SessionState } from '../../src/dashboard/views/session.ts';

type Part<Name extends RouteName, Key extends string> =
  Api[Name] extends Record<Key, infer Value> ? Value : never;
export type Answer<Name extends RouteName> = Api[Name]['answer'];

/**
 * What a call needs besides its name: `params` of the path, `query`, `body`; only those its route
 * has.
 */
export type Request<Name extends RouteName> = ('params' extends keyof Api[Name]
  ? { params: Part<Name, 'params'> }
  : unknown) &
  ('query' extends keyof Api[Name] ? { query?: Part<Name, 'query'> } : unknown) &
  ('body' extends keyof Api[Name] ? { body: Part<Name, 'body'> } : unknown);

/** Left out if nothing is needed. */
type Arguments<Name extends RouteName> =
  Record<never, never> extends Request<Name> ? [request?: Request<Name>] : [request: Request<Name>];

interface AnyRequest {
  params?: Record<string, string>;
  query?: object;
  body?: unknown;
}

/** A refusal, in the server's own words. */
export class Refused extends SandmartinError {
  constructor(status: number, refusal: Refusal) {
    super(status, refusal);
  }
}

export function urlOf<Name extends RouteName>(name: Name, ...[request]: Arguments<Name>): string {
  const { params = {}, query = {} } = (request ?? {}) as AnyRequest;
  const path = ROUTES[name].path.replace(/:(\w+)/g, (_, key: string) =>
    encodeURIComponent(params[key] ?? ''),
  );
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(key, String(value));
  }
  return `.${API_PREFIX}${path}${search.size > 0 ? `?${search}` : ''}`;
}

export async function call<Name extends RouteName>(
  name: Name,
  ...args: Arguments<Name>
): Promise<Answer<Name>> {
  const { method } = ROUTES[name];
  const body = (args[0] as AnyRequest | undefined)?.body;
  const response = await fetch(urlOf(name, ...args), {
    method,
    headers: {
      accept: 'application/json',
      ...accountHeader(),
      ...(method === 'GET' ? {} : { [DASHBOARD_HEADER]: '1' }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new Refused(0, {
      detail: 'The service did not respond. Check that it is running, then try again.',
    });
  });
  if (response.ok) return (await response.json()) as Answer<Name>;
  throw new Refused(response.status, await refusalOf(response));
}

async function refusalOf(response: Response): Promise<Refusal> {
  const fallback = { detail: `The service answered ${response.status}.` };
  try {
    const body = (await response.json()) as Partial<Refusal>;
    return { ...fallback, ...body };
  } catch {
    return fallback;
  }
}

export const SESSION_KEY: QueryKey = ['getSession'];
/** Whether the session ended while a page is open: the page stays and asks for the password. */
export const SESSION_ENDED_KEY: QueryKey = ['sessionEnded'];

/** Whether another tab switched to another account, while this page belongs to the previous one. */
export const OTHER_ACCOUNT_KEY: QueryKey = ['otherAccount'];

const OF_THE_SESSION = [SESSION_KEY, SESSION_ENDED_KEY, OTHER_ACCOUNT_KEY].map(([name]) => name);

/** What was read of an account, next to what this tab knows about the session. */
export const isRead = ({ queryKey }: { queryKey: QueryKey }): boolean =>
  !OF_THE_SESSION.includes(queryKey[0]);

let queries: QueryClient | undefined;

/** As this tab knows it. */
export const accountShown = (): number | undefined =>
  queries?.getQueryData<SessionState>(SESSION_KEY)?.me?.account?.id;

/**
 * Tabs share a session, which may switch to another account: each request names the account it
 * means.
 */
export function accountHeader(): Record<string, string> {
  const id = accountShown();
  return id === undefined ? {} : { [ACCOUNT_HEADER]: String(id) };
}

export function createQueryClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        // A refusal is final; only silence and server faults are worth a retry.
        retry: (count, fault) =>
          count < 2 &&
          !(fault instanceof SandmartinError && fault.status >= 400 && fault.status < 500),
        throwOnError: false,
        // A page without a connection says so; otherwise it would seem to load forever.
        networkMode: 'always',
        refetchOnReconnect: true,
      },
      // Nor is a change postponed until the connection is back: whoever made it would think it was
      // done.
      mutations: { networkMode: 'always' },
    },
  });
  queries = client;
  const signedOut = (fault: unknown) => {
    if (!(fault instanceof SandmartinError)) return;
    if (isOtherAccount(fault)) client.setQueryData(OTHER_ACCOUNT_KEY, true);
    if (fault.status !== 401) return;
    const session = client.getQueryData<SessionState>(SESSION_KEY);
    if (session?.state === 'signed-in') client.setQueryData(SESSION_ENDED_KEY, true);
  };
  client.getQueryCache().config.onError = signedOut;
  client.getMutationCache().config.onError = signedOut;
  return client;
}

/** The shell's dialog says it (shell/other-account.tsx). */
export const isOtherAccount = (fault: unknown): boolean =>
  fault instanceof SandmartinError && fault.faults[0]?.path === ACCOUNT_HEADER;

/**
 * The shell asks over the page (shell/interruptions.tsx) for the password or the account. A 401
 * from the dashboard's own calls means a wrong password.
 */
export const isInterruption = (fault: unknown): boolean =>
  isOtherAccount(fault) ||
  (fault instanceof SandmartinError && fault.status === 401 && !(fault instanceof Refused));

/**
 * A read from the server, cached under the route's name, so that `useAction` can name what it
 * changes.
 */
export const answerOf = <Name extends RouteName>(name: Name, ...args: Arguments<Name>) =>
  queryOptions({ queryKey: [name, args[0] ?? null], queryFn: () => call(name, ...args) });

export function useApi<Name extends RouteName>(name: Name, ...args: Arguments<Name>) {
  return useQuery(answerOf(name, ...args));
}

const WATCH_EVERY_MS = 4000;

/** Reads what changes by itself, repeatedly while someone is looking. */
export function useWatched<Name extends RouteName>(name: Name, ...args: Arguments<Name>) {
  return useQuery({ ...answerOf(name, ...args), refetchInterval: WATCH_EVERY_MS });
}

type PagedName = {
  [Name in RouteName]: Answer<Name> extends Page<unknown> ? Name : never;
}[RouteName];

/**
 * Reads page by page, by `next` and `before`. `watched`: repeatedly, as long as only the first page
 * is shown.
 */
export function usePages<Name extends PagedName>(
  name: Name,
  request: Request<Name>,
  { watched = false } = {},
) {
  return useInfiniteQuery({
    queryKey: [name, request],
    queryFn: ({ pageParam }) => {
      const { query, ...rest } = request as AnyRequest;
      const paged = { ...rest, query: { ...query, before: pageParam } };
      return (call as (name: Name, request: unknown) => Promise<Answer<Name>>)(name, paged);
    },
    initialPageParam: undefined as string | undefined,
    // A new search replaces the rows once it has found some; until then they stay.
    placeholderData: keepPreviousData,
    getNextPageParam: (last) => (last as Page<unknown>).next ?? undefined,
    refetchInterval: ({ state }) =>
      watched && state.data?.pages.length === 1 ? WATCH_EVERY_MS : false,
  });
}

/** Performs an action; `changes` names the reads that are stale afterwards. */
export function useAction<Name extends RouteName>(
  name: Name,
  { changes = [], onDone }: { changes?: RouteName[]; onDone?: (answer: Answer<Name>) => void } = {},
) {
  const client = useQueryClient();
  return useMutation<Answer<Name>, Error, Request<Name>>({
    mutationFn: (request) =>
      (call as (name: Name, request: unknown) => Promise<Answer<Name>>)(name, request),
    onSuccess: (answer) => {
      for (const read of changes) void client.invalidateQueries({ queryKey: [read] });
      onDone?.(answer);
    },
  });
}
