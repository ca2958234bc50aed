// One large value, read piece by piece as it arrives from PostgreSQL. In a row, pg turns it into
// hexadecimal text, which took seven times its size and blocked for 250 ms at 25 MB. Before it:
// pieces.ts names the value. After it: connection.ts, which watches the transfer.
import { to as copyTo } from 'pg-copy-streams';
import { notePassed } from '../bytes/garbage.ts';

/** The result of a statement such as `COPY (SELECT …) TO STDOUT (FORMAT binary)`. */
export type CopyOut = ReturnType<typeof copyTo>;

export const copyOut = (select: string): CopyOut =>
  copyTo(`COPY (${select}) TO STDOUT (FORMAT binary)`);

/** Signature, flags, no extension; then per row its number of fields and the size of the first. */
const HEAD_BYTES = 19;
const FIELDS_AT = HEAD_BYTES;
const SIZE_AT = FIELDS_AT + 2;
const VALUE_AT = SIZE_AT + 4;

/** Reads the only value of the only row into `whole`, which has its size. False: no such row. */
export async function readValue(copied: AsyncIterable<Buffer>, whole: Buffer): Promise<boolean> {
  let head = Buffer.alloc(0);
  let at = 0;
  let found = true;
  for await (const chunk of copied) {
    let bytes = chunk;
    if (head.length < VALUE_AT) {
      const rest = VALUE_AT - head.length;
      head = Buffer.concat([head, chunk.subarray(0, rest)]);
      bytes = chunk.subarray(rest);
      if (head.length >= SIZE_AT) found = head.readInt16BE(FIELDS_AT) === 1;
      if (head.length === VALUE_AT && found) found = head.readInt32BE(SIZE_AT) === whole.length;
    }
    // The end mark follows the value.
    if (found) at += bytes.copy(whole, at);
    notePassed(chunk.length);
  }
  return found && at === whole.length;
}
