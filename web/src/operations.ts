// The operations of the API as the pages call them: the typed client with the session instead of a
// key, as query hooks. Before it: pages. After it: src/rest/serve-operations.ts, the same routes
// that programs call.
import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { Page, Pages } from '../../src/client/calls.ts';
import type { Operations, ROUTES } from '../../src/client/operations.ts';
import { Sandmartin } from '../../src/client/sandmartin.ts';

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

/** No key and no retries of its own: the cookie says who asks, and the query client tries again. */
export const api = new Sandmartin({ baseUrl: '', headers: { 'x-sm-dashboard': '1' }, retries: 0 });

async function call<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
): Promise<Output<Name>> {
  let at: unknown = api;
  for (const part of name.split('.')) at = (at as Record<string, unknown>)[part];
  return await (at as (input: Input<Name>) => Promise<Output<Name>>)(input);
}

const WATCH_EVERY_MS = 4000;

/** Reads; kept under the operation's name, so that `useChange` can say what it changed. */
export function useRead<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  { watched = false, enabled = true } = {},
) {
  return useQuery({
    queryKey: [name, input ?? null],
    queryFn: () => call(name, input),
    refetchInterval: watched ? WATCH_EVERY_MS : false,
    enabled,
  });
}

type ListName = {
  [Name in OperationName]: Output<Name> extends Page<unknown> ? Name : never;
}[OperationName];

/** Reads page by page. `watched`: again and again, as long as nobody went past the first page. */
export function useRows<Name extends ListName>(
  name: Name,
  input: Input<Name>,
  { watched = false } = {},
) {
  return useInfiniteQuery({
    queryKey: [name, input ?? null],
    queryFn: ({ pageParam }) =>
      call(name, { ...(input as object), cursor: pageParam } as Input<Name>),
    initialPageParam: undefined as string | undefined,
    // Another search replaces the rows when it has found some; until then they stay.
    placeholderData: keepPreviousData,
    getNextPageParam: (last) => (last as Page<unknown>).next ?? undefined,
    refetchInterval: ({ state }) =>
      watched && state.data?.pages.length === 1 ? WATCH_EVERY_MS : false,
  });
}

/** Does something; `changes` names the reads that are stale afterwards. */
export function useChange<Name extends OperationName>(
  name: Name,
  {
    changes = [],
    onDone,
  }: { changes?: OperationName[]; onDone?: (answer: Output<Name>) => void } = {},
) {
  const client = useQueryClient();
  return useMutation<Output<Name>, Error, Input<Name>>({
    mutationFn: (input) => call(name, input),
    onSuccess: (answer) => {
      for (const read of changes) void client.invalidateQueries({ queryKey: [read] });
      onDone?.(answer);
    },
  });
}
