// Lists: every list is read page by page in the same way, `limit` and `cursor` in, `{data,
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
    .max(400)
    .optional()
    .describe('Where to continue: `next` of the previous answer.'),
};

/** For lists that continue behind an id: any other text would show the first page again and again. */
export function checkCursor(prefix: IdPrefix, cursor: string | undefined): void {
  if (cursor === undefined || readUuid(prefix, cursor) !== undefined) return;
  throw wrongCursor();
}

export const wrongCursor = (): Problem =>
  new Problem('invalid', 'cursor: give back `next` of the previous answer, or leave it out.', {
    at: 'cursor',
  });

/** Kept apart from the schemas' own descriptions, which are shown to everybody. */
const lists = z.registry<{ items: string }>();

/** The output of a list; `items` is what agents see the list called, such as `suppressions`. */
export const listOf = <Item extends z.ZodType>(items: string, item: Item) =>
  z
    .object({
      data: z.array(item).describe('What was found on this page.'),
      has_more: z.boolean().describe('Whether there is more.'),
      next: z
        .string()
        .nullable()
        .describe('Give it back as `cursor` to continue; null when this is all.'),
    })
    .register(lists, { items });

/** The name that agents see, where the schema is a list's. */
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

/** For features that answer up to `limit` rows after a cursor: a full page may have a next one. */
export const pageOf = <Row, Item>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => string,
  show: (row: Row) => Item,
): Listed<Item> =>
  listed(rows.map(show), rows.length < limit ? null : cursorOf(rows[rows.length - 1]!));
