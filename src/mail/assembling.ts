// A copy assembled from plain data: tracking added, MIME around it, the body hashed for its
// signatures. Before: making.ts says what belongs in it. After: making.ts signs it. Needs only its
// order, so that large ones are assembled in a thread: 25 MB take a second.
import { freeBytes } from '../bytes/free-bytes.ts';
import { collectAll } from '../bytes/garbage.ts';
import type { StoredMime } from '../sending/stored-head.ts';
import { type TrackedEmail, type Tracker, trackHtml } from '../tracking/apply.ts';
import { type ComposedEmail, composeEmail, type OutgoingEmail } from './compose.ts';
import { hashBody } from './dkim.ts';
import { joinedBytes } from './mime-body.ts';

export interface CopyOrder {
  /** The account it belongs to: accounts take turns. */
  accountId: number;
  /** With its HTML exactly as its sender wrote it. */
  email: Omit<OutgoingEmail, 'html' | 'text' | 'mime'> & {
    html: Buffer | null;
    text: Buffer | null;
    mime?: StoredMime & { body: Buffer };
  };
  /** Null: its HTML stays as it is. */
  tracking: {
    key: Buffer;
    url: string;
    email: TrackedEmail;
    wanted: { opens: boolean; clicks: boolean };
  } | null;
  /**
   * The email's own bytes, if they are many: they are transferred to the thread and come back,
   * unless this is the last copy made from them.
   */
  own?: OwnBytes;
  isLast?: boolean;
}

export type OwnBytes = Partial<Record<'html' | 'text' | 'attachments', Uint8Array>>;

export interface Assembled extends ComposedEmail {
  /** If it is already known; see dkim.ts. */
  bodyHash?: string;
}

export function assemble(order: CopyOrder): Assembled {
  const { html, text, mime, ...email } = order.email;
  const { tracking, isLast = false } = order;
  const track = trackBy(tracking);
  const shown = html !== null && track !== null ? trackedBytes(html, track, isLast) : html;
  const composed = composeEmail({
    ...email,
    ...(text ? { text } : {}),
    ...(shown ? { html: shown } : {}),
    ...(mime && { mime: { ...mime, track } }),
  });
  if (shown !== html) freeUnused(shown, composed.body);
  return composed;
}

type Track = (html: string) => string[];

function trackBy(tracking: CopyOrder['tracking']): Track | null {
  if (tracking === null) return null;
  const { key, url, email, wanted } = tracking;
  const tracker: Tracker = { key, url: () => url };
  return (html) => trackHtml(tracker, email, html, wanted);
}

const LARGE_BYTES = 1024 * 1024;

/**
 * A large one exists as text and in one of its two forms as bytes; the text is freed afterwards.
 */
function trackedBytes(html: Buffer, track: Track, isLast: boolean): Buffer {
  if (html.length < LARGE_BYTES) return Buffer.from(track(html.toString()).join(''));
  const bytes = writeTracked(html, track, isLast);
  collectAll();
  return bytes;
}

function writeTracked(html: Buffer, track: Track, isLast: boolean): Buffer {
  const pieces = track(html.toString());
  if (isLast) freeBytes(html);
  return joinedBytes(pieces);
}

/** Unless a part of the email is these very bytes. */
function freeUnused(bytes: Uint8Array | null | undefined, body: readonly Uint8Array[]): void {
  if (!body.some(({ buffer }) => buffer === bytes?.buffer)) freeBytes(bytes);
}

/** What comes back from a thread: its large pieces are transferred without a copy. */
export interface AssembledLarge extends OwnBytes {
  head: string;
  body: Uint8Array[];
  smtputf8: boolean;
  bodyHash: string;
}

/** In the thread. */
export function assembleLarge(order: CopyOrder): AssembledLarge {
  const { own = {}, isLast = false } = order;
  const { head, body, smtputf8 } = assemble(withBuffers(order));
  if (isLast) for (const bytes of Object.values(own)) freeUnused(bytes, body);
  return { head, smtputf8, body, bodyHash: hashBody(body), ...(isLast ? {} : own) };
}

/** A Buffer becomes a plain Uint8Array on its way to and from a thread. */
export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function withBuffers({ email, tracking, ...order }: CopyOrder): CopyOrder {
  return {
    ...order,
    email: {
      ...email,
      html: email.html && asBuffer(email.html),
      text: email.text && asBuffer(email.text),
      attachments: email.attachments.map((it) => ({ ...it, content: asBuffer(it.content) })),
      ...(email.mime && { mime: { ...email.mime, body: asBuffer(email.mime.body) } }),
    },
    tracking: tracking && {
      ...tracking,
      key: asBuffer(tracking.key),
      email: { ...tracking.email, messageId: asBuffer(tracking.email.messageId) },
    },
  };
}
