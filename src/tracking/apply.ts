// Adds tracking to an email: pixel, links and the unsubscribe address, each with its own token.
// delivery/attempt.ts calls it while composing, not when the email is accepted: accepting stays
// fast, the stored email is what its sender wrote, and an account's setting also applies to what is
// still queued.
import { idTimeMs } from '../ids.ts';
import { DEFAULT_STREAM } from '../messages/stream.ts';
import { trackedBytes } from './insert.ts';
import { makeToken, type TokenKind } from './token.ts';

const DAY_MS = 86_400_000;
/**
 * People follow links in old emails; after two years nobody does, and a leaked link is worthless.
 */
const VALID_MS = 730 * DAY_MS;

/** Under TRACKING_URL; inbound/routes.ts answers there. */
export const TRACKING_PATHS: Record<TokenKind, string> = {
  open: '/o/',
  click: '/c/',
  unsubscribe: '/u/',
};

/**
 * Opened with the token of the unsubscribe link: a recipient who may leave a stream may choose
 * among all.
 */
export const PREFERENCES_PATH = '/preferences/';

export interface Tracker {
  /** Signs tokens. */
  key: Buffer;
  /** TRACKING_URL, without a slash at its end. */
  url: () => string;
}

export interface TrackedEmail {
  accountId: number;
  messageId: Buffer;
  /** Whose copy it is: the recipient's place in the message's list. */
  place?: number;
}

/** UTF-8 in pieces; the very bytes if nothing is changed. */
export function trackHtml(
  tracker: Tracker,
  email: TrackedEmail,
  html: Buffer,
  wanted: { opens: boolean; clicks: boolean },
): Buffer[] {
  return trackedBytes(html, {
    linkUrl: wanted.clicks
      ? (url, index) => trackingUrl(tracker, email, 'click', index, url)
      : undefined,
    pixelUrl: wanted.opens ? trackingUrl(tracker, email, 'open', 0, '') : undefined,
  });
}

/**
 * The token holds stream and address themselves: unsubscribing works for as long as the email
 * exists, even after we have deleted it.
 */
export function unsubscribeUrl(
  tracker: Tracker,
  email: TrackedEmail & { stream: string },
  recipient: string,
): string {
  return trackingUrl(tracker, email, 'unsubscribe', 0, writeSubscriber(email.stream, recipient));
}

/** The default stream is left out, as in links made before streams existed. */
const writeSubscriber = (stream: string, address: string): string =>
  stream === DEFAULT_STREAM ? address : `${stream} ${address}`;

/** Neither name nor address contains a space. */
export function readSubscriber(written: string): { stream: string; address: string } {
  const at = written.indexOf(' ');
  return at < 0
    ? { stream: DEFAULT_STREAM, address: written }
    : { stream: written.slice(0, at), address: written.slice(at + 1) };
}

/** The same on every attempt: the expiry counts from the email's own time. */
function trackingUrl(
  tracker: Tracker,
  email: TrackedEmail,
  kind: TokenKind,
  index: number,
  url: string,
): string {
  const expiresMs = idTimeMs(email.messageId) + VALID_MS;
  const { accountId, messageId, place = null } = email;
  const token = makeToken(tracker.key, {
    kind,
    accountId,
    messageId,
    index,
    place,
    expiresMs,
    url,
  });
  return `${tracker.url()}${TRACKING_PATHS[kind]}${token}`;
}
