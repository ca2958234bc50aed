// Ids: ULIDs (48 bits of time, 80 random ones), shown as prefix + Crockford base32, stored as uuid.
// The time in a message id picks its partition, so a read never scans.
import { randomFillSync } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ULID_SHAPE = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export type IdPrefix =
  | 'aud_'
  | 'msg_'
  | 'evt_'
  | 'key_'
  | 'whe_'
  | 'whd_'
  | 'tpl_'
  | 'usr_'
  | 'inv_'
  | 'dom_'
  | 'sbx_'
  | 'fbk_';

// One system call for 4,000 random bytes serves 400 ids.
const chance = Buffer.allocUnsafe(4000);
let chanceUsed = chance.length;

/** A fresh id as its 16 bytes: sorts by creation time. */
export function newIdBytes(nowMs: number): Buffer {
  if (chanceUsed + 10 > chance.length) {
    randomFillSync(chance);
    chanceUsed = 0;
  }
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  // A call of copy takes longer than ten steps of a loop.
  for (let at = 6; at < 16; at++) bytes[at] = chance[chanceUsed++]!;
  return bytes;
}

/** `msg_` + 26 characters of Crockford base32. */
export function showId(prefix: IdPrefix, bytes: Buffer): string {
  // 128 bits are 26 digits of 5 bits with two leading zero bits.
  let text: string = prefix;
  let held = 0;
  let bits = 2;
  for (let i = 0; i < 16; i++) {
    held = (held << 8) | bytes[i]!;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(held >>> bits) & 31];
    }
    held &= (1 << bits) - 1;
  }
  return text;
}

/** The 16 bytes behind a shown id, or undefined if it is not one of ours. */
export function readId(prefix: IdPrefix, text: string): Buffer | undefined {
  if (!text.startsWith(prefix)) return undefined;
  const digits = text.slice(prefix.length);
  if (!ULID_SHAPE.test(digits)) return undefined;
  const bytes = Buffer.allocUnsafe(16);
  let held = 0;
  let bits = -2;
  let at = 0;
  for (const digit of digits) {
    held = (held << 5) | ALPHABET.indexOf(digit);
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (held >>> bits) & 255;
    }
    held &= (1 << bits) - 1;
  }
  return bytes;
}

/** uuid text, as PostgreSQL reads and writes it. */
export function bytesToUuid(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Digit by digit: removing the hyphens first took six times as long, and every send has one. */
export function uuidToBytes(uuid: string): Buffer {
  const bytes = Buffer.allocUnsafe(16);
  let at = 0;
  for (const byte of BYTES_OF_UUID) {
    bytes[at++] = (digitOf(uuid.charCodeAt(byte)) << 4) | digitOf(uuid.charCodeAt(byte + 1));
  }
  return bytes;
}

/** Where the two digits of each byte begin: 00000000-0000-0000-0000-000000000000. */
const BYTES_OF_UUID = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/** Of a hexadecimal digit, in either case. */
const digitOf = (code: number): number => (code & 15) + (code > 57 ? 9 : 0);

export function showUuid(prefix: IdPrefix, uuid: string): string {
  return showId(prefix, uuidToBytes(uuid));
}

/** The uuid behind a shown id, or undefined if it is not one of ours. */
export function readUuid(prefix: IdPrefix, text: string): string | undefined {
  const bytes = readId(prefix, text);
  return bytes && bytesToUuid(bytes);
}

export function idTimeMs(bytes: Buffer): number {
  return bytes.readUIntBE(0, 6);
}

/** The lowest uuid of an instant: the bounds of partitions and of searches by time. */
export function firstUuidAt(timeMs: number): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(Math.max(0, timeMs), 0, 6);
  return bytesToUuid(bytes);
}
