// Suppressions: addresses an account must no longer send to, through any stream. Asked by delivery
// when an email is handed over, together with who left its stream (unsubscribes.ts); written by
// feedback and people. listing.ts shows both to people.
import { addressKey } from '../addresses.ts';
import type { Origin } from '../events/origins.ts';
import { columnList } from '../store/columns.ts';
import { among as atHome } from '../store/places.ts';
import type { Database, Queryable } from '../store/pool.ts';
import { listStreams } from '../streams/streams.ts';
import { erasedKey, listedForms } from './erased.ts';
import { ALL_STREAMS } from './unsubscribes.ts';

/** Reasons that apply to every stream. */
export type SuppressionReason = 'bounce' | 'complaint' | 'manual';

export interface Suppression {
  accountId: number;
  address: string;
  reason: SuppressionReason;
  messageUuid: string | null;
}

/** Adds those that are not listed yet and returns them; the first reason stays. */
export async function suppress(
  client: Queryable,
  entries: readonly Suppression[],
  origin: Origin,
): Promise<string[]> {
  if (entries.length === 0) return [];
  const added = await client.query<{ address: string }>(
    'SELECT suppress_addresses($1, $2, $3, $4, $5) AS address',
    [
      entries.map((entry) => entry.accountId),
      entries.map((entry) => addressKey(entry.address)),
      entries.map((entry) => entry.reason),
      entries.map((entry) => entry.messageUuid),
      origin,
    ],
  );
  return added.map(({ address }) => address);
}

/** A recipient of an email, as the check needs it. */
export interface AskedRecipient {
  accountId: number;
  address: string;
  /** Null: the email must reach them, whatever they have left. */
  stream: string | null;
  /**
   * Whether recipients can leave the stream: if so, a person who left all streams has left it too.
   */
  leavable: boolean;
}

/** Which of the recipients, whose accounts are in one shard, get no copy, by `suppressionKey`. */
export async function suppressedAmong(
  database: Database,
  recipients: readonly AskedRecipient[],
): Promise<Set<string>> {
  // Without accounts there is no shard to ask.
  if (recipients.length === 0) return new Set();
  const rows = await database.prepared<Pick<AskedRecipient, 'accountId' | 'address' | 'stream'>>(
    'suppressed-among',
    `SELECT r.account_id AS "accountId", r.stream, r.address FROM ${ASKED}
     JOIN suppressions s ON s.account_id = r.account_id AND s.address IN (r.address, r.erased)
       AND ${atHome('s.account_id', HOME)}
     UNION ALL
     SELECT r.account_id, r.stream, r.address FROM ${ASKED}
     JOIN unsubscribes u ON u.account_id = r.account_id AND u.address IN (r.address, r.erased)
       AND ${atHome('u.account_id', HOME)}
     WHERE u.stream = r.stream OR (u.stream = '${ALL_STREAMS}' AND r.stream IS NOT NULL AND r.leavable)`,
    [
      ...ASKED_COLUMNS.values(recipients),
      database.home(recipients.map((recipient) => recipient.accountId)),
    ],
  );
  return new Set(rows.map(suppressionKey));
}

const ASKED_COLUMNS = columnList<AskedRecipient>({
  account_id: { type: 'bigint', of: ({ accountId }) => accountId },
  address: { type: 'text', of: ({ address }) => addressKey(address) },
  stream: { type: 'text', of: ({ stream }) => stream },
  leavable: { type: 'boolean', of: ({ leavable }) => leavable },
  erased: { type: 'text', of: ({ accountId, address }) => erasedKey(accountId, address) },
});
const ASKED = ASKED_COLUMNS.asRows('r');
const HOME = ASKED_COLUMNS.length + 1;

export const suppressionKey = ({
  accountId,
  stream,
  address,
}: Pick<AskedRecipient, 'accountId' | 'address' | 'stream'>): string =>
  `${accountId} ${stream ?? ''} ${addressKey(address)}`;

/**
 * The recipients who would get no copy of an email, for a caller who asks before it is sent.
 * `stream`: null if the email must reach them.
 */
export async function suppressedRecipients(
  database: Database,
  accountId: number,
  recipients: readonly string[],
  stream: string | null,
): Promise<string[]> {
  const among = async (leavable: boolean): Promise<string[]> => {
    const asked = recipients.map((address) => ({ accountId, address, stream, leavable }));
    const found = await suppressedAmong(database, asked);
    return asked.filter((one) => found.has(suppressionKey(one))).map(({ address }) => address);
  };
  // There is hardly ever anyone: only then does it matter whether the stream can be left.
  const atMost = await among(true);
  if (atMost.length === 0 || stream === null) return atMost;
  const found = (await listStreams(database, accountId)).find(({ name }) => name === stream);
  if (found?.unsubscribe) return atMost;
  return await among(false);
}

/** Whether nothing at all is sent to the address. */
export async function isSuppressed(
  database: Queryable,
  accountId: number,
  address: string,
): Promise<boolean> {
  const rows = await database.query(
    'SELECT FROM suppressions WHERE account_id = $1 AND address = ANY ($2)',
    [accountId, listedForms(accountId, address)],
  );
  return rows.length > 0;
}
