// The return path of a mail, `bounce+<token>@BOUNCE_DOMAIN`: the token names account and message and is signed,
// so a report that comes to it is about that mail, and nobody can forge a bounce for a mail they have not seen.
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface MailReference {
  accountId: number;
  messageId: Buffer;
}

// 6 bytes of account, 16 of message, 10 of HMAC: 32 bytes are 52 characters, which with `bounce+` stay below the 64 of a local part.
const ACCOUNT_BYTES = 6;
const MAC_BYTES = 10;
const TOKEN_BYTES = ACCOUNT_BYTES + 16 + MAC_BYTES;
// Lower case, and read in any case: some servers change it.
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

export function returnPath(key: Buffer, mail: MailReference, bounceDomain: string): string {
  return `bounce+${mailToken(key, mail)}@${bounceDomain}`;
}

export function mailToken(key: Buffer, mail: MailReference): string {
  const bytes = Buffer.alloc(TOKEN_BYTES);
  bytes.writeUIntBE(mail.accountId, 0, ACCOUNT_BYTES);
  mail.messageId.copy(bytes, ACCOUNT_BYTES);
  macOf(key, bytes).copy(bytes, TOKEN_BYTES - MAC_BYTES);
  return toBase32(bytes);
}

/** The mail behind a token, or undefined when we did not make it. */
export function readMailToken(key: Buffer, token: string): MailReference | undefined {
  const bytes = fromBase32(token.toLowerCase());
  if (bytes?.length !== TOKEN_BYTES) return undefined;
  // The last character has four bits to spare: only the one way we write a token is a token.
  if (toBase32(bytes) !== token.toLowerCase()) return undefined;
  if (!timingSafeEqual(bytes.subarray(TOKEN_BYTES - MAC_BYTES), macOf(key, bytes)))
    return undefined;
  return {
    accountId: bytes.readUIntBE(0, ACCOUNT_BYTES),
    messageId: bytes.subarray(ACCOUNT_BYTES, ACCOUNT_BYTES + 16),
  };
}

const macOf = (key: Buffer, bytes: Buffer): Buffer =>
  createHmac('sha256', key)
    .update(bytes.subarray(0, TOKEN_BYTES - MAC_BYTES))
    .digest()
    .subarray(0, MAC_BYTES);

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
