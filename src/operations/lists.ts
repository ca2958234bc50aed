// Lists: every list is read page by page in the same way: `limit` and `cursor` in, `{data,
// has_more, next}` out.
import { z } from 'zod';
import { Problem } from '../errors.ts';
import { type IdPrefix, readUuid } from '../ids.ts';

/** The input fields of every list. */
export const page = {
  limit: z
    .number()
    .int()
    .min(1)
    .max(100)
    .default(25)
    .describe('How many to return: 1 to 100, 25 by default.'),
  cursor: z
    .string()
    .max(500)
    .optional()
    .describe('Where to continue: `next` of the previous answer.'),
};

/** For lists that are short by nature: the whole list, unless a limit is given. */
export const pageOfFew = {
  limit: page.limit.unwrap().optional().describe('How many to return: 1 to 100. Without it: all.'),
  cursor: page.cursor,
};

/** Agents get these lists whole. */
export const WHOLE_FOR_AGENTS = ['limit', 'cursor'];

/**
 * For lists that continue after an id: any other text would return the first page again and again.
 */
export function checkCursor(prefix: IdPrefix, cursor: string | undefined): void {
  if (cursor === undefined || readUuid(prefix, cursor) !== undefined) return;
  throw wrongCursor();
}

export const wrongCursor = (): Problem =>
  new Problem('invalid', 'cursor: pass `next` of the previous answer, or leave it out.', {
    at: 'cursor',
  });

/**
 * For a list that continues after text from others, such as an address: encoded so that nobody
 * reads it there, least of all an agent, which would not see it marked as someone else's.
 */
export const hidePlace = (place: string): string => Buffer.from(place).toString('base64url');

export function readPlace(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const place = Buffer.from(cursor, 'base64url').toString();
  if (hidePlace(place) !== cursor) throw wrongCursor();
  return place;
}

/** Kept apart from the schemas' own descriptions, which everyone sees. */
const lists = z.registry<{ items: string }>();

/** The output of a list; `items` is the list's name for agents, such as `suppressions`. */
export const listOf = <Item extends z.ZodType>(items: string, item: Item) =>
  z
    .object({
      data: z.array(item).describe('What was found on this page.'),
      has_more: z.boolean().describe('Whether there is more.'),
      next: z
        .string()
        .nullable()
        .describe('Pass it as `cursor` to continue; null: this is the last page.'),
    })
    .register(lists, { items });

/** The name that agents see, if the schema is a list's. */
export const itemsOf = (output: z.ZodType): string | undefined => lists.get(output)?.items;

export interface Listed<Item> {
  data: Item[];
  has_more: boolean;
  next: string | null;
}

export const listed = <Item>(data: Item[], next: string | null): Listed<Item> => ({
  data,
  has_more: next !== null,
  next,
});

/** For features that return up to `limit` rows after a cursor: a full page may have a next one. */
export const pageOf = <Row, Item>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => string,
  show: (row: Row) => Item,
): Listed<Item> =>
  listed(rows.map(show), rows.length < limit ? null : cursorOf(rows[rows.length - 1]!));

/**
 * For a list that was read as a whole. The cursor holds the last item of its page and the place
 * after it: if that item is gone by then, the next one has moved up by one.
 */
export function pageOutOf<Item>(
  all: readonly Item[],
  { limit = all.length, cursor }: { limit?: number | undefined; cursor?: string | undefined },
  nameOf: (item: Item) => string,
): Listed<Item> {
  const place = readPlace(cursor);
  const begin = place === undefined ? 0 : placeBehind(all.map(nameOf), place);
  const end = begin + limit;
  const last = all[end - 1];
  return listed(
    all.slice(begin, end),
    last === undefined || end >= all.length ? null : hidePlace(`${end}.${nameOf(last)}`),
  );
}

function placeBehind(names: readonly string[], cursor: string): number {
  const [, digits, name] = /^(\d{1,9})\.(.+)$/s.exec(cursor) ?? [];
  if (name === undefined) throw wrongCursor();
  const place = Number(digits);
  if (names[place - 1] === name) return place;
  const moved = names.indexOf(name);
  return moved < 0 ? Math.max(0, place - 1) : moved + 1;
}
