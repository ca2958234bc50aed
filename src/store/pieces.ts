// A large value of one row, read as it arrives, so that it blocks nobody and takes no more memory
// than its size. Before it: a caller that knows the row and the length of its value.
import { collectAll } from '../bytes/garbage.ts';
import { allocateBytes } from '../bytes/large-bytes.ts';
import type { Database } from './pool.ts';

/** Smaller values come with their row. */
export const PIECE_BYTES = 1024 * 1024;

/**
 * Before so much is read, what accepting or relaying it has left behind is collected: its text, as
 * a caller sent it, stood beside its bytes until they were with the relay.
 */
const MUCH_BYTES = 16 * 1024 * 1024;

export interface LargeValue {
  table: 'contents' | 'sandbox_mails';
  column: 'html' | 'text' | 'attachments' | 'raw';
  /** The row. */
  key: 'message_id' | 'id';
  accountId: number;
  uuid: string;
}

/** Undefined: the row is gone. */
export async function readInPieces(
  database: Pick<Database, 'readValue'>,
  { table, column, key, accountId, uuid }: LargeValue,
  { at, length }: { at: number; length: number },
): Promise<Buffer | undefined> {
  if (!UUID.test(uuid)) throw new Error(`"${uuid}" is not a UUID`);
  if (length >= MUCH_BYTES) collectAll();
  const whole = allocateBytes(length);
  // COPY takes no parameters: these are numbers, a UUID, and our own names.
  const found = await database.readValue(
    `SELECT substring(${column} FROM ${Math.trunc(at) + 1} FOR ${Math.trunc(length)})
     FROM ${table} WHERE account_id = ${Math.trunc(accountId)} AND ${key} = '${uuid}'`,
    whole,
  );
  return found ? whole : undefined;
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
