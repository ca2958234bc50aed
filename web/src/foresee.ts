// What pages show of a change before the server has answered. A change says how each item that was
// read will look (operations.ts); while it is under way, reads show that. Nothing is stored until
// it succeeds: a refusal has nothing to undo, and one of two changes does not undo the other.
import { type Mutation, useMutationState } from '@tanstack/react-query';
import { useCallback } from 'react';

/** By the name of a read: an item as it will be; null: it will be gone. */
export type Foresight = Record<string, (item: never, input: never) => unknown>;

/** For a mutation's `meta`. */
export const foreseeing = (foresight: Foresight) => ({ foresight });

/** What was read as `name`, as it will be once every change under way has succeeded. */
export function useForesight<Data>(name: string): (data: Data) => Data {
  const underWay = useMutationState({
    filters: { status: 'pending', predicate: (mutation) => name in foresightOf(mutation) },
    select: (mutation) => mutation as Mutation,
  });
  return useCallback(
    (data: Data) =>
      underWay.reduce(
        (shown, mutation) =>
          asForeseen(shown, foresightOf(mutation)[name]!, mutation.state.variables),
        data,
      ),
    [underWay, name],
  );
}

const foresightOf = ({ meta }: Pick<Mutation, 'meta'>): Foresight =>
  (meta as Partial<ReturnType<typeof foreseeing>> | undefined)?.foresight ?? {};

type Shape = { pages: unknown[] } | { data: unknown[] } | object;

/** The same for one item, for a list, and for a list that was read page by page. */
export function asForeseen<Data>(data: Data, foresee: Foresight[string], input: unknown): Data {
  const become = foresee as (item: unknown, input: unknown) => unknown;
  const change = (shape: Shape): unknown => {
    if ('pages' in shape) return { ...shape, pages: shape.pages.map((it) => change(it as Shape)) };
    if ('data' in shape && Array.isArray(shape.data)) {
      const rows = shape.data.map((row) => become(row, input)).filter((row) => row !== null);
      return { ...shape, data: rows };
    }
    return become(shape, input) ?? shape;
  };
  return (data === undefined ? data : change(data as Shape)) as Data;
}
