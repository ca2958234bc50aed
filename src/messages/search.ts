// Searching an account's messages, newest first, within limits: whatever is asked, one call reads a
// limited number of rows and says how far it got. Before it: operations/messages.ts. Rare values
// have an index to jump by, the rest is read in order:
// - an exact recipient, sender, domain, tag, template, stream or word of the subject: the indexes
//   that a day gets as it grows (search-index.ts); what is newer is read;
// - clicked, bounced, complained: the few events of that kind; queued: the due rows;
// - anything else: the account's rows backwards along the primary key, which is time, so only the
//   days asked for are opened.
import { addressKey } from '../addresses.ts';
import { Problem } from '../errors.ts';
import { firstUuidAt } from '../ids.ts';
import type { Database } from '../store/pool.ts';
import type { Door } from './door.ts';
import { MESSAGE_COLUMNS, type Message, type MessageRow, toMessage } from './message.ts';
import { type IndexedRange, listIndexedRanges } from './search-index.ts';
import type { MessageStatus } from './status.ts';
import { DEFAULT_STREAM } from './stream.ts';

export interface MessageFilter {
  /**
   * A full address matches exactly, `@` and a domain match the domain, any other text a part of it.
   */
  recipient?: string | undefined;
  /** An address, or `@` and a domain. */
  from?: string | undefined;
  /** A part of it, case-insensitive. */
  subject?: string | undefined;
  /** Whole words of it, case-insensitive and in any order. */
  words?: string | undefined;
  tag?: string | undefined;
  /** The slug, exactly. */
  template?: string | undefined;
  stream?: string | undefined;
  door?: Door | undefined;
  /** Only what came in through this key. */
  keyId?: string | null | undefined;
  status?: MessageStatus | undefined;
  /** Any of these. */
  statuses?: readonly MessageStatus[] | undefined;
  /** True: only messages that wait for a future time; false: none of them. */
  scheduled?: boolean | undefined;
  fromMs?: number | undefined;
  untilMs?: number | undefined;
  /** Where the previous page ended. */
  beforeUuid?: string | undefined;
  limit: number;
}

export interface MessageHits {
  messages: Message[];
  /** Nothing before this was searched yet; null: everything was. */
  beforeUuid: string | null;
}

/** Rows that one step reads. 20,000 take about 40 ms from memory. */
const ROWS_A_STEP = 20_000;
/** A common tag fills its page from these; the index would fetch whole days of it. */
const ROWS_BEFORE_INDEX = 5000;
/** No new step begins after this. */
const ENOUGH_MS = 300;
/**
 * After a step that took no longer, the next one jumps through several slices at once: a rare word
 * is in none of most of them, and costs a statement's way there and back. A common one costs some
 * 5 µs for each of its messages, however few of them the rest of the filter leaves.
 */
const QUICK_MS = 20;
const MOST_SLICES = 8;

export async function searchMessages(
  database: Database,
  accountId: number,
  filter: MessageFilter,
): Promise<MessageHits> {
  const search = await openSearch(database, accountId, filter);
  const startedAt = performance.now();
  const messages: Message[] = [];
  let before: string | null = newestBound(filter);
  for (let turn = 0, slices = 1; before !== null; turn++) {
    const stepAt = performance.now();
    const missing = filter.limit - messages.length;
    const found: Found = await takeStep(search, { before, limit: missing, turn, slices });
    slices = turn > 0 && performance.now() - stepAt < QUICK_MS ? MOST_SLICES : 1;
    messages.push(...found.rows.map(toMessage));
    before = found.rows.length === missing ? found.rows.at(-1)!.uuid : found.reached;
    if (found.rows.length === missing || performance.now() - startedAt > ENOUGH_MS) break;
  }
  return { messages, beforeUuid: before };
}

/** $1 is the account, $2 the upper bound, $3 the lower bound; the filter's own values follow. */
interface Search {
  database: Database;
  /** Ids to check, as SQL with a column `id`. */
  candidates: string;
  /** The filter as a condition on messages `m`. */
  where: string;
  values: unknown[];
  accountId: number;
  oldest: string;
  /** The place of the exact words among the values; null: none that an index covers. */
  words: string | null;
  indexed: readonly IndexedRange[];
}

interface Found {
  rows: MessageRow[];
  /** Everything from here on was searched; null: there is nothing before it. */
  reached: string | null;
}

async function openSearch(
  database: Database,
  accountId: number,
  filter: MessageFilter,
): Promise<Search> {
  const { recipient, from, subject, tag, template, stream, door, keyId, status, scheduled } =
    filter;
  const values: unknown[] = [];
  const place = (value: unknown): string => `$${values.push(value) + 3}`;
  const conditions = ['true'];
  /** As message_words (SQL) writes them, but without the account. */
  const words: string[] = [];
  if (recipient !== undefined) {
    const key = addressKey(recipient);
    const fits = fitsAddress(recipient, place(key));
    // Most emails have one recipient; checking only that one takes a third of the time.
    conditions.push(`(${fits('m.recipients[1]')} OR (cardinality(m.recipients) > 1
      AND EXISTS (SELECT FROM unnest(m.recipients) r WHERE ${fits('r')})))`);
    if (isWhole(recipient) || isDomain(recipient)) words.push(`to ${key}`);
  }
  if (from !== undefined) {
    const key = addressKey(from);
    conditions.push(fitsAddress(from, place(key))('m.from_email'));
    if (isWhole(from) || isDomain(from)) words.push(`from ${key}`);
  }
  if (subject !== undefined) {
    conditions.push(`position(lower(${place(subject)}) IN lower(m.subject)) > 0`);
  }
  for (const word of await splitWords(database, filter.words)) {
    const around = '[^[:alnum:]]';
    conditions.push(`lower(m.subject) ~ ${place(`(?:^|${around})${word}(?:$|${around})`)}`);
    words.push(`word ${word}`);
  }
  if (tag !== undefined) {
    conditions.push(`${place(tag)} = ANY (m.tags)`);
    words.push(`tag ${tag}`);
  }
  if (template !== undefined) {
    conditions.push(`m.template = ${place(template)}`);
    words.push(`template ${template}`);
  }
  if (stream !== undefined) {
    conditions.push(`coalesce(m.stream, '${DEFAULT_STREAM}') = ${place(stream)}`);
    words.push(`stream ${stream}`);
  }
  if (keyId != null) conditions.push(`m.key_id = ${place(keyId)}::uuid`);
  if (door !== undefined) conditions.push(`m.door = ${place(door)}`);
  if (status !== undefined) conditions.push(`m.status = ${place(status)}::message_status`);
  if (filter.statuses !== undefined) {
    conditions.push(`m.status = ANY (${place(filter.statuses)}::message_status[])`);
  }
  if (scheduled !== undefined) {
    const waits = `m.status = 'queued' AND m.cancelled_at IS NULL AND m.scheduled_at > now()`;
    conditions.push(scheduled ? waits : `(${waits}) IS NOT TRUE`);
  }
  // A scheduled message has a due row, like everything that is queued.
  const rare = scheduled ? (status ?? 'queued') : status;
  // Few messages are queued, and most of them are too new for the index.
  const byIndex = words.length > 0 && rare !== 'queued';
  const oldest = firstUuidAt(filter.fromMs ?? 0);
  const indexed = byIndex ? await listIndexedRanges(database) : [];
  return {
    database,
    accountId,
    candidates: isRare(rare) && !byIndex ? rareIds(rare) : ALL_IDS,
    where: conditions.join(' AND '),
    words: byIndex ? place(words.map((word) => `${accountId} ${word}`)) : null,
    values,
    oldest,
    indexed: indexed.filter(({ until }) => until > oldest),
  };
}

/** Split by the database, whose collation decides what a letter is. */
async function splitWords(database: Database, words: string | undefined): Promise<string[]> {
  if (words === undefined) return [];
  const [row] = await database.query<{ words: string[] }>(
    `SELECT regexp_split_to_array(lower($1), '[^[:alnum:]]+') AS words`,
    [words],
  );
  const found = [...new Set(row!.words.filter((word) => word !== ''))];
  if (found.length <= MOST_WORDS) return found;
  throw new Problem('invalid', `words: search for at most ${MOST_WORDS} words at a time.`, {
    at: 'words',
  });
}

/**
 * Each is a pattern that PostgreSQL matches with up to 20,000 subjects. It caches 32 patterns: 200
 * words were compiled again for every subject that had them all, for as long as a statement may
 * take.
 */
const MOST_WORDS = 16;

const fitsAddress =
  (wanted: string, key: string) =>
  (address: string): string => {
    if (isWhole(wanted)) return `lower(${address}) = ${key}`;
    if (isDomain(wanted)) return `'@' || split_part(lower(${address}), '@', -1) = ${key}`;
    return `position(${key} IN lower(${address})) > 0`;
  };

interface Step {
  before: string;
  limit: number;
  /** How many steps came before it. */
  turn: number;
  /** So many at most. */
  slices: number;
}

async function takeStep(search: Search, { before, limit, turn, slices }: Step): Promise<Found> {
  const { words, oldest, indexed } = search;
  if (words === null) return await readInOrder(search, before, limit, ROWS_A_STEP, oldest);
  if (turn === 0) return await readInOrder(search, before, limit, ROWS_BEFORE_INDEX, oldest);
  const at = indexed.findIndex(({ from }) => from < before);
  const next = indexed[at];
  if (next !== undefined && before <= next.until) {
    return await jumpByIndex(search, before, limit, together(indexed.slice(at, at + slices)));
  }
  const floor = inOrder(next?.until ?? oldest, oldest)[1];
  return await readInOrder(search, before, limit, ROWS_A_STEP, floor);
}

/** The first, and what one statement can read with it: the slices of its day that adjoin it. */
function together(ranges: IndexedRange[]): IndexedRange[] {
  const end = ranges.findIndex(({ table, until }, n) => {
    const last = ranges[n - 1];
    return last !== undefined && (table !== last.table || until !== last.from);
  });
  return end === -1 ? ranges : ranges.slice(0, end);
}

// ---- Reading in order ---------------------------------------------------------------------------

const ALL_IDS = 'SELECT id FROM messages WHERE account_id = $1 AND id < $2 AND id >= $3';

type RareStatus = 'queued' | 'clicked' | 'bounced' | 'complained';

const isRare = (status: MessageStatus | undefined): status is RareStatus =>
  status === 'queued' || status === 'clicked' || status === 'bounced' || status === 'complained';

const rareIds = (status: RareStatus): string =>
  status === 'queued'
    ? `SELECT message_id AS id FROM due_messages WHERE account_id = $1 AND message_id < $2 AND message_id >= $3
       UNION SELECT message_id FROM approvals
       WHERE account_id = $1 AND message_id < $2 AND message_id >= $3 AND state = 'waiting'`
    : `SELECT DISTINCT message_id AS id FROM events
       WHERE account_id = $1 AND message_id < $2 AND message_id >= $3 AND kind = '${status}'`;

async function readInOrder(
  search: Search,
  before: string,
  limit: number,
  most: number,
  floor: string,
): Promise<Found> {
  const newest = `${search.candidates} ORDER BY id DESC`;
  const from =
    search.candidates === ALL_IDS
      ? `(SELECT * FROM messages WHERE account_id = $1 AND id < $2 AND id >= $3 ORDER BY id DESC LIMIT ${most}) m`
      : `(${newest} LIMIT ${most}) c (candidate)
         JOIN messages m ON m.account_id = $1 AND m.id = c.candidate AND m.id < $2 AND m.id >= $3`;
  const rows = await search.database.query<MessageRow>(
    `SELECT ${MESSAGE_COLUMNS} FROM ${from} WHERE ${search.where} ORDER BY m.id DESC LIMIT ${limit}`,
    [search.accountId, before, floor, ...withoutWords(search)],
  );
  if (rows.length === limit) return { rows, reached: null };
  const [last] = await search.database.query<{ id: string }>(
    `${newest} OFFSET ${most - 1} LIMIT 1`,
    [search.accountId, before, floor],
  );
  return { rows, reached: last?.id ?? (floor > search.oldest ? floor : null) };
}

/** PostgreSQL refuses values that a statement does not use. */
const withoutWords = ({ words, values }: Search): unknown[] =>
  words === null ? values : values.slice(0, -1);

// ---- Jumping by the index -----------------------------------------------------------------------

async function jumpByIndex(
  search: Search,
  before: string,
  limit: number,
  ranges: IndexedRange[],
): Promise<Found> {
  const floor = inOrder(ranges.at(-1)!.from, search.oldest)[1];
  // Each slice by its own bounds: only these tell the planner that its index will do.
  const within = ranges.map(({ from, until }) => `id >= '${from}' AND id < '${until}'`);
  // Materialised; otherwise the planner hopes to fill the page early and computes the words of
  // every row on its way.
  const rows = await search.database.query<MessageRow>(
    `WITH found AS MATERIALIZED (
       SELECT * FROM messages WHERE account_id = $1 AND id < $2 AND id >= $3
         AND message_words(account_id, from_email, recipients, tags, template, stream, subject)
             @> (SELECT array_agg(hashtext(word)) FROM unnest(${search.words}::text[]) word)
         AND (${within.join(' OR ')}))
     SELECT ${MESSAGE_COLUMNS} FROM found m WHERE ${search.where} ORDER BY m.id DESC LIMIT ${limit}`,
    [search.accountId, before, floor, ...search.values],
  );
  return { rows, reached: floor > search.oldest ? floor : null };
}

function newestBound({ beforeUuid = LAST_UUID, untilMs }: MessageFilter): string {
  const until = untilMs === undefined ? LAST_UUID : firstUuidAt(untilMs);
  return inOrder(beforeUuid, until)[0];
}

/** uuids sort like their text. */
const inOrder = (one: string, other: string): [string, string] =>
  one < other ? [one, other] : [other, one];

const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const isWhole = (recipient: string): boolean => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(recipient);

const isDomain = (recipient: string): boolean => /^@[^@\s]+\.[^@\s]+$/.test(recipient);
