// The operations of the API as the pages call them: the typed client with the session instead of a
// key, as query hooks. Before it: pages. After it: src/rest/serve-operations.ts, the same routes
// that programs call.
import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useRef } from 'react';
import type { CallOptions, Page, Pages } from '../../src/client/calls.ts';
import type { Operations, ROUTES } from '../../src/client/operations.ts';
import { Sandmartin } from '../../src/client/sandmartin.ts';
import { accountHeader } from './api.ts';
import { asForeseen, type Foresight, foreseeing, useForesight } from './foresee.ts';
import { tellFault } from './parts/results.ts';

export type OperationName = keyof typeof ROUTES;

type Call<Name extends OperationName> = Name extends `${infer Group}.${infer Method}`
  ? Group extends keyof Operations
    ? Method extends keyof Operations[Group]
      ? Operations[Group][Method]
      : never
    : never
  : Name extends keyof Operations
    ? Operations[Name]
    : never;

export type Input<Name extends OperationName> =
  Call<Name> extends (input: infer Given, ...rest: never[]) => unknown ? Given : never;
export type Output<Name extends OperationName> =
  Call<Name> extends (...args: never[]) => infer Result
    ? Result extends Pages<infer Item>
      ? Page<Item>
      : Awaited<Result>
    : never;

/**
 * No key and no retries of its own: the cookie identifies the caller, and the query client retries.
 */
export const api = new Sandmartin({
  baseUrl: '.',
  headers: { 'x-sm-dashboard': '1' },
  retries: 0,
  fetch: (input, init) =>
    fetch(input, { ...init, headers: { ...(init?.headers as object), ...accountHeader() } }),
});

async function call<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  options: CallOptions = {},
): Promise<Output<Name>> {
  let at: unknown = api;
  for (const part of name.split('.')) at = (at as Record<string, unknown>)[part];
  return await (at as (...all: [Input<Name>, CallOptions]) => Promise<Output<Name>>)(
    input,
    options,
  );
}

const WATCH_EVERY_MS = 4000;

/**
 * A read from the server, cached under the operation's name, so that `useChange` can name what it
 * changes.
 */
export const readOf = <Name extends OperationName>(name: Name, input: Input<Name>) =>
  queryOptions({ queryKey: [name, input ?? null], queryFn: () => call(name, input) });

/** The same, page by page. */
export const rowsOf = <Name extends ListName>(name: Name, input: Input<Name>) =>
  infiniteQueryOptions({
    queryKey: [name, input ?? null],
    queryFn: ({ pageParam }) =>
      call(name, { ...(input as object), cursor: pageParam } as Input<Name>),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => (last as Page<unknown>).next ?? undefined,
  });

/** Reads in advance, for a page that is about to be shown; nobody waits for it. */
export const readAhead = <Name extends OperationName>(
  queries: QueryClient,
  name: Name,
  input: Input<Name>,
): void => void queries.prefetchQuery(readOf(name, input));

/** Reads, whatever is in the cache. */
export const readNow = <Name extends OperationName>(
  queries: QueryClient,
  name: Name,
  input: Input<Name>,
): Promise<Output<Name>> => queries.fetchQuery({ ...readOf(name, input), staleTime: 0 });

export const rowsAhead = <Name extends ListName>(
  queries: QueryClient,
  name: Name,
  input: Input<Name>,
): void => void queries.prefetchInfiniteQuery(rowsOf(name, input));

export function useRead<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  { watched = false, enabled = true, fresh = false } = {},
) {
  return useQuery({
    ...readOf(name, input),
    select: useForesight<Output<Name>>(name),
    refetchInterval: watched ? WATCH_EVERY_MS : false,
    // What was read a moment ago is not good enough.
    ...(fresh && { refetchOnMount: 'always' as const }),
    enabled,
  });
}

type ListName = {
  [Name in OperationName]: Output<Name> extends Page<unknown> ? Name : never;
}[OperationName];

type Row<Name extends ListName> = Output<Name> extends Page<infer Item> ? Item : never;

/**
 * Reads page by page; `rows` are those of all pages read so far. `watched`: repeatedly, as long as
 * only the first page is shown.
 */
export function useRows<Name extends ListName>(
  name: Name,
  input: Input<Name>,
  { watched = false, enabled = true } = {},
) {
  const pages = useInfiniteQuery({
    ...rowsOf(name, input),
    enabled,
    select: useForesight<InfiniteData<Output<Name>, string | undefined>>(name),
    // A new search replaces the rows once it has found some; until then they stay.
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      watched && state.data?.pages.length === 1 ? WATCH_EVERY_MS : false,
    // Every page is a call: after scrolling through hundreds, they are not all read again.
    refetchOnWindowFocus: ({ state }) => state.data?.pages.length === 1,
  });
  const rows = (pages.data?.pages ?? []).flatMap((page) => (page as Page<Row<Name>>).data);
  return { ...pages, rows };
}

/** One item of what a read returns. */
type ItemOf<Name extends OperationName> =
  Output<Name> extends Page<infer Item> ? Item : Output<Name>;

interface Change<Name extends OperationName> {
  /** The reads that are stale afterwards, besides those of `foresee`. */
  changes?: readonly OperationName[];
  /**
   * How each item of a read will look; null: it will be gone. Shown at once. If the change is
   * refused, the reason is shown and the items look as before.
   */
  foresee?: {
    [Read in OperationName]?: (item: ItemOf<Read>, input: Input<Name>) => ItemOf<Read> | null;
  };
  onDone?: (answer: Output<Name>) => void;
}

/** Retried after its answer was lost, a send keeps its key: nobody gets the email twice. */
function useKeyOfTry() {
  const last = useRef({ said: '', key: '' });
  return {
    keyOf: (input: unknown) => {
      const said = JSON.stringify(input);
      if (last.current.said !== said) {
        last.current = { said, key: crypto.getRandomValues(new Uint32Array(4)).join('-') };
      }
      return last.current.key;
    },
    isDone: () => {
      last.current = { said: '', key: '' };
    },
  };
}

/** Does something. */
export function useChange<Name extends OperationName>(
  name: Name,
  { changes = [], foresee, onDone }: Change<Name> = {},
) {
  const client = useQueryClient();
  const foresight = (foresee ?? {}) as Foresight;
  const { keyOf, isDone } = useKeyOfTry();
  return useMutation<Output<Name>, Error, Input<Name>>({
    mutationFn: (input) => call(name, input, { idempotencyKey: keyOf(input) }),
    onSuccess: (answer, input) => {
      isDone();
      for (const [read, become] of Object.entries(foresight)) {
        client.setQueriesData({ queryKey: [read] }, (data) => asForeseen(data, become, input));
      }
      for (const read of [...changes, ...Object.keys(foresight)]) {
        void client.invalidateQueries({ queryKey: [read] });
      }
      onDone?.(answer);
    },
    ...(foresee && {
      meta: foreseeing(foresight),
      // One after the other: a switch ends up as it was last set.
      scope: { id: name },
      // Here and not in the component that asked: its row may be out of sight by now.
      onError: tellFault,
    }),
  });
}
