// Searching an account's messages, newest first, within bounds: whatever is asked, one call reads a
// limited number of rows and says how far it came. Before it: operations/messages.ts. What is rare
// has an index to jump by, the rest is read in order:
// - clicked, bounced, complained: the few events of that kind; queued: the due rows;
// - an exact recipient or tag: the index that a day gets when it is over (search-index.ts); days
//   without it are read;
// - anything else: the account's rows backwards along the primary key, which is time, so only the
//   days asked for are opened.
import { addressKey } from '../addresses.ts';
import { firstUuidAt, idTimeMs, uuidToBytes } from '../ids.ts';
import type { Database } from '../store/pool.ts';
import type { Door } from './door.ts';
import { MESSAGE_COLUMNS, type Message, type MessageRow, toMessage } from './message.ts';
import { listIndexedDays } from './search-index.ts';
import type { MessageStatus } from './status.ts';

export interface MessageFilter {
  /** A whole address is found as such, a part of one anywhere in it. */
  recipient?: string | undefined;
  /** A part of it, in any case. */
  subject?: string | undefined;
  tag?: string | undefined;
  /** The slug, exactly. */
  template?: string | undefined;
  door?: Door | undefined;
  status?: MessageStatus | undefined;
  fromMs?: number | undefined;
  untilMs?: number | undefined;
  /** Where the last page ended. */
  beforeUuid?: string | undefined;
  limit: number;
}

export interface MessageHits {
  messages: Message[];
  /** Nothing before it was looked at yet; null: all was. */
  beforeUuid: string | null;
}

/** Rows that one step reads. 20,000 take some 40 ms from memory. */
const ROWS_A_STEP = 20_000;
/** A common tag fills its page from these; jumping by the index would fetch whole days of it. */
const ROWS_BEFORE_INDEX = 5000;
const DAYS_A_STEP = 7;
/** No new step begins after this. */
const ENOUGH_MS = 300;
const DAY_MS = 86_400_000;

export async function searchMessages(
  database: Database,
  accountId: number,
  filter: MessageFilter,
): Promise<MessageHits> {
  const search = await openSearch(database, accountId, filter);
  const startedAt = performance.now();
  const messages: Message[] = [];
  let before: string | null = newestBound(filter);
  for (let turn = 0; before !== null; turn++) {
    const missing = filter.limit - messages.length;
    const found: Found = await takeStep(search, before, missing, turn);
    messages.push(...found.rows.map(toMessage));
    before = found.rows.length === missing ? found.rows.at(-1)!.uuid : found.reached;
    if (found.rows.length === missing || performance.now() - startedAt > ENOUGH_MS) break;
  }
  return { messages, beforeUuid: before };
}

/** $1 is the account, $2 the newest bound, $3 the oldest; the filter's own values follow. */
interface Search {
  database: Database;
  /** Ids to look at, as SQL with a column `id`. */
  candidates: string;
  /** The filter as a condition on messages `m`. */
  where: string;
  values: unknown[];
  accountId: number;
  oldest: string;
  /** Where the exact words stand among the values; null: none that an index knows. */
  words: string | null;
  indexedDays: ReadonlySet<number>;
}

interface Found {
  rows: MessageRow[];
  /** Everything from here on was looked at; null: there is nothing before it. */
  reached: string | null;
}

async function openSearch(
  database: Database,
  accountId: number,
  filter: MessageFilter,
): Promise<Search> {
  const { recipient, subject, tag, template, door, status } = filter;
  const values: unknown[] = [];
  const place = (value: unknown): string => `$${values.push(value) + 3}`;
  const whole = recipient !== undefined && isWhole(recipient);
  const conditions = ['true'];
  if (recipient !== undefined) {
    const key = place(addressKey(recipient));
    const fits = (it: string): string =>
      whole ? `lower(${it}) = ${key}` : `position(${key} IN lower(${it})) > 0`;
    // Most mails have one recipient; looking at it alone takes a third of the time.
    conditions.push(`(${fits('m.recipients[1]')} OR (cardinality(m.recipients) > 1
      AND EXISTS (SELECT FROM unnest(m.recipients) r WHERE ${fits('r')})))`);
  }
  if (subject !== undefined) {
    conditions.push(`position(lower(${place(subject)}) IN lower(m.subject)) > 0`);
  }
  if (tag !== undefined) conditions.push(`${place(tag)} = ANY (m.tags)`);
  if (template !== undefined) conditions.push(`m.template = ${place(template)}`);
  if (door !== undefined) conditions.push(`m.door = ${place(door)}`);
  if (status !== undefined) conditions.push(`m.status = ${place(status)}::message_status`);
  const where = conditions.join(' AND ');

  // As message_tokens (SQL) writes them.
  const words = [
    ...(whole ? [`${accountId} ${addressKey(recipient)}`] : []),
    ...(tag === undefined ? [] : [`${accountId} tag ${tag.toLowerCase()}`]),
  ];
  const useIndex = words.length > 0 && !isRare(status);
  return {
    database,
    accountId,
    candidates: isRare(status) ? rareIds(status) : ALL_IDS,
    where,
    words: useIndex ? place(words) : null,
    values,
    oldest: firstUuidAt(filter.fromMs ?? 0),
    indexedDays: useIndex ? await listIndexedDays(database) : new Set(),
  };
}

async function takeStep(
  search: Search,
  before: string,
  limit: number,
  turn: number,
): Promise<Found> {
  if (search.words !== null) {
    if (turn === 0) return await readInOrder(search, before, limit, ROWS_BEFORE_INDEX);
    const days = indexedDaysBefore(search.indexedDays, before);
    if (days > 0) return await jumpByIndex(search, before, limit, days);
  }
  return await readInOrder(search, before, limit, ROWS_A_STEP);
}

// ---- Reading in order ---------------------------------------------------------------------------

const ALL_IDS = 'SELECT id FROM messages WHERE account_id = $1 AND id < $2 AND id >= $3';

type RareStatus = 'queued' | 'clicked' | 'bounced' | 'complained';

const isRare = (status: MessageStatus | undefined): status is RareStatus =>
  status === 'queued' || status === 'clicked' || status === 'bounced' || status === 'complained';

const rareIds = (status: RareStatus): string =>
  status === 'queued'
    ? 'SELECT message_id AS id FROM due_messages WHERE account_id = $1 AND message_id < $2 AND message_id >= $3'
    : `SELECT DISTINCT message_id AS id FROM events
       WHERE account_id = $1 AND message_id < $2 AND message_id >= $3 AND kind = '${status}'`;

async function readInOrder(
  search: Search,
  before: string,
  limit: number,
  most: number,
): Promise<Found> {
  const newest = `${search.candidates} ORDER BY id DESC`;
  const from =
    search.candidates === ALL_IDS
      ? `(SELECT * FROM messages WHERE account_id = $1 AND id < $2 AND id >= $3 ORDER BY id DESC LIMIT ${most}) m`
      : `(${newest} LIMIT ${most}) c (candidate)
         JOIN messages m ON m.account_id = $1 AND m.id = c.candidate AND m.id < $2 AND m.id >= $3`;
  const rows = await search.database.query<MessageRow>(
    `SELECT ${MESSAGE_COLUMNS} FROM ${from} WHERE ${search.where} ORDER BY m.id DESC LIMIT ${limit}`,
    [search.accountId, before, search.oldest, ...withoutWords(search)],
  );
  if (rows.length === limit) return { rows, reached: null };
  const [last] = await search.database.query<{ id: string }>(
    `${newest} OFFSET ${most - 1} LIMIT 1`,
    [search.accountId, before, search.oldest],
  );
  return { rows, reached: last?.id ?? null };
}

/** PostgreSQL refuses values that a statement does not name. */
const withoutWords = ({ words, values }: Search): unknown[] =>
  words === null ? values : values.slice(0, -1);

// ---- Jumping by the index -----------------------------------------------------------------------

async function jumpByIndex(
  search: Search,
  before: string,
  limit: number,
  days: number,
): Promise<Found> {
  const floor = firstUuidAt((dayBefore(before) - days + 1) * DAY_MS);
  const oldest = inOrder(floor, search.oldest)[1];
  // Materialised, or the planner hopes to fill the page early and computes the tokens of every row
  // on its way.
  const rows = await search.database.query<MessageRow>(
    `WITH found AS MATERIALIZED (
       SELECT * FROM messages WHERE account_id = $1 AND id < $2 AND id >= $3
         AND message_tokens(account_id, recipients, tags)
             @> (SELECT array_agg(hashtext(word)) FROM unnest(${search.words}::text[]) word))
     SELECT ${MESSAGE_COLUMNS} FROM found m WHERE ${search.where} ORDER BY m.id DESC LIMIT ${limit}`,
    [search.accountId, before, oldest, ...search.values],
  );
  return { rows, reached: oldest === floor ? floor : null };
}

/** How many days in a row, backwards from here, have the index. */
function indexedDaysBefore(indexed: ReadonlySet<number>, before: string): number {
  let days = 0;
  while (days < DAYS_A_STEP && indexed.has(dayBefore(before) - days)) days++;
  return days;
}

/** The day of the instant just before this id: at the first id of a day, the day before. */
function dayBefore(uuid: string): number {
  const bytes = uuidToBytes(uuid);
  const isFirst = bytes.subarray(6).every((byte) => byte === 0);
  return Math.floor((idTimeMs(bytes) - (isFirst ? 1 : 0)) / DAY_MS);
}

function newestBound({ beforeUuid = LAST_UUID, untilMs }: MessageFilter): string {
  const until = untilMs === undefined ? LAST_UUID : firstUuidAt(untilMs);
  return inOrder(beforeUuid, until)[0];
}

/** uuids sort as their text does. */
const inOrder = (one: string, other: string): [string, string] =>
  one < other ? [one, other] : [other, one];

const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const isWhole = (recipient: string): boolean => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(recipient);
