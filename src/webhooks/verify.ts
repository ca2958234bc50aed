// The verifier for receivers, published as `sandmartin/webhooks`. It imports nothing but
// node:crypto.
import { createHmac, timingSafeEqual } from 'node:crypto';

type Header = string | string[] | undefined;
type Secret = string | readonly string[];

/**
 * Whether `X-SM-Signature` is right for this body. Pass the raw bytes of the request, not parsed
 * and serialised JSON. While a secret is being rotated, pass the old and the new one.
 */
export function verify(rawBody: string | Uint8Array, header: Header, secret: Secret): boolean {
  const hex = /^sha256=([0-9a-f]{64})$/.exec(String(header))?.[1];
  return hex !== undefined && matches(Buffer.from(hex, 'hex'), [rawBody], listOf(secret));
}

export interface StandardHeaders {
  'webhook-id'?: Header;
  'webhook-timestamp'?: Header;
  'webhook-signature'?: Header;
}

/**
 * The same by Standard Webhooks, which also covers id and time: an old request that is replayed is
 * refused. Any library of standardwebhooks.com does this too.
 */
export function verifyStandard(
  rawBody: string | Uint8Array,
  headers: StandardHeaders,
  secret: Secret,
  { toleranceSeconds = 300, nowMs = Date.now() } = {},
): boolean {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  if (typeof id !== 'string' || typeof timestamp !== 'string') return false;
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > toleranceSeconds) return false;
  const keys = listOf(secret).map((one) => Buffer.from(one.replace(/^whsec_/, ''), 'base64'));
  let right = false;
  for (const signature of String(headers['webhook-signature']).split(' ')) {
    const base64 = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(signature)?.[1];
    if (base64 === undefined) continue;
    right = matches(Buffer.from(base64, 'base64'), [`${id}.${timestamp}.`, rawBody], keys) || right;
  }
  return right;
}

function listOf(secret: Secret): readonly string[] {
  return typeof secret === 'string' ? [secret] : secret;
}

/** Tries every key and never stops early, so that timing reveals nothing. */
function matches(
  digest: Buffer,
  signed: readonly (string | Uint8Array)[],
  keys: readonly (string | Buffer)[],
): boolean {
  let right = false;
  for (const key of keys) {
    // An empty key is a missing setting, and anyone could sign with it.
    if (key.length === 0) continue;
    const mac = createHmac('sha256', key);
    for (const part of signed) mac.update(part);
    right = timingSafeEqual(mac.digest(), digest) || right;
  }
  return right;
}
