// Sealing: for values that must not be readable in a copy of the database, such as private keys and
// webhook secrets. AES-256-GCM. store/vault.ts seals and opens with the installation's key; this
// file knows only bytes.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const SEALED = 1;
/** Written by a migration, which has no key: the next start seals it. */
export const PLAIN = 0;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * One byte for the format, 12 random bytes, the tag, then the ciphertext. The label is bound in:
 * under another one it does not open.
 */
export function seal(key: Buffer, label: string, plain: Buffer): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(label));
  const text = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([Buffer.of(SEALED), iv, cipher.getAuthTag(), text]);
}

/** Undefined: sealed with another key, for another label, or changed since. */
export function unseal(key: Buffer, label: string, sealed: Buffer): Buffer | undefined {
  if (sealed[0] !== SEALED || sealed.length < 1 + IV_BYTES + TAG_BYTES) return undefined;
  const iv = sealed.subarray(1, 1 + IV_BYTES);
  const tag = sealed.subarray(1 + IV_BYTES, 1 + IV_BYTES + TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(label))
    .setAuthTag(tag);
  const start = decipher.update(sealed.subarray(1 + IV_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([start, decipher.final()]);
  } catch {
    return undefined;
  }
}
