// HMAC-SHA-256 (RFC 2104) of short messages, in two calls of OpenSSL. createHmac makes an object
// for each, which the garbage collector has to end; every email has several.
import { hash } from 'node:crypto';

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;

export function macOf(key: Buffer, message: Buffer): Buffer {
  const inner = Buffer.allocUnsafe(BLOCK_BYTES + message.length);
  const outer = Buffer.allocUnsafe(BLOCK_BYTES + DIGEST_BYTES);
  const block = key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key;
  for (let at = 0; at < BLOCK_BYTES; at++) {
    const byte = at < block.length ? block[at]! : 0;
    inner[at] = byte ^ 0x36;
    outer[at] = byte ^ 0x5c;
  }
  message.copy(inner, BLOCK_BYTES);
  // As text: a buffer made by OpenSSL takes longer than the digest.
  outer.write(hash('sha256', inner), BLOCK_BYTES, 'hex');
  return Buffer.from(hash('sha256', outer), 'hex');
}
