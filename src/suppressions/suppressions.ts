// Suppressions: addresses an account must not write to any more, through whichever stream. Asked by
// delivery when an email is handed over, together with who left its stream (unsubscribes.ts);
// written by feedback and people. How people see both is in listing.ts.
import { addressKey } from '../addresses.ts';
import type { Origin } from '../events/origins.ts';
import { among } from '../store/places.ts';
import type { Database, Queryable } from '../store/pool.ts';
import { listStreams } from '../streams/streams.ts';
import { erasedKey, listedForms } from './erased.ts';
import { ALL_STREAMS } from './unsubscribes.ts';

/** What holds for every stream. */
export type SuppressionReason = 'bounce' | 'complaint' | 'manual';

export interface Suppression {
  accountId: number;
  address: string;
  reason: SuppressionReason;
  messageUuid: string | null;
}

/** Adds what is not there yet and answers which; the first reason stays. */
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

/** A recipient of an email, as it is asked whether they get it. */
export interface AskedRecipient {
  accountId: number;
  address: string;
  /** Null: what it says must reach them, whatever they have left. */
  stream: string | null;
  /** Whether it is a stream that can be left: then who left all streams has left it too. */
  leavable: boolean;
}

/** Which of the recipients get no copy, by `suppressionKey`. */
export async function suppressedAmong(
  database: Database,
  recipients: readonly AskedRecipient[],
): Promise<Set<string>> {
  // Of no accounts there is no shard to ask.
  if (recipients.length === 0) return new Set();
  const rows = await database.prepared<Pick<AskedRecipient, 'accountId' | 'address' | 'stream'>>(
    'suppressed-among',
    `SELECT r.account_id AS "accountId", r.stream, r.address FROM ${ASKED}
     JOIN suppressions s ON s.account_id = r.account_id AND s.address IN (r.address, r.erased)
       AND ${among('s.account_id', 6)}
     UNION ALL
     SELECT r.account_id, r.stream, r.address FROM ${ASKED}
     JOIN unsubscribes u ON u.account_id = r.account_id AND u.address IN (r.address, r.erased)
       AND ${among('u.account_id', 6)}
     WHERE u.stream = r.stream OR (u.stream = '${ALL_STREAMS}' AND r.stream IS NOT NULL AND r.leavable)`,
    [
      recipients.map((recipient) => recipient.accountId),
      recipients.map((recipient) => addressKey(recipient.address)),
      recipients.map((recipient) => recipient.stream),
      recipients.map((recipient) => recipient.leavable),
      recipients.map(({ accountId, address }) => erasedKey(accountId, address)),
      database.home(recipients.map((recipient) => recipient.accountId)),
    ],
  );
  return new Set(rows.map(suppressionKey));
}

const ASKED =
  'unnest($1::bigint[], $2::text[], $3::text[], $4::boolean[], $5::text[]) AS r (account_id, address, stream, leavable, erased)';

export const suppressionKey = ({
  accountId,
  stream,
  address,
}: Pick<AskedRecipient, 'accountId' | 'address' | 'stream'>): string =>
  `${accountId} ${stream ?? ''} ${addressKey(address)}`;

/**
 * Those who would get no copy of an email, for whoever asks before it is sent. `stream`: null where
 * what it says must reach them.
 */
export async function suppressedRecipients(
  database: Database,
  accountId: number,
  recipients: readonly string[],
  stream: string | null,
): Promise<string[]> {
  const streams = stream === null ? [] : await listStreams(database, accountId);
  const leavable = streams.some(({ name, unsubscribe }) => name === stream && unsubscribe);
  const asked = recipients.map((address) => ({ accountId, address, stream, leavable }));
  const found = await suppressedAmong(database, asked);
  return asked.filter((one) => found.has(suppressionKey(one))).map(({ address }) => address);
}

/** Whether nothing at all is sent there. */
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
