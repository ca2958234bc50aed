// Codes of authenticator apps (RFC 6238: SHA-1, 30 seconds, 6 digits, the only variant that every
// app understands), and the secret in the form that apps accept. Used by authenticator-app.ts.
import { createHmac } from 'node:crypto';

const STEP_SECONDS = 30;
const DIGITS = 6;
/** RFC 6238 5.2: clocks differ, and typing takes time. */
const DRIFT = [0, -1, 1] as const;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export const stepAt = (nowMs: number): number => Math.floor(nowMs / 1000 / STEP_SECONDS);

/** RFC 4226 5.3. */
export function codeOf(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', secret).update(counter).digest();
  const at = digest[digest.length - 1]! & 0xf;
  const number = digest.readUInt32BE(at) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** The step that the code belongs to; undefined: none near now. */
export function stepOfCode(secret: Buffer, code: string, nowMs: number): number | undefined {
  const now = stepAt(nowMs);
  return DRIFT.map((drift) => now + drift).find((step) => codeOf(secret, step) === code);
}

/** RFC 4648 6, without padding. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => LETTERS[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('');
}

/** The content of the QR code, and a link that opens the app on the same device. */
export const appLink = (secret: Buffer, email: string, host: string): string =>
  `otpauth://totp/${encodeURIComponent(`Sandmartin:${email}`)}?secret=${base32(secret)}&issuer=${encodeURIComponent(`Sandmartin (${host})`)}`;
