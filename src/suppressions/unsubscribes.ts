// Unsubscribes: who left which stream of an account. Written by recipients (inbound/), by opt-outs
// that mail servers report and by the account's people; checked together with the suppressions when
// an email is handed over. Every change is an event that webhooks can subscribe to.
import { addressKey } from '../addresses.ts';
import type { Origin } from '../events/origins.ts';
import type { Database, Queryable } from '../store/pool.ts';
import { listedForms } from './erased.ts';

/** Every stream that can be left, including later ones. */
export const ALL_STREAMS = '*';

export interface Unsubscribe {
  accountId: number;
  address: string;
  /** A name, or ALL_STREAMS. */
  stream: string;
  messageUuid: string | null;
}

/** Adds those that are not there yet and returns them. */
export async function unsubscribe(
  client: Queryable,
  entries: readonly Unsubscribe[],
  origin: Origin,
): Promise<{ address: string; stream: string }[]> {
  if (entries.length === 0) return [];
  return await client.query<{ address: string; stream: string }>(
    'SELECT * FROM leave_streams($1, $2, $3, $4, $5)',
    [
      entries.map((entry) => entry.accountId),
      entries.map((entry) => addressKey(entry.address)),
      entries.map((entry) => entry.stream),
      entries.map((entry) => entry.messageUuid),
      origin,
    ],
  );
}

/** Removes those that are there and returns their streams. */
export async function resubscribe(
  client: Queryable,
  accountId: number,
  address: string,
  streams: readonly string[],
  origin: Origin,
): Promise<string[]> {
  const rows = await client.query<{ stream: string }>(
    'SELECT rejoin_streams($1, $2, $3, $4) AS stream',
    [accountId, listedForms(accountId, address), streams, origin],
  );
  return rows.map(({ stream }) => stream);
}

/** The streams that a person left; may include ALL_STREAMS. */
export async function streamsLeftBy(
  client: Queryable,
  accountId: number,
  address: string,
): Promise<Set<string>> {
  const rows = await client.query<{ stream: string }>(
    'SELECT stream FROM unsubscribes WHERE account_id = $1 AND address = ANY ($2)',
    [accountId, listedForms(accountId, address)],
  );
  return new Set(rows.map(({ stream }) => stream));
}

export interface Preferences {
  /** The streams that the person was asked about. */
  asked: readonly string[];
  /** Those among them that they want. */
  wanted: readonly string[];
  /** They want no stream at all, including later ones. */
  none?: boolean;
  messageUuid: string;
}

/**
 * What a person chose for themselves. If they had left everything and now want something again,
 * they have left only what they did not choose. Suppressions stay as they are: nobody can undo a
 * bounce.
 */
export async function choosePreferences(
  database: Database,
  accountId: number,
  address: string,
  { asked, wanted, none, messageUuid }: Preferences,
): Promise<void> {
  const entry = (stream: string): Unsubscribe => ({ accountId, address, stream, messageUuid });
  await database.transaction(async (client) => {
    // Two tabs of the same reader: one after the other.
    await client.query('SELECT pg_advisory_xact_lock(7263007, hashtext($1))', [
      `${accountId} ${addressKey(address)}`,
    ]);
    if (none) {
      await unsubscribe(client, [entry(ALL_STREAMS)], 'preferences');
      return;
    }
    const left = asked.filter((stream) => !wanted.includes(stream));
    await unsubscribe(client, left.map(entry), 'preferences');
    if (wanted.length === 0) return;
    await resubscribe(client, accountId, address, [ALL_STREAMS, ...wanted], 'preferences');
  });
}
