// Who gets no more email, as the account's people see and change it: suppressions, which apply to
// every stream, and unsubscribes, which apply to one, in one list. Before it:
// operations/suppressions.ts.
import { addressKey, parseAddress } from '../addresses.ts';
import { type Fault, Problem } from '../errors.ts';
import type { Origin } from '../events/origins.ts';
import { showUuid } from '../ids.ts';
import type { Queryable } from '../store/pool.ts';
import { listedForms } from './erased.ts';
import { type SuppressionReason, suppress } from './suppressions.ts';
import { ALL_STREAMS, resubscribe, unsubscribe } from './unsubscribes.ts';

export const LISTED_REASONS = ['bounce', 'complaint', 'unsubscribe', 'manual'] as const;
export type ListedReason = (typeof LISTED_REASONS)[number];

export interface ListedSuppression {
  address: string;
  reason: ListedReason;
  /** Null: it applies to every stream. */
  stream: string | null;
  /** Known for unsubscribes. */
  origin: Origin | null;
  /** The email that led to it. */
  messageId: string | null;
  createdAt: string;
}

export interface ListPage {
  search?: string | undefined;
  /** Unsubscribes of this stream only. */
  stream?: string | undefined;
  reason?: ListedReason | undefined;
  /** Where the previous page ended: `cursorOf` its last entry. */
  after?: string | undefined;
  limit: number;
}

/** By address; entries for every stream come first. Neither part contains a space. */
export const cursorOf = (last: ListedSuppression): string => `${last.address} ${placeOf(last)}`;

const placeOf = ({ reason, stream }: ListedSuppression): string =>
  reason === 'unsubscribe' ? (stream ?? ALL_STREAMS) : '';

export async function listSuppressions(
  database: Queryable,
  accountId: number,
  { search, stream, reason, after, limit }: ListPage,
): Promise<ListedSuppression[]> {
  const [address = null, place = ''] = after?.split(' ') ?? [];
  const rows = await database.query<ListedRow>(
    `(SELECT ${OF_SUPPRESSIONS} FROM suppressions
      WHERE account_id = $1 AND ($2::text IS NULL OR address > $2)
        AND ($4::text IS NULL OR position($4 IN address) > 0)
        AND $5::text IS NULL AND ($6::text IS NULL OR reason = $6)
      ORDER BY address LIMIT $7)
     UNION ALL
     (SELECT ${OF_UNSUBSCRIBES} FROM unsubscribes
      WHERE account_id = $1 AND ($2::text IS NULL OR (address, stream) > ($2, $3))
        AND ($4::text IS NULL OR position($4 IN address) > 0)
        AND ($5::text IS NULL OR stream = $5) AND coalesce($6, 'unsubscribe') = 'unsubscribe'
      ORDER BY address, stream LIMIT $7)
     ORDER BY address, place LIMIT $7`,
    [
      accountId,
      address,
      place,
      search?.toLowerCase() ?? null,
      stream ?? null,
      reason ?? null,
      limit,
    ],
  );
  return rows.map(toListed);
}

/** Why the account must not send to the address; with a stream, through that stream. */
export async function findSuppression(
  database: Queryable,
  accountId: number,
  text: string,
  stream?: string,
): Promise<ListedSuppression> {
  const entries = await entriesOf(database, accountId, readAddress(text));
  const found = entries.find((it) => it.stream === null || it.stream === (stream ?? it.stream));
  if (found === undefined) throw notSuppressed(text, entries);
  return found;
}

/** The entries about an address, even if only its hash is kept. */
export async function entriesOf(
  database: Queryable,
  accountId: number,
  address: string,
): Promise<ListedSuppression[]> {
  const rows = await database.query<ListedRow>(
    `SELECT ${OF_SUPPRESSIONS} FROM suppressions WHERE account_id = $1 AND address = ANY ($2)
     UNION ALL SELECT ${OF_UNSUBSCRIBES} FROM unsubscribes WHERE account_id = $1 AND address = ANY ($2)
     ORDER BY place`,
    [accountId, listedForms(accountId, address)],
  );
  return rows.map(toListed);
}

/**
 * By hand: for all streams, or for one. An address that is already listed stays as it is, and
 * `isNew` says whether it was new.
 */
export async function addSuppression(
  database: Queryable,
  accountId: number,
  text: string,
  { stream, origin }: { stream?: string | undefined; origin: Origin },
): Promise<{ entry: ListedSuppression; isNew: boolean }> {
  const address = readAddress(text);
  const what = stream === undefined ? 'manual' : { stream };
  const added = await add(database, accountId, [address], what, origin);
  const entry = await findSuppression(database, accountId, address, stream);
  return { entry, isNew: added.length > 0 };
}

/** Many by hand, all or none; returns those that were not listed yet. */
export async function addSuppressions(
  database: Queryable,
  accountId: number,
  texts: readonly string[],
  { reason, stream, origin }: { reason: ListedReason; stream?: string | undefined; origin: Origin },
): Promise<string[]> {
  const addresses = readAddresses(texts);
  if (reason === 'unsubscribe') {
    return await add(database, accountId, addresses, { stream: stream ?? ALL_STREAMS }, origin);
  }
  if (stream !== undefined) {
    const message = `stream: an address suppressed because of a ${reason} gets nothing through any stream. Leave stream out, or give the reason unsubscribe.`;
    throw new Problem('invalid', message, { at: 'stream' });
  }
  return await add(database, accountId, addresses, reason, origin);
}

async function add(
  database: Queryable,
  accountId: number,
  addresses: readonly string[],
  what: SuppressionReason | { stream: string },
  origin: Origin,
): Promise<string[]> {
  const entries = addresses.map((address) => ({ accountId, address, messageUuid: null }));
  if (typeof what === 'string') {
    const all = entries.map((entry) => ({ ...entry, reason: what }));
    return await suppress(database, all, origin);
  }
  const left = entries.map((entry) => ({ ...entry, stream: what.stream }));
  return (await unsubscribe(database, left, origin)).map(({ address }) => address);
}

/**
 * The account may send to the address again: removes what applies to every stream or, with a
 * stream, the unsubscribe from that one. Returns the removed entry.
 */
export async function removeSuppression(
  database: Queryable,
  accountId: number,
  text: string,
  { stream, origin }: { stream?: string | undefined; origin: Origin },
): Promise<ListedSuppression> {
  const address = readAddress(text);
  const entries = await entriesOf(database, accountId, address);
  const found = entries.find((it) => it.stream === (stream ?? null));
  if (found === undefined) throw notSuppressed(text, entries);
  await resubscribe(database, accountId, address, [stream ?? ALL_STREAMS], origin);
  if (stream === undefined) await allow(database, accountId, address, origin);
  return found;
}

async function allow(
  database: Queryable,
  accountId: number,
  address: string,
  origin: Origin,
): Promise<void> {
  await database.query('SELECT lift_suppression($1, $2, $3)', [
    accountId,
    listedForms(accountId, address),
    origin,
  ]);
}

/** Says where else the address is listed, since that is the next question. */
function notSuppressed(text: string, entries: readonly ListedSuppression[]): Problem {
  const address = text.slice(0, 320);
  if (entries.length === 0) {
    return new Problem('not-found', `${address} is not on the suppression list.`);
  }
  const [all] = entries.filter((it) => it.stream === null);
  const streams = entries.flatMap((it) => it.stream ?? []);
  return new Problem(
    'not-found',
    all === undefined
      ? `${address} is unsubscribed from ${streams.join(', ')} only. Name the stream.`
      : `${address} is not unsubscribed from that stream alone: it is on the list for every stream (${all.reason}). Leave the stream out.`,
  );
}

const OF_SUPPRESSIONS = `address, '' AS place, reason, NULL::text AS origin, message_id AS uuid, created_at AS "createdAt"`;
const OF_UNSUBSCRIBES = `address, stream AS place, 'unsubscribe' AS reason, origin, message_id AS uuid, created_at AS "createdAt"`;

interface ListedRow {
  address: string;
  place: string;
  reason: ListedReason;
  origin: Origin | null;
  uuid: string | null;
  createdAt: Date;
}

const toListed = ({ place, uuid, createdAt, ...row }: ListedRow): ListedSuppression => ({
  ...row,
  stream: place === '' || place === ALL_STREAMS ? null : place,
  messageId: uuid && showUuid('msg_', uuid),
  createdAt: createdAt.toISOString(),
});

function readAddress(text: string): string {
  const mailbox = parseAddress(text.trim());
  if ('fault' in mailbox) {
    throw new Problem('invalid', noAddress(text, mailbox.fault), { at: 'address' });
  }
  return addressKey(mailbox.address);
}

function readAddresses(texts: readonly string[]): string[] {
  const addresses: string[] = [];
  const faults: Fault[] = [];
  for (const [index, text] of texts.entries()) {
    const read = parseAddress(text.trim());
    if (!('fault' in read)) addresses.push(read.address);
    else faults.push({ path: `addresses[${index}]`, message: noAddress(text, read.fault) });
  }
  if (faults.length === 0) return addresses;
  const others = faults.length === 1 ? '' : ` ${faults.length - 1} more are not either.`;
  throw new Problem(
    'invalid',
    `${faults[0]!.path}: ${faults[0]!.message}${others} Nothing was added.`,
    { faults },
  );
}

const noAddress = (text: string, fault: string): string =>
  `"${text.slice(0, 200)}" is not an email address: ${fault}.`;
