// The number by which Citus finds the shard of an account: PostgreSQL's hash of a bigint (hashint8,
// Bob Jenkins' final mix). Used by places.ts to sort a batch without a query; a test compares it
// with the server.

/** A whole number from -2^31 to 2^31 - 1, like the bounds of shards. */
export function shardHash(accountId: number): number {
  const low = accountId >>> 0;
  const high = Math.floor(accountId / 2 ** 32) >>> 0;
  return hashUint32((low ^ (accountId >= 0 ? high : ~high)) >>> 0) | 0;
}

const START = 0x9e3779b9 + 4 + 3923095;

function hashUint32(value: number): number {
  let a = (START + value) | 0;
  let b = START | 0;
  let c = START | 0;
  c = ((c ^ b) - rotate(b, 14)) | 0;
  a = ((a ^ c) - rotate(c, 11)) | 0;
  b = ((b ^ a) - rotate(a, 25)) | 0;
  c = ((c ^ b) - rotate(b, 16)) | 0;
  a = ((a ^ c) - rotate(c, 4)) | 0;
  b = ((b ^ a) - rotate(a, 14)) | 0;
  return ((c ^ b) - rotate(b, 24)) | 0;
}

const rotate = (value: number, by: number): number => (value << by) | (value >>> (32 - by));
