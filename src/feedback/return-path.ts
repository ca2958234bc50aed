// The return path of a copy, `bounce+<token>@BOUNCE_DOMAIN`: the token names account, message and
// recipient and is signed, so a report that comes to it is about that copy. Every copy has its own:
// the recipient of one can say nothing about the others. delivery/ makes it, also as X-SM-Token;
// inbound/feedback-smtp.ts, match.ts and ses.ts read it.
import { timingSafeEqual } from 'node:crypto';
import { idTimeMs } from '../ids.ts';
import { macOf } from '../macs.ts';

export interface EmailReference {
  accountId: number;
  messageId: Buffer;
}

/**
 * Whom a report may be about: the recipient at this index of the message's list; any of the email's
 * recipients that it names; or, for an email that went to one person, that person.
 */
export type About = number | 'named' | 'only';

/** An email, and what a report about it may say. */
export interface Subject {
  email: EmailReference;
  about: About;
}

// Version 2: 6 bytes of account, 16 of message, 1 of recipient, 10 of HMAC. 33 bytes are 53
// characters, which with `bounce+` stay below the 64 of a local part. Version 1 had no recipient:
// the length distinguishes them.
const ACCOUNT_BYTES = 6;
const MAIL_BYTES = ACCOUNT_BYTES + 16;
const MAC_BYTES = 10;
// Lower case, and read in any case: some servers change it.
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** Emails that left with a token of version 1 may still be reported: relays retry for five days. */
const OLD_REPORTS_MS = 7 * 86_400_000;

export const returnPathOf = (token: string, domain: string): string => `bounce+${token}@${domain}`;

/** `place`: the recipient's index in the message's own list, the same on every attempt. */
export function copyToken(key: Buffer, email: EmailReference, place: number): string {
  const signed = Buffer.alloc(MAIL_BYTES + 1);
  signed.writeUIntBE(email.accountId, 0, ACCOUNT_BYTES);
  email.messageId.copy(signed, ACCOUNT_BYTES);
  signed.writeUInt8(place, MAIL_BYTES);
  return toBase32(Buffer.concat([signed, shortMacOf(key, signed)]));
}

/** What a token lets its bearer report on; undefined if we did not issue it. */
export function readCopyToken(key: Buffer, token: string, nowMs: number): Subject | undefined {
  const bytes = fromBase32(token.toLowerCase());
  if (bytes === undefined) return undefined;
  const signed = bytes.subarray(0, -MAC_BYTES);
  if (signed.length !== MAIL_BYTES && signed.length !== MAIL_BYTES + 1) return undefined;
  // The last character has unused bits: only the form that we write is accepted.
  if (toBase32(bytes) !== token.toLowerCase()) return undefined;
  if (!timingSafeEqual(bytes.subarray(-MAC_BYTES), shortMacOf(key, signed))) return undefined;
  const email = {
    accountId: signed.readUIntBE(0, ACCOUNT_BYTES),
    messageId: signed.subarray(ACCOUNT_BYTES, MAIL_BYTES),
  };
  if (signed.length > MAIL_BYTES) return { email, about: signed[MAIL_BYTES]! };
  return { email, about: nowMs < idTimeMs(email.messageId) + OLD_REPORTS_MS ? 'named' : 'only' };
}

const shortMacOf = (key: Buffer, signed: Buffer): Buffer =>
  macOf(key, signed).subarray(0, MAC_BYTES);

function toBase32(bytes: Buffer): string {
  let text = '';
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(held >>> bits) & 31];
    }
    held &= (1 << bits) - 1;
  }
  return bits > 0 ? text + ALPHABET[(held << (5 - bits)) & 31] : text;
}

function fromBase32(text: string): Buffer | undefined {
  const bytes: number[] = [];
  let held = 0;
  let bits = 0;
  for (const digit of text) {
    const value = ALPHABET.indexOf(digit);
    if (value < 0) return undefined;
    held = (held << 5) | value;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((held >>> bits) & 255);
    }
    held &= (1 << bits) - 1;
  }
  return Buffer.from(bytes);
}
