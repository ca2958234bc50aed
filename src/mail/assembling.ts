// A copy assembled from plain data: tracking added, MIME around it, the body hashed for its
// signatures. Before: making.ts says what belongs in it. After: making.ts signs it. Needs only its
// order, so that large ones are assembled in a thread: 25 MB take a second.
import { piecesOf } from '../bytes/chunks.ts';
import type { StoredMime } from '../sending/stored-head.ts';
import { type TrackedEmail, type Tracker, trackHtml } from '../tracking/apply.ts';
import type { MimeAsItCame } from './as-it-came.ts';
import { type ComposedEmail, composeEmail, composeLarge, type OutgoingEmail } from './compose.ts';
import { hashBody } from './dkim.ts';
import { EncodedPart, type Form, isEncoded, type PartChunk } from './encoded-part.ts';

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
  /** The email's own bytes, if they are many: they are transferred to the thread and come back. */
  own?: OwnBytes;
}

export type OwnBytes = Partial<Record<'html' | 'text' | 'attachments', Uint8Array>>;

export interface Assembled extends ComposedEmail<PartChunk> {
  /** If it is already known; see dkim.ts. */
  bodyHash?: string;
}

export const assemble = (order: CopyOrder): Assembled => composeEmail(toCompose(order));

/** Every field by its name, as on all hot paths: every copy of every email comes through here. */
function toCompose({ email, tracking }: CopyOrder): OutgoingEmail {
  const { html, text, mime } = email;
  const track = trackBy(tracking);
  return {
    messageId: email.messageId,
    date: email.date,
    from: email.from,
    to: email.to,
    cc: email.cc,
    replyTo: email.replyTo,
    subject: email.subject,
    text: text === null ? undefined : [text],
    html: html === null ? undefined : (track?.(html) ?? [html]),
    ownHeaders: email.ownHeaders,
    headers: email.headers,
    attachments: email.attachments,
    mime: mime && { track, ...mime },
  };
}

function trackBy(tracking: CopyOrder['tracking']): MimeAsItCame['track'] {
  if (tracking === null) return null;
  const { key, url, email, wanted } = tracking;
  const tracker: Tracker = { key, url: () => url };
  return (html) => trackHtml(tracker, email, html, wanted);
}

/** What comes back from a thread: its large pieces are transferred without a copy. */
export interface AssembledLarge extends OwnBytes {
  head: string;
  body: SentChunk[];
  smtputf8: boolean;
  bodyHash: string;
}

/** A chunk as it passes between threads; with the rest it is an EncodedPart. */
type SentChunk = [bytes: Uint8Array[], form?: Form, added?: number, length?: number];

/** In the thread. Its parts are encoded here for their hash only. */
export function assembleLarge(order: CopyOrder): AssembledLarge {
  const { head, body, smtputf8 } = composeLarge(toCompose(withBuffers(order)));
  const bodyHash = hashBody(piecesOf(body));
  return { head, smtputf8, body: body.map(toSend), bodyHash, ...order.own };
}

const toSend = (chunk: PartChunk): SentChunk =>
  isEncoded(chunk) ? [[...chunk.sources], chunk.form, chunk.added, chunk.length] : [[chunk]];

/** Back in the main thread. */
export const asSent = ([bytes, form, added, length]: SentChunk): PartChunk =>
  form === undefined
    ? asBuffer(bytes[0]!)
    : new EncodedPart(bytes.map(asBuffer), form, added!, length);

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
