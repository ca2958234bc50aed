// Tracking tokens: everything a pixel or a redirect needs, signed, in the URL itself. No table is
// read before the answer. delivery/ makes them while composing; inbound/open.ts, click.ts and
// unsubscribe.ts read them. The target of a link is inside the signed bytes, so a token cannot be
// changed to lead elsewhere (no open redirect).
import { timingSafeEqual } from 'node:crypto';
import { macOf } from '../macs.ts';

export type TokenKind = 'open' | 'click' | 'unsubscribe';

export interface TrackingToken {
  kind: TokenKind;
  accountId: number;
  /** The ULID's 16 bytes. */
  messageId: Buffer;
  /** Which link of the email. */
  index: number;
  /**
   * Whose copy: the recipient's index in the message's list. Null in tokens of emails that went to
   * all in one copy.
   */
  place: number | null;
  /** After this instant the token is no longer valid. Kept in whole hours, rounded up. */
  expiresMs: number;
  /** Where a click leads; '' for the other kinds. */
  url: string;
}

// Layout: kind (1), expiry in hours (3), message (16), account (varint), index (varint), place
// (varint, since version 2, which is one bit of the kind), URL (rest), HMAC (16). 39 bytes before
// the URL are 52 characters. Nearly every URL begins with https://, so that is one bit of the kind.
const KINDS: readonly TokenKind[] = ['open', 'click', 'unsubscribe'];
const HTTPS = 'https://';
const HTTPS_BIT = 0x80;
const PLACE_BIT = 0x40;
const MESSAGE_BYTES = 16;
const HEAD_BYTES = 4 + MESSAGE_BYTES;
/** 128 bits: impossible to guess, and half the characters of the whole hash. */
const MAC_BYTES = 16;
const HOUR_MS = 3_600_000;
/** Browsers and email programs support URLs of this length; longer ones are left untracked. */
export const MOST_URL_BYTES = 2000;

export function makeToken(key: Buffer, token: TrackingToken): string {
  const isHttps = token.url.startsWith(HTTPS);
  const url = Buffer.from(isHttps ? token.url.slice(HTTPS.length) : token.url);
  const head = Buffer.alloc(HEAD_BYTES);
  const hasPlace = token.place !== null;
  head[0] = KINDS.indexOf(token.kind) | (isHttps ? HTTPS_BIT : 0) | (hasPlace ? PLACE_BIT : 0);
  head.writeUIntBE(Math.min(Math.ceil(token.expiresMs / HOUR_MS), 0xffffff), 1, 3);
  token.messageId.copy(head, 4);
  const place = token.place === null ? Buffer.alloc(0) : varint(token.place);
  const body = Buffer.concat([head, varint(token.accountId), varint(token.index), place, url]);
  return Buffer.concat([body, labelledMacOf(key, body)]).toString('base64url');
}

/** What the token says, or undefined if we did not sign it or it has expired. */
export function readToken(key: Buffer, text: string, nowMs: number): TrackingToken | undefined {
  if (text.length > 4 * MOST_URL_BYTES || !/^[\w-]+$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length < HEAD_BYTES + 2 + MAC_BYTES) return undefined;
  const body = bytes.subarray(0, bytes.length - MAC_BYTES);
  if (!timingSafeEqual(bytes.subarray(body.length), labelledMacOf(key, body))) return undefined;
  const kind = KINDS[body[0]! & ~(HTTPS_BIT | PLACE_BIT)];
  const expiresMs = body.readUIntBE(1, 3) * HOUR_MS;
  const account = readVarint(body, HEAD_BYTES);
  const index = readVarint(body, account.end);
  if (kind === undefined || nowMs > expiresMs) return undefined;
  const place =
    body[0]! & PLACE_BIT ? readVarint(body, index.end) : { value: null, end: index.end };
  const url = body.toString('utf8', place.end);
  return {
    kind,
    accountId: account.value,
    messageId: body.subarray(4, HEAD_BYTES),
    index: index.value,
    place: place.value,
    expiresMs,
    url: body[0]! & HTTPS_BIT ? HTTPS + url : url,
  };
}

/** The label keeps these apart from everything else that is signed with the same key. */
const LABEL = Buffer.from('tracking\0');

const labelledMacOf = (key: Buffer, body: Buffer): Buffer =>
  macOf(key, Buffer.concat([LABEL, body])).subarray(0, MAC_BYTES);

/** 7 bits per byte, the lowest first; the high bit says that more follow. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return Buffer.from([...bytes, rest]);
}

function readVarint(bytes: Buffer, start: number): { value: number; end: number } {
  let value = 0;
  let scale = 1;
  let at = start;
  for (; at < bytes.length && at < start + 8; at++) {
    value += (bytes[at]! & 0x7f) * scale;
    scale *= 0x80;
    if (bytes[at]! < 0x80) break;
  }
  return { value, end: at + 1 };
}
